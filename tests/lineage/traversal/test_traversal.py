"""The state of a traversal: bounds on visible nodes and edges, and the direction of its edges."""

from __future__ import annotations

from typing import cast

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.hidden_nodes import Edge, hidden_entry
from headwater.lineage.traversal.layers import DATASETS_DOWN, DATASETS_UP, Layer
from headwater.lineage.traversal.neo4j_adjacency import Neo4jAdjacency
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView
from tests.graph_model import LineageModel, ds, job


def traversal_in(layer: Layer, *, nodes_max: int = 9, edges_max: int = 9) -> Traversal:
    bounds = Bounds.within(60, depth=9, nodes_max=nodes_max, edges_max=edges_max)
    view = GraphView(cast(Database, LineageModel()))
    adjacency = Neo4jAdjacency(view, TraversalRequest(layer, bounds))
    return Traversal([ds("a"), ds("a"), ds("b")], adjacency, bounds)


def test_starts_are_nodes_without_hops() -> None:
    traversal = traversal_in(DATASETS_DOWN)
    assert traversal.frontier == [ds("a"), ds("b")]
    assert traversal.nodes == {ds("a"): 0, ds("b"): 0}
    assert traversal.progress.node_count == 2


@pytest.mark.parametrize(
    ("layer", "edge"),
    [
        (DATASETS_DOWN, Edge(ds("a"), job("j"), "FEEDS")),
        (DATASETS_UP, Edge(job("j"), ds("a"), "PRODUCED")),
    ],
)
def test_edges_point_downstream(layer: Layer, edge: Edge) -> None:
    traversal = traversal_in(layer)
    assert traversal.edge(ds("a"), job("j"), traversal.entry_type) == edge
    assert traversal.ends_of(edge) == (ds("a"), job("j"))


def test_bounds_stop_new_nodes_and_new_edges() -> None:
    step = (ds("a"), job("j"), "FEEDS")
    full = traversal_in(DATASETS_DOWN, nodes_max=2)
    assert not full.add_within_bounds(*step, is_new_node=True, is_visible_edge=True)
    assert (full.truncated, full.edges) == ("nodes", set())
    narrow = traversal_in(DATASETS_DOWN, edges_max=1)
    assert narrow.add_within_bounds(*step, is_new_node=True, is_visible_edge=True)
    assert narrow.add_within_bounds(*step, is_new_node=False, is_visible_edge=True)
    other = (ds("b"), job("j"), "FEEDS")
    assert not narrow.add_within_bounds(*other, is_new_node=False, is_visible_edge=True)
    assert narrow.truncated == "edges"


def test_hop_begins_at_the_frontier() -> None:
    traversal = traversal_in(DATASETS_DOWN)
    traversal.begin_hop()
    assert (traversal.hop, traversal.pending, traversal.frontier) == (1, [ds("a"), ds("b")], [])


def test_visible_nodes_come_before_hidden_ones() -> None:
    traversal = traversal_in(DATASETS_DOWN)
    traversal.adjacency.hidden = {ds("ha")}
    assert traversal.visible_first([ds("z"), ds("ha"), ds("b")]) == [ds("b"), ds("z"), ds("ha")]
    assert traversal.is_hidden(ds("ha"))
    assert traversal.is_hidden(hidden_entry(job("hj"), ds("a")))
    assert not traversal.is_hidden(ds("b"))
