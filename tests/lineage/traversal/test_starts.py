"""The starts of a lineage: their layer, their level, and starts that cannot go together."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.traversal.layers import DATASETS_UP, RUNS_DOWN, RUNS_UP, at_instant
from headwater.lineage.traversal.starts import find_starts
from headwater.lineage.view import GraphView
from tests.lineage_requests import request
from tests.run_builders import ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def graph(database: Database, view: GraphView) -> GraphView:
    """Two runs of job load write a from raw."""
    write_events(
        database, run("r1", "load", ["raw"], ["a"]), run("r2", "load", ["raw"], ["a"], minute=5)
    )
    return view


def test_nodes_start_in_their_own_layer(graph: GraphView) -> None:
    starts = find_starts(graph, request([ds("a"), job("load"), ds("a")]))
    assert (starts.urns, starts.upward, starts.is_cut) == (
        [ds("a"), job("load")],
        DATASETS_UP,
        False,
    )
    starts = find_starts(graph, request(run_of("r1")))
    assert (starts.upward, starts.downward) == (RUNS_UP, RUNS_DOWN)
    starts = find_starts(graph, request(ds("a"), as_of=NOON))
    assert starts.upward == at_instant(DATASETS_UP)


def test_level_leads_to_another_layer(graph: GraphView) -> None:
    starts = find_starts(graph, request(ds("a"), level="run"))
    assert set(starts.urns) == {version("a", "r1"), version("a", "r2")}
    assert starts.downward == RUNS_DOWN
    starts = find_starts(graph, request(version("a", "r1"), level="DATASET_AND_JOB"))
    assert starts.urns == [ds("a")]


def test_starts_that_cannot_go_together(graph: GraphView) -> None:
    with pytest.raises(QueryError, match="different layers"):
        find_starts(graph, request([ds("a"), run_of("r1")]))
    with pytest.raises(QueryError, match="does not change with time"):
        find_starts(graph, request(run_of("r1"), as_of=NOON))
    with pytest.raises(QueryError, match="from 1 to 100 nodes"):
        find_starts(graph, request([]))
    with pytest.raises(NotFoundError):
        find_starts(graph, request(ds("never")))
