"""Traversals with hidden nodes, worked out by hand. Names that begin with h are hidden."""

from __future__ import annotations

from itertools import pairwise

import pytest

from headwater.lineage.hidden_nodes import Edge, stub_urn
from headwater.lineage.traversal.filters import Filter
from headwater.lineage.traversal.traversal import Traversal
from tests.graph_model import LineageModel, ds, job


def reached(
    graph: LineageModel, start: str, *, upstream: bool = False, depth: int = 50
) -> tuple[dict[str, int], set[Edge]]:
    traversal = graph.restricted().traverse(start, upstream=upstream, depth=depth)
    return traversal.nodes, traversal.edges


def chain(length: int) -> LineageModel:
    """Build a -> x -> (`length` hidden datasets, with hidden jobs between) -> y -> b."""
    graph = LineageModel().add("x", ["a"], ["h0"])
    for number in range(length):
        graph.add(f"h{number}", [f"h{number}"], [f"h{number + 1}"])
    return graph.add("y", [f"h{length}"], ["b"])


@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_a_hidden_path_is_one_stub_of_any_length(length: int) -> None:
    hidden = stub_urn("from", job("x"))
    edges = {
        Edge(ds("a"), job("x"), "FEEDS"),
        Edge(job("x"), hidden, "PRODUCED"),
        Edge(hidden, job("y"), "FEEDS"),
        Edge(job("y"), ds("b"), "PRODUCED"),
    }
    down = {ds("a"): 0, job("x"): 1, hidden: 1, job("y"): 2, ds("b"): 2}
    assert reached(chain(length), ds("a")) == (down, edges)
    up = {ds("b"): 0, job("y"): 1, hidden: 1, job("x"): 2, ds("a"): 2}
    assert reached(chain(length), ds("b"), upstream=True) == (up, edges)


@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_depth_counts_a_hidden_path_once(length: int) -> None:
    shallow = chain(length).restricted().traverse(ds("a"), depth=1)
    assert set(shallow.nodes) == {ds("a"), job("x"), stub_urn("from", job("x"))}
    assert (shallow.truncated, shallow.resume_points, shallow.omitted_neighbours) == (
        "depth",
        {job("x"): (3, job("y"))},
        {job("x"): set()},
    )
    assert set(chain(length).restricted().traverse(ds("a"), depth=2).nodes) > {ds("b")}


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_hidden_job_between_datasets_is_one_hop(length: int) -> None:
    graph = LineageModel().add("h", ["a"], ["h0"] if length else ["b"])
    for number in range(length):
        graph.add(
            f"h{number}", [f"h{number}"], [f"h{number + 1}"] if number + 1 < length else ["b"]
        )
    hidden = stub_urn("from", ds("a"))
    edges = {Edge(ds("a"), hidden, "FEEDS"), Edge(hidden, ds("b"), "PRODUCED")}
    assert reached(graph, ds("a")) == ({ds("a"): 0, hidden: 0, ds("b"): 1}, edges)
    assert reached(graph, ds("b"), upstream=True) == ({ds("b"): 0, hidden: 0, ds("a"): 1}, edges)


def test_branches_join_the_stub_where_the_path_became_hidden() -> None:
    graph = (
        LineageModel()
        .add("h", ["a", "b"], ["h1"])
        .add("h2", ["h1"], ["c"])
        .add("h3", ["h1"], ["d"])
    )
    hidden = stub_urn("from", ds("a"))
    nodes, edges = reached(graph, ds("a"))
    assert nodes == {ds("a"): 0, hidden: 0, ds("c"): 1, ds("d"): 1}
    assert edges == {
        Edge(ds("a"), hidden, "FEEDS"),
        Edge(hidden, ds("c"), "PRODUCED"),
        Edge(hidden, ds("d"), "PRODUCED"),
    }
    up, _ = reached(graph, ds("c"), upstream=True)
    assert set(up) == {
        ds("c"),
        ds("a"),
        ds("b"),
        stub_urn("from", ds("a")),
        stub_urn("from", ds("b")),
    }


def test_a_hidden_cycle_ends() -> None:
    graph = LineageModel().add("h1", ["a", "h2"], ["h1"]).add("h2", ["h1"], ["h2", "b"])
    hidden = stub_urn("from", ds("a"))
    assert reached(graph, ds("a"))[0] == {ds("a"): 0, hidden: 0, ds("b"): 1}
    assert reached(LineageModel().add("h", ["a"], ["a"]), ds("a")) == (
        {ds("a"): 0, hidden: 0},
        {Edge(ds("a"), hidden, "FEEDS"), Edge(hidden, ds("a"), "PRODUCED")},
    )


