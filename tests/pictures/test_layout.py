"""The layered layout: ranks and positions worked out by hand, and its laws on any graph."""

from __future__ import annotations

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.pictures.layout import layered_layout

Edges = list[tuple[str, str]]


def test_a_chain_goes_from_left_to_right() -> None:
    assert layered_layout("abc", [("b", "c"), ("a", "b")]) == {
        "a": (0, 0),
        "b": (1, 0),
        "c": (2, 0),
    }


def test_a_diamond_with_a_longer_side_takes_the_longest_path() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "e")]
    ranks = {node: rank for node, (rank, _) in layered_layout("abcde", edges).items()}
    assert ranks == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 1}


def test_two_chains_do_not_cross() -> None:
    # By name x1 comes before x2; their sources are named the other way round.
    positions = layered_layout(["a", "b", "x1", "x2"], [("b", "x1"), ("a", "x2")])
    assert (positions["a"][1] < positions["b"][1]) == (positions["x2"][1] < positions["x1"][1])


def test_a_cycle_is_cut_where_data_enters_it() -> None:
    positions = layered_layout("sabc", ["sb", "bc", "ca", "ab"])  # type: ignore[list-item]
    assert {node: rank for node, (rank, _) in positions.items()} == {"s": 0, "b": 1, "c": 2, "a": 3}


def test_empty_graph_and_self_loop() -> None:
    assert layered_layout([], []) == {}
    assert layered_layout(["a"], [("a", "a"), ("a", "elsewhere")]) == {"a": (0, 0)}


def test_a_long_chain_needs_no_recursion() -> None:
    names = [f"{number:05}" for number in range(5_000)]
    assert layered_layout(names, list(itertools.pairwise(names)))["04999"] == (4_999, 0)


graphs = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh")), max_size=20)


@settings(deadline=None)
@given(edges=graphs, seed=st.integers(0, 100))
def test_every_node_has_its_own_position_in_any_order_of_input(edges: Edges, seed: int) -> None:
    nodes = list("abcdefgh")
    positions = layered_layout(nodes, edges)
    assert positions.keys() == set(nodes)
    assert len(set(positions.values())) == len(nodes)
    shuffled = random.Random(seed).sample(edges, len(edges))
    assert layered_layout(reversed(nodes), shuffled) == positions


@settings(deadline=None)
@given(edges=graphs)
def test_without_cycles_every_edge_goes_to_the_right(edges: Edges) -> None:
    acyclic = [(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]]
    positions = layered_layout("abcdefgh", acyclic)
    assert all(positions[source][0] < positions[target][0] for source, target in acyclic)
