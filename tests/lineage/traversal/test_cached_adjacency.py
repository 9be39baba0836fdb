"""Adjacency over the cache agrees with adjacency over Neo4j, column neighbours included."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.cache import cache_refresher
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.traversal.cached_adjacency import CachedAdjacency
from headwater.lineage.traversal.layers import (
    COLUMNS_DOWN,
    COLUMNS_UP,
    DATASETS_DOWN,
    DATASETS_UP,
    Layer,
)
from headwater.lineage.traversal.neo4j_adjacency import Neo4jAdjacency
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import column_urn
from headwater.schema.visibility import Visibility
from tests.run_builders import ds, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

STARTS = {
    DATASETS_DOWN: ds("a"),
    DATASETS_UP: ds("b"),
    COLUMNS_DOWN: column_urn("db", "a", "id"),
    COLUMNS_UP: column_urn("db", "b", "id"),
}


@pytest.fixture
def graph(database: Database, view: GraphView) -> GraphView:
    """Job first reads a and x and writes b, whose columns derive from a; job second reads b and
    writes c.
    """
    write_events(
        database,
        run("r1", "first", ["a", "x"], ["b"], derived={"b": ["a"]}),
        run("r2", "second", ["b"], ["c"], minute=5),
    )
    return view


@pytest.mark.parametrize("layer", STARTS)
@pytest.mark.parametrize("visibility", [Visibility(("*",)), Visibility(("db",))])
def test_both_load_the_same_neighbours(
    graph: GraphView, layer: Layer, visibility: Visibility, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neo4j plans the first reads of a cache for seconds, if no test asked them before.
    monkeypatch.setattr(cache_refresher, "STALE_SECONDS_MAX", 600.0)
    refresher = CacheRefresher(graph.database)
    refresher.load()
    cache = refresher.current()
    assert cache is not None
    bounds = Bounds.within(60, depth=9, nodes_max=99, edges_max=99)
    request, view = TraversalRequest(layer, bounds), graph.visible_to(visibility)
    cached, read = CachedAdjacency(cache, view, request), Neo4jAdjacency(view, request)
    start = STARTS[layer]
    for adjacency in (cached, read):
        adjacency.admit_starts([start])
        adjacency.load([start])
    assert cached.hidden == read.hidden
    for name in ("producers_or_consumers", "direct_neighbours"):
        expected = sorted(getattr(read, name).get(start, ()))
        assert sorted(getattr(cached, name).get(start, ())) == expected
    for job in read.producers_or_consumers.get(start, ()):
        assert set(cached.inputs_or_outputs[job]) == set(read.inputs_or_outputs[job])
        entry = (start, job)
        assert sorted(cached.reached_from.get(entry, ())) == sorted(
            read.reached_from.get(entry, ())
        )
        assert (entry in cached.closed_entries) == (entry in read.closed_entries)