@pytest.mark.parametrize("roots", [1, 2, 5])
def test_hidden_roots_and_leaves_are_one_stub_each(roots: int) -> None:
    graph = LineageModel().add("load", [f"h{number}" for number in range(roots)], ["a"])
    graph.add("send", ["a"], [f"hout{number}" for number in range(roots)])
    root, leaf = stub_urn("to", job("load")), stub_urn("from", job("send"))
    up = reached(graph, ds("a"), upstream=True)
    assert up[1] == {Edge(root, job("load"), "FEEDS"), Edge(job("load"), ds("a"), "PRODUCED")}
    down = reached(graph, ds("a"))
    assert down[1] == {Edge(ds("a"), job("send"), "FEEDS"), Edge(job("send"), leaf, "PRODUCED")}
    assert not graph.restricted().traverse(ds("a")).truncated


def test_a_hidden_root_beside_a_visible_source_is_not_shown() -> None:
    """Another hidden source of the node must not change the answer."""
    plain = LineageModel().add("h", ["a"], ["h1"]).add("h1", ["h1"], ["b"])
    more = (
        LineageModel()
        .add("h", ["a", "h2"], ["h1"])
        .add("h1", ["h1", "h3"], ["b"])
        .add("h4", ["h4"], ["b"])
    )
    assert reached(plain, ds("b"), upstream=True) == reached(more, ds("b"), upstream=True)


def test_separate_derivations_of_a_hidden_job_stay_separate() -> None:
    one = (
        LineageModel()
        .add("h", ["a", "b"], ["x", "y"], {"x": ["a"], "y": ["b"]})
        .add("in", ["s"], ["a", "b"])
    )
    two = (
        LineageModel().add("h1", ["a"], ["x"]).add("h2", ["b"], ["y"]).add("in", ["s"], ["a", "b"])
    )
    assert reached(one, ds("s")) == reached(two, ds("s"))
    assert Edge(stub_urn("from", ds("a")), ds("y"), "PRODUCED") not in reached(one, ds("s"))[1]


@pytest.mark.parametrize("length", [1, 2, 4])
def test_jobs_that_feed_hidden_jobs(length: int) -> None:
    graph = LineageModel().add("x", ["a"], ["b"]).add("y", ["c"], ["d"])
    names = [job("x"), *(job(f"h{number}") for number in range(length)), job("y")]
    graph.inputs.update({name: set() for name in names[1:-1]})
    graph.feeds.update(pairwise(names))
    hidden = stub_urn("from", job("x"))
    nodes, edges = reached(graph, ds("a"))
    assert nodes == {ds("a"): 0, job("x"): 1, ds("b"): 1, hidden: 1, job("y"): 2, ds("d"): 2}
    assert {Edge(job("x"), hidden, "PRODUCED"), Edge(hidden, job("y"), "FEEDS")} <= edges


def test_a_filter_applies_to_visible_nodes_only() -> None:
    graph = (
        LineageModel()
        .add("x", ["a2"], ["h1"])
        .add("h", ["h1"], ["b2", "b3"])
        .add("y2", ["b2"], ["c2"])
    )
    shown = graph.restricted().traverse(ds("a2"), filter=Filter(tags=("even",)))
    hidden = stub_urn("from", job("x"))
    assert shown.nodes == {
        ds("a2"): 0,
        job("x"): 1,
        hidden: 1,
        ds("b2"): 2,
        job("y2"): 3,
        ds("c2"): 3,
    }
    assert Edge(hidden, ds("b3"), "PRODUCED") not in shown.edges


def test_bounds_count_visible_nodes_only() -> None:
    graph = LineageModel().add("x", ["a"], [f"h{number}" for number in range(50)])
    for number in range(50):
        graph.add(f"h{number}", [f"h{number}"], ["b"])
    traversal: Traversal = graph.restricted().traverse(ds("a"), nodes_max=3)
    assert (set(traversal.nodes), traversal.truncated) == (
        {ds("a"), job("x"), ds("b"), stub_urn("from", job("x"))},
        "",
    )


def test_no_property_of_a_hidden_node_is_returned() -> None:
    graph = (
        LineageModel()
        .add("x", ["a"], ["hsecret"])
        .add("hsecret", ["hsecret"], ["b", "hsecret2"])
        .add("y", ["b"], ["c"])
    )
    for depth in (1, 2, 50):
        traversal = graph.restricted().traverse(ds("a"), depth=depth)
        assert "secret" not in repr(
            (
                traversal.nodes,
                traversal.edges,
                traversal.resume_points,
                traversal.omitted_neighbours,
            )
        )
