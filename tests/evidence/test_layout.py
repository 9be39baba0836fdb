"""The layered layout: ranks and places worked out by hand, and its laws on any graph."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.evidence.layout import layered

Edges = list[tuple[str, str]]


def test_a_chain_goes_from_left_to_right() -> None:
    assert layered("abc", [("b", "c"), ("a", "b")]) == {"a": (0, 0), "b": (1, 0), "c": (2, 0)}


def test_a_diamond_with_a_longer_side_takes_the_longest_way() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "e")]
    ranks = {node: rank for node, (rank, _) in layered("abcde", edges).items()}
    assert ranks == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 1}


def test_two_chains_do_not_cross() -> None:
    # By name x1 comes before x2; what feeds them is named the other way round.
    places = layered(["a", "b", "x1", "x2"], [("b", "x1"), ("a", "x2")])
    assert (places["a"][1] < places["b"][1]) == (places["x2"][1] < places["x1"][1])


def test_a_cycle_is_opened_where_data_enters_it() -> None:
    places = layered("sabc", ["sb", "bc", "ca", "ab"])  # type: ignore[list-item]
    assert {node: rank for node, (rank, _) in places.items()} == {"s": 0, "b": 1, "c": 2, "a": 3}


def test_nothing_one_node_and_a_node_that_feeds_itself() -> None:
    assert layered([], []) == {}
    assert layered(["a"], [("a", "a"), ("a", "elsewhere")]) == {"a": (0, 0)}


def test_a_long_chain_needs_no_recursion() -> None:
    names = [f"{number:05}" for number in range(5_000)]
    assert layered(names, list(itertools.pairwise(names)))["04999"] == (4_999, 0)


graphs = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=20)


@settings(deadline=None)
@given(edges=graphs, seed=st.integers(0, 100))
def test_every_node_has_a_place_of_its_own_however_the_graph_is_told(
    edges: Edges, seed: int
) -> None:
    nodes = list("abcdefgh")
    places = layered(nodes, edges)
    assert places.keys() == set(nodes)
    assert len(set(places.values())) == len(nodes)
    shuffled = random.Random(seed).sample(edges, len(edges))
    assert layered(reversed(nodes), shuffled) == places


@settings(deadline=None)
@given(edges=graphs)
def test_without_cycles_every_edge_goes_to_the_right(edges: Edges) -> None:
    acyclic = [(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]]
    places = layered("abcdefgh", acyclic)
    assert all(places[source][0] < places[target][0] for source, target in acyclic)
