"""Counts over time, and the pages of lists, on a history worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions import catalog as catalogue
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import columns, dataset, dataset_event, run_event, schema
from tests.run_builders import ds, job, write_events

pytestmark = pytest.mark.neo4j

HOUR = timedelta(hours=1)
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
EDGES = [MIDNIGHT + HOUR, MIDNIGHT + 2 * HOUR, MIDNIGHT + 3 * HOUR]


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    """Write raw and load before the first edge, clean and report in the first hour, sums and late
    in the second.
    """
    empty(database)
    clean = dataset("clean", {**schema(id="int"), **columns(id=[("raw", "id")])})
    sums = dataset("sums", {**schema(total="int"), **columns(total=[("clean", "id")])})
    write_events(
        database,
        [
            run_event("a", "START", 10, job="load", inputs=["raw"]),
            run_event("a", "COMPLETE", 70, job="load", inputs=["raw"], outputs=[clean]),
            run_event("b", "START", 80, job="report", inputs=["clean"]),
            run_event("b", "FAIL", 130, job="report", inputs=["clean"], outputs=[sums]),
            run_event("c", "START", 90, job="report", inputs=["clean"]),
            run_event("c", "ABORT", 119, job="report", inputs=["clean"]),
            dataset_event("late", 179, namespace="other"),
        ],
    )


def test_how_many_there_were_at_the_end_of_each_hour(view: GraphView) -> None:
    assert catalogue.node_counts(view, "jobs", EDGES) == [2, 2]
    assert catalogue.node_counts(view, "datasets", EDGES) == [2, 4]
    assert catalogue.node_counts(view, "sources", EDGES) == [1, 2]
    visible = view.visible_to(Visibility(("db",)))
    assert catalogue.node_counts(visible, "datasets", EDGES) == [2, 3]
    assert catalogue.node_counts(visible, "jobs", EDGES) == [0, 0]


def test_runs_in_each_hour(view: GraphView) -> None:
    first, second = catalogue.run_counts(view, EDGES)
    assert first == {"START": 2, "COMPLETE": 1, "FAIL": 0, "ABORT": 1, "ABANDONED": 0}
    assert second == {"START": 0, "COMPLETE": 0, "FAIL": 1, "ABORT": 0, "ABANDONED": 0}
    hidden = catalogue.run_counts(view.visible_to(Visibility(("db",))), EDGES)
    assert [sum(counts.values()) for counts in hidden] == [0, 0]


def test_pages(view: GraphView) -> None:
    assert catalogue.datasets_in_namespace(view, "db", skip=1, limit=1) == catalogue.UrnPage(
        [ds("raw")], 3
    )
    assert catalogue.datasets_in_namespace(view, "nowhere", skip=0, limit=9) == catalogue.UrnPage(
        [], 0
    )
    assert catalogue.jobs_by_last_seen(view, states=None, skip=0, limit=1) == catalogue.UrnPage(
        [job("report")], 2
    )
    assert catalogue.jobs_by_last_seen(
        view, states=["COMPLETE"], skip=0, limit=9
    ) == catalogue.UrnPage([job("load")], 1)
    assert catalogue.jobs_in_namespace(view, "etl", states=["ABORT"], skip=0, limit=9).urns == [
        job("report")
    ]
    assert catalogue.runs_of_job(view, job("report"), skip=0, limit=1) == catalogue.UrnPage(
        ["run:c"], 2
    )
    assert catalogue.runs_of_job(view, job("nothing"), skip=0, limit=1) == catalogue.UrnPage([], 0)


def test_a_graph_of_columns(view: GraphView) -> None:
    raw, clean, total = (
        column_urn("db", "raw", "id"),
        column_urn("db", "clean", "id"),
        column_urn("db", "sums", "total"),
    )
    up = catalogue.column_graph(view, [ds("clean")], depth=5, downstream=False)
    assert (set(up.columns), [(edge.source, edge.target) for edge in up.edges]) == (
        {raw, clean},
        [(raw, clean)],
    )
    both = catalogue.column_graph(view, [clean], depth=5, downstream=True)
    assert set(both.columns) == {raw, clean, total}
    assert catalogue.column_graph(
        view, [ds("late")], depth=5, downstream=True
    ) == catalogue.ColumnGraph([], [])
    assert (
        catalogue.column_graph(
            view.visible_to(Visibility(("x",))), [clean], depth=5, downstream=True
        ).columns
        == []
    )
