"""A trace as a tree, worked out by hand."""

from __future__ import annotations

from itertools import product

from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.questions.trace_tree import Branch, trace_tree


def test_a_chain_and_a_branch() -> None:
    edges = [Edge("b", "a", "CITED_BY"), Edge("c", "b", "PRODUCED"), Edge("d", "a", "CITED_BY")]
    assert trace_tree("a", edges) == [
        Branch("a", 0, -1, "", False),
        Branch("b", 1, 0, "CITED_BY", False),
        Branch("c", 2, 1, "PRODUCED", False),
        Branch("d", 1, 0, "CITED_BY", False),
    ]


def test_a_diamond_is_unfolded_once() -> None:
    edges = [
        Edge("l", "a", "x"),
        Edge("r", "a", "x"),
        Edge("b", "l", "x"),
        Edge("b", "r", "x"),
        Edge("c", "b", "x"),
    ]
    found = trace_tree("a", edges)
    assert [(one.urn, one.depth, one.repeated) for one in found] == [
        ("a", 0, False),
        ("l", 1, False),
        ("b", 2, False),
        ("c", 3, False),
        ("r", 1, False),
        ("b", 2, True),
    ]


def test_diamonds_cannot_blow_it_up_and_cycles_end() -> None:
    wide = [
        Edge(f"{side}{n + 1}", f"{other}{n}", "x")
        for n, side, other in product(range(30), "lr", "lr")
    ]
    edges = [*wide, Edge("l0", "a", "x"), Edge("r0", "a", "x"), Edge("a", "l30", "x")]
    found = trace_tree("a", edges)
    assert len(found) == len(set(edges)) + 1
    assert sum(not one.repeated for one in found) == 63
    assert all(found[one.parent].depth == one.depth - 1 for one in found[1:])
