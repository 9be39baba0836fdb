"""Topological orders, worked out by hand and by their laws."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from headwater.lineage.questions.topological_order import (
    parallel_steps,
    strongly_connected_components,
)

THINGS = [str(n) for n in range(8)]
EDGES = st.sets(st.tuples(st.sampled_from(THINGS), st.sampled_from(THINGS)), max_size=24)


def adjacency(edges: set[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for source, target in edges:
        found.setdefault(source, set()).add(target)
    return found


def reached(start: str, edges: set[tuple[str, str]]) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        fresh = {target for source, target in edges if source == here} - found
        found |= fresh
        waiting.extend(fresh)
    return found


def test_a_diamond_and_a_circle() -> None:
    edges = {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e"), ("e", "d"), ("e", "f")}
    assert parallel_steps("fedcba", adjacency(edges)) == [
        [("a",)],
        [("b",), ("c",)],
        [("d", "e")],
        [("f",)],
    ]


def test_the_longest_path_sets_the_step() -> None:
    assert parallel_steps("abc", {"a": ["b", "c"], "b": ["c"]}) == [[("a",)], [("b",)], [("c",)]]


def test_no_nodes_and_edges_to_other_nodes() -> None:
    assert parallel_steps([], {}) == []
    assert parallel_steps(["a"], {"a": ["a", "elsewhere"]}) == [[("a",)]]


def test_a_very_long_chain() -> None:
    chain = {str(n): [str(n + 1)] for n in range(50_000)}
    assert len(parallel_steps([str(n) for n in range(50_001)], chain)) == 50_001


@given(EDGES)
def test_a_group_is_a_strongly_connected_component(edges: set[tuple[str, str]]) -> None:
    found = strongly_connected_components(THINGS, adjacency(edges))
    assert sorted(chain(*found)) == THINGS
    for group in found:
        for thing in group:
            mutual = {other for other in reached(thing, edges) if thing in reached(other, edges)}
            assert mutual == set(group)


@given(EDGES)
def test_every_step_is_the_first_possible(edges: set[tuple[str, str]]) -> None:
    found = parallel_steps(THINGS, adjacency(edges))
    step: dict[str, int] = {}
    for number, parallel in enumerate(found):
        step.update(dict.fromkeys(chain(*parallel), number))
    group_of = {}
    for group in chain(*found):
        group_of.update(dict.fromkeys(group, group))
    for source, target in edges:
        assert step[source] < step[target] or group_of[source] == group_of[target]
    for group in set(group_of.values()):
        before = [
            step[source] for source, target in edges if target in group and source not in group
        ]
        assert step[group[0]] == max(before, default=-1) + 1
