"""Events without a usable time in the real graph: one event, one time, whatever came again."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.lineage.questions.failures import failed_runs
from headwater.lineage.view import GraphView
from headwater.schema.events import parse_instant
from tests.canonical import Graph, canonical, empty
from tests.event_builders import current, dataset_event, node, run_event
from tests.run_builders import Event, at, ds, job, run_of

pytestmark = pytest.mark.neo4j

NEVER = "2099-01-01T00:00:00Z"


def dated(event: Event, event_time: str | None) -> Event:
    return {**event, "eventTime": event_time}


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


def receive(spool: Spool, minute: int, *events: Event) -> None:
    bodies = [json.dumps(event).encode() for event in events]
    spool.append(bodies, received=parse_instant(at(minute)))


def folded(database: Database, spool: Spool, events_max: int = 1_000) -> Graph:
    """Return the graph of a whole spool, folded from its start."""
    empty(database)
    Worker(database, spool, events_max=events_max).run(until_done=True)
    return canonical(database)


def status_of(database: Database, run_id: str) -> tuple[Any, ...]:
    run = node(database, run_of(run_id))
    return run["status"], run["startedAt"].minute, run["finishedAt"] and run["finishedAt"].minute


def test_an_end_from_the_future_does_not_decide_for_good(database: Database, spool: Spool) -> None:
    """A clock of 2099 ends the run at minute 5; a new attempt begins at 10 and succeeds at 20."""
    receive(spool, 0, run_event("r", "START", 0))
    receive(spool, 5, dated(run_event("r", "FAIL"), NEVER))
    folded(database, spool)
    assert status_of(database, "r") == ("FAIL", 0, 5)
    receive(spool, 10, run_event("r", "START", 10))
    receive(spool, 20, run_event("r", "COMPLETE", 20))
    folded(database, spool)
    assert status_of(database, "r") == ("COMPLETE", 10, 20)
    assert node(database, run_of("r"))["attempts"] == 2


def test_a_run_from_the_future_does_not_keep_its_edges_current(
    database: Database, spool: Spool
) -> None:
    receive(spool, 5, dated(run_event("ahead", "COMPLETE", inputs=["old"]), NEVER))
    receive(spool, 10, run_event("now", "COMPLETE", 10, inputs=["new"]))
    folded(database, spool)
    assert {edge for edge in current(database) if edge[2] == job("j")} == {
        (ds("new"), "FEEDS", job("j"))
    }


def test_a_description_from_the_future_is_replaced(database: Database, spool: Spool) -> None:
    def described(text: str) -> Event:
        return dataset_event("t", 10, {"documentation": {"description": text}})

    receive(spool, 5, dated(described("from 2099"), NEVER))
    receive(spool, 10, described("from today"))
    folded(database, spool)
    assert node(database, ds("t"))["description"] == "from today"


def test_a_failure_from_the_future_is_found_by_its_receipt(
    database: Database, spool: Spool, view: GraphView
) -> None:
    receive(spool, 5, dated(run_event("r", "FAIL"), NEVER))
    folded(database, spool)
    (found,) = failed_runs(view).runs
    assert found.properties["failedAt"].isoformat() == "2026-01-01T00:05:00+00:00"


@pytest.mark.parametrize("event_time", [NEVER, None, "2026-01-01T00:08:00Z"])
@pytest.mark.parametrize("events_max", [1, 1_000])
def test_a_redelivery_changes_nothing(
    database: Database, spool: Spool, event_time: str | None, events_max: int
) -> None:
    """The START of minute 1 comes again after the end; the third clock is seven minutes ahead."""
    begun = dated(run_event("r", "START", inputs=["a"], outputs=["b"]), event_time)
    receive(spool, 1, begun)
    receive(spool, 6, run_event("r", "COMPLETE", 6, inputs=["a"], outputs=["b"]))
    once = folded(database, spool, events_max)
    assert status_of(database, "r") == ("COMPLETE", 1, 6)
    for minute in (7, 30):
        receive(spool, minute, begun)
        Worker(database, spool, events_max=events_max).run(until_done=True)
        assert canonical(database) == once
    assert folded(database, spool, events_max) == once, "a rebuild gives the same graph"


def test_the_events_of_one_request_keep_their_order(database: Database, spool: Spool) -> None:
    """The clock is ahead: four events of two attempts come in one batch."""
    receive(
        spool,
        5,
        dated(run_event("r", "START"), "2099-01-01T00:00:00Z"),
        dated(run_event("r", "FAIL"), "2099-01-01T00:00:01Z"),
        dated(run_event("r", "START", inputs=["a"]), "2099-01-01T00:00:02Z"),
        dated(run_event("r", "COMPLETE"), "2099-01-01T00:00:03Z"),
    )
    folded(database, spool)
    assert node(database, run_of("r"))["status"] == "COMPLETE"
    assert node(database, run_of("r"))["attempts"] == 2


@st.composite
def deliveries(draw: st.DrawFn) -> list[tuple[bytes, int]]:
    """Draw events with their minute of receipt; some come again later."""
    events = draw(
        st.lists(
            st.builds(
                lambda state, event_time, data: dated(
                    run_event("r", state, inputs=[data], outputs=["out"]), event_time
                ),
                st.sampled_from(["START", "COMPLETE", "FAIL"]),
                st.sampled_from([None, NEVER, at(1), at(4), at(9)]),
                st.sampled_from(["a", "b"]),
            ),
            min_size=1,
            max_size=5,
        )
    )
    first = [(json.dumps(event).encode(), minute) for minute, event in enumerate(events)]
    again = [
        (body, draw(st.integers(len(first), 20))) for body, _ in draw(st.permutations(first))[:3]
    ]
    return [*first, *sorted(again, key=lambda pair: pair[1])]


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(deliveries(), st.randoms(use_true_random=False))
def test_batches_and_redelivery_do_not_change_the_graph(
    database: Database, pairs: list[tuple[bytes, int]], chance: random.Random
) -> None:
    once = {body: (body, minute) for body, minute in reversed(pairs)}.values()
    graphs = []
    for delivered in (sorted(once, key=lambda pair: pair[1]), pairs):
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(Spool(Path(folder) / "spool.db")) as spool,
        ):
            for body, minute in delivered:
                spool.append([body], received=parse_instant(at(minute)))
            graphs.append(folded(database, spool, chance.choice([1, 2, 1_000])))
    assert graphs[0] == graphs[1]
