"""Findings of personal data that leaves unmasked, worked out by hand."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.governance.personal_data.propagate import Onward, Reached, Root, State
from headwater.governance.personal_data.reach import Reach
from headwater.health.findings.detector import Detector
from headwater.health.findings.listing import FindingFilter, findings
from headwater.health.findings.models import Episode, Tier
from headwater.health.findings.unmasked_personal_data import LeavingNode, detect_exposures
from headwater.lineage.view import GraphView
from headwater.schema.headwater_facets import answer_event, approval_event
from headwater.schema.urns import answer_urn, column_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.governance.personal_data.histories import COPY, MASK, MODEL, estate, moved
from tests.run_builders import Event, at, ds, write_events

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RULE = "unmasked-personal-data"
ANSWER = answer_event("churn", cites=[{"namespace": "db", "name": "features"}], event_time=at(5))
EVENTS: list[Event] = [*estate(), ANSWER]


def col(dataset: str, name: str = "mail") -> str:
    return column_urn("db", dataset, name)


@pytest.fixture
def graph(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    yield view
    empty(database)


def detector(database: Database) -> Detector:
    return Detector(database, clock=lambda: NOW)


def found(view: GraphView) -> dict[str, Episode]:
    page = findings(view, FindingFilter(rule=RULE))
    return {one.episode.subject: one.episode for one in page.entries}


def approval(minute: int, reason: str | None = "Hashed.", **more: Any) -> Event:
    policy = "declassification:email:mail"
    return approval_event(
        "db", "features", policy=policy, reason=reason, by="mia", event_time=at(minute), **more
    )


@pytest.mark.neo4j
def test_models_answers_and_exports_with_the_path(graph: GraphView, database: Database) -> None:
    write_events(database, EVENTS)
    detector(database).full_pass()
    episodes = found(graph)
    # `opaque` has no columns, so it is unknown; `safe-churn` is masked; `features` does not leave.
    assert episodes.keys() == {ds("churn"), ds("export"), answer_urn("churn")}
    assert episodes[ds("churn")].evidence == {
        "classification": "email",
        "kind": "MODEL",
        "path": [col("raw"), col("features"), ds("churn")],
        "jobs": ["job:etl:copy", "job:etl:train"],
    }
    assert episodes[ds("export")].evidence["kind"] == "EXPORT"
    assert episodes[answer_urn("churn")].evidence["path"] == [
        col("raw"),
        col("features"),
        answer_urn("churn"),
    ]
    # The first event that names the model is of 00:02.
    assert episodes[ds("churn")].first_seen == datetime(2026, 1, 1, 0, 2, tzinfo=UTC)
    page = findings(graph, FindingFilter(rule=RULE, subject=ds("churn")))
    assert [one.tier for one in page.entries] == [Tier.P1]
    hidden = graph.visible_to(Visibility(("other",)))
    assert found(hidden) == {}


def from_hr(value: Any) -> Any:
    """Return events with the dataset `raw` in the namespace `hr` of another team."""
    if isinstance(value, list):
        return [from_hr(item) for item in value]
    if not isinstance(value, dict):
        return value
    moved = {key: from_hr(item) for key, item in value.items()}
    return {**moved, "namespace": "hr"} if value.get("name") == "raw" else moved


@pytest.mark.neo4j
def test_a_key_that_does_not_see_the_classified_column_sees_no_finding(
    graph: GraphView, database: Database
) -> None:
    write_events(database, from_hr(EVENTS))
    detector(database).full_pass()
    root = column_urn("hr", "raw", "mail")
    assert found(graph)[ds("churn")].evidence["path"] == [root, col("features"), ds("churn")]
    both, one = Visibility(("hr", "db", "etl")), Visibility(("db", "etl"))
    assert found(graph.visible_to(both)).keys() == found(graph).keys()
    assert found(graph.visible_to(one)) == {}
    # A resolved finding names the class, too.
    write_events(database, [approval(30)])
    detector(database).full_pass()
    assert found(graph.visible_to(one)) == {}


@pytest.mark.neo4j
def test_a_declassification_resolves_and_its_end_opens_again(
    graph: GraphView, database: Database
) -> None:
    write_events(database, EVENTS)
    write_events(database, [approval(30)])
    detector(database).full_pass()
    resolved = found(graph)[ds("churn")]
    assert resolved.resolved_at == datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    assert resolved.resolved_by == col("features")
    write_events(database, [approval(40, None)])
    detector(database).full_pass()
    assert found(graph)[ds("churn")].resolved_at is None


@pytest.mark.neo4j
def test_an_approval_before_the_model_leaves_no_finding(
    graph: GraphView, database: Database
) -> None:
    write_events(database, [*EVENTS, approval(0)])
    detector(database).full_pass()
    assert ds("churn") not in found(graph)


@pytest.mark.neo4j
def test_a_passing_detector_finds_what_a_full_pass_finds(
    graph: GraphView, database: Database
) -> None:
    """The model is five hops from the job that begins to mask, and the detector sees it."""
    chain = [
        moved("a", "features", "a", ("mail", "features.mail", COPY), fields=("mail",), minute=6),
        moved("b", "a", "b", ("mail", "a.mail", COPY), fields=("mail",), minute=7),
        moved("c", "b", "c", ("mail", "b.mail", COPY), fields=("mail",), minute=8),
        moved("far", "c", "far", more=MODEL, minute=9),
    ]
    events = [*EVENTS, *chain]
    random.Random(7).shuffle(events)
    running = detector(database)
    for some in (events[:6], events[6:]):
        write_events(database, some)
        while running.step() is not None:
            pass
    assert ds("far") in found(graph)
    late = moved("mask", "raw", "features", ("mail", "raw.mail", MASK), fields=("mail",), minute=50)
    other = moved("copy", "other", "elsewhere", minute=51, run="copy-2")
    write_events(database, [late, other])
    expected = set[str]()
    for _ in range(60):
        running.step()
        if set(found(graph)) == expected:
            break
    assert set(found(graph)) == expected
    detector(database).full_pass()
    assert set(found(graph)) == expected


def test_a_long_path_is_cut_in_the_middle() -> None:
    root = Root("column:db:d0:m", "dataset:db:d0", "email")
    urns = [f"column:db:d{index}:m" for index in range(30)]
    one = Reached(urns[0], "dataset:db:d0", State.EXPOSED, root)
    for index, urn in enumerate(urns[1:]):
        dataset = f"dataset:db:d{index + 1}"
        one = one.then(Onward(urn, dataset, State.EXPOSED, f"job:etl:{index}"), State.EXPOSED)
    one = one.then(Onward("dataset:db:m", "dataset:db:m", State.EXPOSED), State.EXPOSED)
    reach = Reach((one,), {})
    (episode,) = detect_exposures(reach, {"dataset:db:m": LeavingNode("MODEL", NOW)})
    assert episode.evidence["path"] == [*urns[:10], *urns[-9:], "dataset:db:m"]
    assert len(episode.evidence["jobs"]) == 20
    assert episode.resolved_at is None
    assert list(detect_exposures(reach, {})) == []


@pytest.mark.parametrize("state", [State.UNKNOWN, State.INFLUENCED, State.MASKED])
def test_other_states_are_no_finding(state: State) -> None:
    root = Root("column:db:a:m", "dataset:db:a", "email")
    step = Onward("dataset:db:m", "dataset:db:m", state, "job:etl:train")
    one = Reached("column:db:a:m", "dataset:db:a", State.EXPOSED, root).then(step, state)
    leaving = {"dataset:db:m": LeavingNode("MODEL", NOW - timedelta(days=1))}
    assert list(detect_exposures(Reach((one,), {}), leaving)) == []
