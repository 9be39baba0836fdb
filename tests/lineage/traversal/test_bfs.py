"""Breadth-first traversals over a small graph worked out by hand: distances, bounds, shared
reads.
"""

from __future__ import annotations

from typing import cast

from headwater.cypher.driver.database import Database, Row
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.traversal.bfs import traverse, traverse_from
from headwater.lineage.traversal.layers import DATASETS_DOWN
from headwater.lineage.traversal.request import Bounds, TraversalRequest
from headwater.lineage.view import GraphView
from tests.graph_model import LineageModel, ds, job


def diamond() -> LineageModel:
    """Jobs: a -> j1 -> b, a -> j2 -> c, b and c -> j3 -> d."""
    return (
        LineageModel().add("j1", ["a"], ["b"]).add("j2", ["a"], ["c"]).add("j3", ["b", "c"], ["d"])
    )


def within(depth: int = 9, *, nodes_max: int = 99, edges_max: int = 99) -> Bounds:
    return Bounds.within(60, depth=depth, nodes_max=nodes_max, edges_max=edges_max)


def test_each_node_has_its_shortest_distance() -> None:
    found = diamond().traverse(ds("a"))
    assert found.nodes == {
        ds("a"): 0,
        job("j1"): 1,
        job("j2"): 1,
        ds("b"): 1,
        ds("c"): 1,
        job("j3"): 2,
        ds("d"): 2,
    }
    assert Edge(job("j3"), ds("d"), "PRODUCED") in found.edges
    assert len(found.edges) == 7
    assert found.truncated == ""


def test_upstream_finds_the_same_edges() -> None:
    assert diamond().traverse(ds("d"), upstream=True).edges == diamond().traverse(ds("a")).edges


def test_depth_names_itself_only_if_it_cuts_something_off() -> None:
    assert diamond().traverse(ds("a"), depth=2).truncated == ""
    cut = diamond().traverse(ds("a"), depth=1)
    assert (cut.truncated, set(cut.resume_points)) == ("depth", {ds("b"), ds("c")})


def test_traversals_of_one_request_share_their_reads() -> None:
    read: list[str] = []

    class Counted(LineageModel):
        """A graph that records the queries that it is asked."""

        def read(self, name: str, *, urns: list[str], **options: object) -> list[Row]:
            read.append(name)
            return super().read(name, urns=urns, **options)

    graph = diamond()
    counted = Counted(inputs=graph.inputs, outputs=graph.outputs)
    view = GraphView(cast(Database, counted))
    request = TraversalRequest(DATASETS_DOWN, within())
    alone = traverse_from(view, request, [ds("a")])
    cost, read[:] = len(read), []
    found = traverse(view, request, {name: [ds(name)] for name in "abc"})
    assert found["a"].nodes == alone.nodes
    assert found["b"].nodes == {ds("b"): 0, job("j3"): 1, ds("d"): 1}
    assert len(read) <= cost
