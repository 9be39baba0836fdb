"""Runs under way for longer than usual, worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.overdue_runs import OverdueRuns, overdue_runs
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import run_event
from tests.run_builders import Event, write_events

pytestmark = pytest.mark.neo4j

START = datetime(2026, 1, 1, tzinfo=UTC)


def lasted(run_id: str, job: str, minute: int, minutes: int) -> list[Event]:
    """Return a complete run of so many minutes."""
    return [
        run_event(run_id, "START", minute, job=job),
        run_event(run_id, "COMPLETE", minute + minutes, job=job),
    ]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write runs of load of 10, 10, 10 and 30 minutes, two of build, and one of each under way."""
    empty(database)
    write_events(
        database,
        *(lasted(f"load-{n}", "load", 100 * n, [10, 10, 10, 30][n]) for n in range(4)),
        *(lasted(f"build-{n}", "build", 100 * n, 1) for n in range(2)),
        *([run_event(f"{job}-now", "START", 1000, job=job)] for job in ("load", "build")),
    )
    yield view
    empty(database)


def of(history: GraphView, minutes: int) -> OverdueRuns:
    return overdue_runs(history, now=START + timedelta(minutes=1000 + minutes))


def test_longer_than_each_run_before_and_than_twice_their_median(history: GraphView) -> None:
    assert (of(history, 31).running, of(history, 31).truncated) == (2, False)
    # Twice the median is 20 minutes; one run took 30.
    assert of(history, 25).runs == []
    assert of(history, 30).runs == []
    [overdue] = of(history, 31).runs
    assert overdue.run["runId"] == "load-now"
    assert overdue.elapsed_seconds == 31 * 60
    assert (overdue.median_seconds, overdue.longest_seconds) == (600.0, 1800.0)
    assert overdue.compared == 4


def test_two_runs_show_nothing_usual(history: GraphView) -> None:
    assert {one.run["runId"] for one in of(history, 100_000).runs} == {"load-now"}


def test_hidden_and_other_namespaces_are_left_out(history: GraphView) -> None:
    later = START + timedelta(days=9)
    assert overdue_runs(history, namespace="web", now=later) == OverdueRuns([], 0, False)
    hidden = history.visible_to(Visibility(("web",)))
    assert overdue_runs(hidden, now=later) == OverdueRuns([], 0, False)
