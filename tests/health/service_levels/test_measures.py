"""What levels of the graph count, where the history of the figures shows no difference."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.service_levels.measures import MEASURES
from headwater.health.service_levels.samples import Counts
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import parent, run_event
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def estate(database: Database, view: GraphView) -> GraphView:
    """Write a DAG whose task reads and writes, a task of an unknown DAG, and a run without data."""
    empty(database)
    write_events(
        database,
        [
            run_event("dag", "START", 0, job="dag"),
            run_event("t1", "COMPLETE", 5, job="load", inputs=["raw"], outputs=["orders"],
                      facets=parent("dag", "dag")),
            run_event("dag", "COMPLETE", 6, job="dag"),
            run_event("t2", "COMPLETE", 7, job="build", inputs=["orders"], outputs=["mart"],
                      facets=parent("unknown", "other")),
            run_event("quiet", "COMPLETE", 8, job="quiet"),
        ],
    )  # fmt: skip
    return view


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def measured(view: GraphView, id: str) -> Counts:
    return MEASURES[id](view, (moment(-60), moment(60))).counts


def test_capture_counts_a_dag_by_its_tasks(estate: GraphView) -> None:
    """The run of the DAG named no data itself, and counts; quiet names none and contains none."""
    assert measured(estate, "M2") == Counts(3, 4)


def test_correlation_needs_a_known_parent_and_a_shared_dataset(estate: GraphView) -> None:
    """The DAG contains others; t2 names an unknown parent; quiet shares nothing."""
    assert measured(estate, "M8") == Counts(1, 3)


def test_a_window_is_exact(estate: GraphView) -> None:
    found = MEASURES["M2"](estate, (moment(8), moment(8) + timedelta(seconds=1)))
    assert (found.value, found.counts) == (0.0, Counts(0, 1))


def test_hidden_runs_do_not_count(estate: GraphView) -> None:
    hidden = estate.visible_to(Visibility(("elsewhere",)))
    assert measured(hidden, "M2") == measured(hidden, "M6") == Counts(0, 0)


def test_an_execution_counts_by_its_last_attempt(estate: GraphView) -> None:
    """dag, t2 (its parent is a run, though unknown) and quiet: dag and quiet are end to end."""
    assert measured(estate, "run-success") == Counts(2, 2)
