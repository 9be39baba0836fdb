"""Resumed traversals: cut anywhere, the parts together show everything once."""

from __future__ import annotations

import pytest

from tests.graph_model import LineageModel, ds, job


def fan() -> LineageModel:
    """Six jobs that read a and each write one dataset, which one job reads on."""
    graph = LineageModel()
    for name in "bcdefg":
        graph.add(f"j{name}", ["a"], [name]).add(f"k{name}", [name], [f"{name}2"])
    return graph


def test_omitted_neighbours_are_the_known_nodes_that_are_not_shown() -> None:
    cut = fan().traverse(ds("a"), depth=1)
    assert cut.truncated == "depth"
    assert cut.omitted_neighbours[ds("b")] == {job("kb")}
    assert cut.resume_points[ds("b")] == ()


def test_complete_traversal_has_no_resume_points() -> None:
    complete = fan().traverse(ds("a"))
    assert (complete.truncated, complete.resume_points, complete.omitted_neighbours) == ("", {}, {})


@pytest.mark.parametrize("nodes_max", [2, 3, 4, 7, 12])
def test_parts_together_show_everything(nodes_max: int) -> None:
    complete = fan().traverse(ds("a"))
    nodes, edges = set[str](), set[object]()
    waiting = [(ds("a"), ())]
    requests = 0
    while waiting:
        start, point = waiting.pop()
        part = fan().traverse(
            start, nodes_max=nodes_max + 1, resume_from={start: point} if point else None
        )
        nodes |= part.nodes.keys()
        edges |= part.edges
        waiting += [(urn, mark) for urn, mark in part.resume_points.items()]  # type: ignore[misc]
        requests += 1
        assert requests < 200, "it never ends"
    assert (nodes, edges) == (set(complete.nodes), complete.edges)
