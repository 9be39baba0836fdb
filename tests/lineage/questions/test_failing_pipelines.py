"""The pipelines with the most failed runs, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.questions.failing_pipelines import FailingPipeline, failing_pipelines
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import run_event
from tests.run_builders import run, run_of, write_events

pytestmark = pytest.mark.neo4j

START = datetime(2026, 1, 1, tzinfo=UTC)


def after(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write two failed loads of four, one failed build of one, and one failed old run.

    The run load-2 fails twice under one id, and the attempt at minute 30 is its last one.
    """
    empty(database)
    write_events(
        database,
        run("old", "load", [], ["a"], minute=0, status="FAIL"),
        run("load-1", "load", [], ["a"], minute=10),
        run("load-2", "load", [], ["a"], minute=20, status="FAIL"),
        run("load-2", "load", [], ["a"], minute=30, status="FAIL"),
        run("load-3", "load", [], ["a"], minute=40, status="FAIL"),
        run("load-4", "load", [], ["a"], minute=50),
        run("build-1", "build", ["a"], ["b"], minute=60, status="FAIL"),
        [{**run_event("web-1", "FAIL", 70), "job": {"namespace": "web", "name": "crawl"}}],
    )
    yield view
    empty(database)


def test_a_run_counts_once_and_the_most_failures_come_first(history: GraphView) -> None:
    found = failing_pipelines(history, since=after(5))
    assert found.pipelines[0] == FailingPipeline(
        namespace="etl",
        name="load",
        failed=2,
        runs=4,
        first_at=after(31),
        last_at=after(41),
        last_run=run_of("load-3"),
    )
    assert [(one.name, one.failed, one.runs) for one in found.pipelines] == [
        ("load", 2, 4),
        ("crawl", 1, 1),
        ("build", 1, 1),
    ]
    assert (found.count, found.failed_runs) == (3, 4)


def test_only_failures_of_the_window(history: GraphView) -> None:
    found = failing_pipelines(history, until=after(35))
    assert [(one.name, one.failed, one.runs) for one in found.pipelines] == [("load", 2, 3)]
    # The failure of load-3 at minute 41 is in the window, its start at minute 40 is not.
    found = failing_pipelines(history, since=after(41), until=after(42))
    assert [(one.name, one.failed, one.runs) for one in found.pipelines] == [("load", 1, 1)]


def test_the_counts_of_all_stay_on_a_short_list(history: GraphView) -> None:
    found = failing_pipelines(history, first=1)
    assert [one.name for one in found.pipelines] == ["load"]
    assert (found.count, found.failed_runs) == (3, 5)
    with pytest.raises(QueryError, match="first 201 is not between"):
        failing_pipelines(history, first=201)


def test_other_namespaces_are_not_counted(history: GraphView) -> None:
    named = failing_pipelines(history, namespace="web")
    seen = failing_pipelines(history.visible_to(Visibility(("web",))))
    for found in (named, seen):
        assert [one.name for one in found.pipelines] == ["crawl"]
        assert (found.count, found.failed_runs) == (1, 1)
