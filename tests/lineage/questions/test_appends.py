"""Questions about a table that is appended to: two days of appends and an overwrite on the third,
worked out by hand.

    day 1  load_pii    pii_src   -> target   append
    day 1  report-1    target    -> report-1's version
    day 2  load_clean  clean_src -> target   append
    day 2  report-2    target    -> report
    day 3  load_clean  clean_src -> target   OVERWRITE
    day 3  report-3    target    -> report
"""

from __future__ import annotations

from itertools import chain

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.failure_impact import failure_impact
from headwater.lineage.questions.freshness import freshness
from headwater.lineage.questions.lineage import trace
from headwater.lineage.questions.replay import replay_plan
from headwater.lineage.questions.root_cause import root_cause
from headwater.lineage.view import GraphView
from headwater.schema.urns import answer_urn, source_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, run_event
from tests.lineage_requests import lineage
from tests.run_builders import Event, answer, ds, job, run_of, version, write_events

pytestmark = pytest.mark.neo4j

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
PII, CLEAN = source_urn("db", "pii_src"), source_urn("db", "clean_src")


def spark(
    run_id: str,
    job: str,
    reads: str,
    writes: str,
    minute: int,
    *,
    overwrite: bool = False,
    state: str = "COMPLETE",
) -> list[Event]:
    """Return START and end of a Spark write: OVERWRITE is reported, an append is not."""
    facets = {"lifecycleStateChange": {"lifecycleStateChange": "OVERWRITE"}} if overwrite else None
    events = [
        run_event(
            run_id,
            kind,
            minute + late,
            job=job,
            inputs=[dataset(reads, side="input")],
            outputs=[dataset(writes, facets)],
        )
        for late, kind in ((0, "START"), (1, state))
    ]
    return [{**event, "producer": SPARK} for event in events]


def report(day: int) -> list[Event]:
    return [
        *spark(f"report-{day}", "report", "target", "report", 60 * day + 20, overwrite=True),
        *answer(f"day-{day}", "report", minute=60 * day + 30),
    ]


def three_days() -> list[Event]:
    return [
        *spark("day-1", "load_pii", "pii_src", "target", 60),
        *report(1),
        *spark("day-2", "load_clean", "clean_src", "target", 120),
        *report(2),
        *spark("day-3", "load_clean", "clean_src", "target", 180, overwrite=True),
        *report(3),
    ]


@pytest.fixture(scope="module")
def days(database: Database) -> GraphView:
    empty(database)
    write_events(database, three_days())
    return GraphView(database, Visibility(("*",)))


def traced(view: GraphView, day: int) -> set[str]:
    return {row["urn"] for row in trace(view, f"day-{day}").sources}


def test_a_trace_goes_through_appends_to_the_last_overwrite(days: GraphView) -> None:
    assert [traced(days, day) for day in (1, 2, 3)] == [{PII}, {PII, CLEAN}, {CLEAN}]
    found = trace(days, "day-2")
    assert {row["urn"] for row in found.runs} == {
        run_of("day-1"),
        run_of("day-2"),
        run_of("report-2"),
    }
    assert ("FEEDS", version("target", "day-1"), version("target", "day-2")) in {
        (edge.type, edge.source, edge.target) for edge in found.edges
    }


def test_an_append_is_no_hop(days: GraphView) -> None:
    up = lineage(days, version("report", "report-2"), direction="UPSTREAM", depth=2)
    assert {PII, CLEAN} <= {node.urn for node in up.nodes}
    assert up.distances[version("target", "day-2")] == 1
    assert up.distances[version("target", "day-1")] == 2
    assert up.distances[PII] == 2


def test_downstream_of_an_append_are_the_readers_until_the_overwrite(days: GraphView) -> None:
    down = lineage(days, version("target", "day-1"), direction="DOWNSTREAM")
    reached = {node.urn for node in down.nodes}
    assert {run_of("report-1"), run_of("report-2"), answer_urn("day-2")} <= reached
    assert not {run_of("report-3"), answer_urn("day-3"), version("target", "day-3")} & reached


def test_the_wiring_and_the_inputs_of_an_append_do_not_name_its_target(days: GraphView) -> None:
    rows = days.read("read/failures/run_inputs_and_outputs", urns=[run_of("day-2")], limit=10)
    assert [read["dataset"] for read in rows[0]["inputs"]] == [ds("clean_src")]
    up = lineage(days, ds("target"), direction="UPSTREAM")
    assert (ds("target"), job("load_clean")) not in {(e.source, e.target) for e in up.edges}


def test_a_corrupt_append_is_replayed_until_the_content_was_overwritten(
    database: Database,
) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    events = three_days()
    write_events(database, events[: len(events) // 3 * 2])
    plan = replay_plan(view, run_of("day-1"))
    reruns = {rerun.run: rerun for step in plan.steps for rerun in step}
    assert list(reruns) == [run_of("day-1"), run_of("report-1"), run_of("report-2")]
    assert not reruns[run_of("day-1")].superseded
    assert reruns[run_of("report-1")].superseded is False
    (read,) = reruns[run_of("report-2")].inputs
    assert (read.versions, read.wait_for) == ([version("target", "day-2")], [run_of("day-1")])
    assert plan.answers == [answer_urn("day-1"), answer_urn("day-2")]
    write_events(database, events[len(events) // 3 * 2 :])
    plan = replay_plan(view, run_of("day-1"))
    reruns = {rerun.run: rerun for step in plan.steps for rerun in step}
    assert reruns[run_of("day-1")].superseded
    assert list(reruns) == [run_of("day-1"), run_of("report-1"), run_of("report-2")]


def test_freshness_names_the_sources_of_the_whole_content(database: Database) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    events = three_days()
    write_events(database, events[: len(events) // 3 * 2])
    found = freshness(view, [ds("target")])[ds("target")]
    # Each was read when its run started; nothing is known of the data itself.
    assert [(source.dataset, source.exact) for source in found.sources] == [
        (ds("pii_src"), False),
        (ds("clean_src"), False),
    ]
    write_events(database, events[len(events) // 3 * 2 :])
    found = freshness(view, [ds("target")])[ds("target")]
    assert [source.dataset for source in found.sources] == [ds("clean_src")]


def test_a_failed_append_is_a_root_cause_of_later_versions(database: Database) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    write_events(
        database,
        chain(
            spark("broken", "load_pii", "pii_src", "stage", 10, overwrite=True, state="FAIL"),
            spark("day-1", "load_pii", "stage", "target", 60),
            spark("day-2", "load_clean", "clean_src", "target", 120),
        ),
    )
    found = root_cause(view, version("target", "day-2"))
    assert [(one.kind, one.urn) for one in found.candidates] == [("FAILED", run_of("broken"))]
    write_events(database, spark("day-3", "load_clean", "clean_src", "target", 180, overwrite=True))
    assert root_cause(view, version("target", "day-3")).candidates == []


def test_a_failure_reaches_the_readers_of_later_appends(database: Database) -> None:
    empty(database)
    view = GraphView(database, Visibility(("*",)))
    write_events(
        database,
        chain(
            spark("day-0", "load_pii", "pii_src", "target", 30),
            spark("day-1", "load_pii", "pii_src", "target", 60, state="FAIL"),
            spark("day-2", "load_clean", "clean_src", "target", 120),
            report(2),
        ),
    )
    stale = failure_impact(view, [run_of("day-1")])[run_of("day-1")].stale
    assert (stale.runs, stale.answers) == ([run_of("report-2")], [answer_urn("day-2")])
    partial = failure_impact(view, [run_of("day-1")])[run_of("day-1")].partial
    assert partial.runs == []
