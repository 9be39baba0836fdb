"""Figures, coverage and service levels of a restricted caller: hidden nodes change none of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.figures import breakdowns
from headwater.health.figures.breakdowns import cost_against_fidelity, top_datasets
from headwater.health.figures.measures import MEASURES
from headwater.health.service_levels.measures import MEASURES as LEVELS
from headwater.lineage.questions.coverage import coverage
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, parent, run_event
from tests.health.figures.story import NOW, write_story
from tests.run_builders import Event, answer, write_events

pytestmark = pytest.mark.neo4j
JOBS = {"old": "o1", "load": "r3", "build": "b1", "train": "t2", "guess": "g1", "ship": "bad"}
WINDOW = (NOW - timedelta(days=30), NOW)


def hidden(event: Event, namespace: str = "vault") -> Event:
    event["job"]["namespace"] = namespace
    return event


@pytest.fixture
def story(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    write_story(database)
    yield view.visible_to(Visibility(("db", "etl")))
    empty(database)


def numbers(view: GraphView, now: datetime = NOW) -> dict[str, Any]:
    """Return everything that is counted for a caller."""
    return {
        **{name: measure(view, now) for name, measure in MEASURES.items()},
        **{name: measure(view, WINDOW) for name, measure in LEVELS.items()},
        "coverage of namespaces": coverage(view, days=30, now=now),
        "top datasets": top_datasets(view),
        "cost": cost_against_fidelity(view, now),
    }


def test_a_hidden_job_within_a_job_or_a_run_changes_no_number(
    story: GraphView, database: Database
) -> None:
    before = numbers(story)
    inside = [
        hidden(run_event(f"in-{name}", minute=110, job=f"in-{name}", facets=parent(run, name)))
        for name, run in JOBS.items()
    ]
    write_events(database, inside)
    assert numbers(story) == before
    everything = MEASURES["active-pipelines"](story.visible_to(Visibility()), NOW)
    assert everything.numerator == len(inside)


@pytest.mark.parametrize("namespace", ["bank", "vault"])
def test_a_run_of_two_teams_changes_no_number(
    story: GraphView, database: Database, namespace: str
) -> None:
    """It is hidden from each of them. Its own namespace is the last of both, by the alphabet."""
    before = numbers(story)
    for name in JOBS:
        other = hidden(run_event(f"both-{name}", "START", 119, job="other"), namespace)
        write_events(database, [other, run_event(f"both-{name}", "FAIL", 120, job=name)])
    assert numbers(story) == before


def test_the_number_of_hidden_readers_ranks_no_dataset(
    story: GraphView, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breakdowns, "CANDIDATES_MAX", 1)

    def reading(number: int) -> Event:
        event = run_event(f"read-{number}", minute=130, job=f"read-{number}", inputs=["archive"])
        return hidden(event)

    write_events(database, [reading(0)])
    before = numbers(story)
    cited = [answer(f"hidden-{number}", "archive", minute=140) for number in range(3)]
    for [event] in cited:
        cites = event["dataset"]["facets"]["headwater_answer"]["cites"]
        cites.append({"namespace": "vault", "name": "secret"})
    write_events(database, [reading(number) for number in range(1, 9)], *cited)
    assert numbers(story) == before


def test_what_a_hidden_run_costs_is_not_shown(story: GraphView, database: Database) -> None:
    def writing(name: str, minutes: int, *others: str) -> list[Event]:
        outputs: list[str | Event] = ["lone"]
        outputs += [dataset(other, namespace="vault") for other in others]
        states = (("START", 150), ("COMPLETE", 150 + minutes))
        return [
            hidden(run_event(f"run-{name}", state, minute, job=name, outputs=outputs))
            for state, minute in states
        ]

    write_events(database, writing("one", 1))
    before = numbers(story)
    write_events(database, writing("one", 500), writing("two", 300, "secret"))
    assert numbers(story)["cost"] == before["cost"]


def test_a_hidden_dag_that_ran_is_like_one_that_did_not(
    story: GraphView, database: Database
) -> None:
    facets = parent("dag-run", "dag")
    facets["parent"]["job"]["namespace"] = "vault"
    task = run_event(
        "task", minute=160, job="build", inputs=["orders"], outputs=["mart"], facets=facets
    )
    write_events(database, [task])
    before = numbers(story)
    write_events(database, [hidden(run_event("dag-run", minute=161, job="dag"))])
    assert numbers(story) == before


def test_a_hidden_dataset_relates_no_jobs(story: GraphView, database: Database) -> None:
    """Its other readers are no more known to the caller than its name is."""
    secret = dataset("secret", namespace="vault")
    write_events(database, [run_event("own", minute=170, job="own", inputs=[secret])])
    before = numbers(story)
    write_events(
        database, [hidden(run_event("theirs", minute=171, job="theirs", outputs=[secret]))]
    )
    assert numbers(story) == before
