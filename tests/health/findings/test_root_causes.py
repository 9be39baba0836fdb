"""Roots: the furthest cause, a forest, and the same whatever part is worked out again."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from headwater.health.findings.root_causes import Interval, find_roots
from headwater.health.findings.rules import RULES
from tests.health.findings.builders import at

# raw -> load -> clean -> build -> mart
CHAIN = ("dataset:db:raw", "job:s:load", "dataset:db:clean", "job:s:build", "dataset:db:mart")


def hops_of(chain: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return the hops upstream along a chain; a job and the dataset before it are one hop."""
    return {
        node: {
            other: (index - earlier + 1) // 2 for earlier, other in enumerate(chain[: index + 1])
        }
        for index, node in enumerate(chain)
    }


def interval(
    rule: str, subject: str, first: float, end: float | None = None, key: str = "1"
) -> Interval:
    return Interval(
        f"finding:{rule}:{subject}@{key}",
        rule,
        subject,
        at(first),
        None if end is None else at(end),
    )


def roots(*found: Interval) -> dict[str, str]:
    return find_roots(found, hops_of(CHAIN), {}, {})


STALE = interval("stale-source", "dataset:db:raw", 0)
MISSING = interval("missing-run", "job:s:load", 5)
OVERDUE = interval("stale-dataset", "dataset:db:clean", 10)
FAILED = interval("failed-run", "job:s:build", 12)


def test_a_chain_of_causes_ends_at_the_furthest() -> None:
    found = roots(STALE, MISSING, OVERDUE, FAILED)
    assert found == dict.fromkeys([STALE.id, MISSING.id, OVERDUE.id, FAILED.id], STALE.id)


def test_without_overlap_in_time_there_is_no_cause() -> None:
    over = interval("stale-source", "dataset:db:raw", 0, 4)
    assert roots(over, MISSING)[MISSING.id] == MISSING.id
    just = interval("stale-source", "dataset:db:raw", 0, 5)
    assert roots(just, MISSING)[MISSING.id] == just.id


def test_a_rule_that_explains_nothing_is_no_cause() -> None:
    unused = interval("unused-dataset", "dataset:db:raw", 0)
    assert roots(unused, FAILED)[FAILED.id] == FAILED.id


def test_a_cause_downstream_is_no_cause() -> None:
    later = interval("stale-dataset", "dataset:db:mart", 1)
    assert roots(later, MISSING) == {later.id: MISSING.id, MISSING.id: MISSING.id}


def test_of_two_causes_at_one_distance_the_first_counts() -> None:
    first = interval("failed-run", "job:s:load", 3, key="b")
    second = interval("missing-run", "job:s:load", 4, key="a")
    # Each may have caused the other, so the one that began first is the root of both.
    assert roots(second, first, OVERDUE) == dict.fromkeys(
        [first.id, second.id, OVERDUE.id], first.id
    )


def test_nodes_that_feed_each_other_have_one_root() -> None:
    one = interval("failed-run", "job:s:a", 2)
    two = interval("failed-run", "job:s:b", 1)
    hops = {"job:s:a": {"job:s:a": 0, "job:s:b": 1}, "job:s:b": {"job:s:b": 0, "job:s:a": 1}}
    assert find_roots([one, two], hops, {}, {}) == {one.id: two.id, two.id: two.id}


NODES = tuple(f"dataset:db:{index}" for index in range(5))
EDGES = [(a, b) for a in range(5) for b in range(5) if a != b]


def upstream_of(edges: list[tuple[int, int]]) -> dict[str, dict[str, int]]:
    """Return the hops upstream in any graph of five nodes, also one with circles."""
    hops = {node: {node: 0} for node in NODES}
    for _ in NODES:
        for before, after in edges:
            for node, distance in list(hops[NODES[before]].items()):
                known = hops[NODES[after]].get(node, 99)
                hops[NODES[after]][node] = min(known, distance + 1)
    return hops


INTERVALS = st.lists(
    st.builds(
        lambda rule, node, first, length, key: interval(
            rule, NODES[node], first, None if length is None else first + length, key
        ),
        st.sampled_from(
            ["failed-run", "missing-run", "stale-dataset", "row-count", "schema-drift"]
        ),
        st.integers(0, 4),
        st.integers(0, 20),
        st.none() | st.integers(0, 10),
        st.sampled_from("ab"),
    ),
    unique_by=lambda one: one.id,
    max_size=12,
)


@given(INTERVALS, st.lists(st.sampled_from(EDGES), unique=True), st.randoms(), st.data())
def test_roots_are_a_forest_and_need_not_be_worked_out_at_once(
    found: list[Interval], edges: list[tuple[int, int]], random: Random, data: st.DataObject
) -> None:
    upstream = upstream_of(edges)
    expected = find_roots(found, upstream, {}, {})
    assert expected.keys() == {one.id for one in found}
    assert all(expected[root] == root for root in expected.values())
    shuffled = list(found)
    random.shuffle(shuffled)
    assert find_roots(shuffled, upstream, {}, {}) == expected
    # A part that holds everything downstream of it gives the same, from the roots of the others.
    start = data.draw(st.sampled_from(NODES))
    part = [one for one in found if start in upstream[one.subject]]
    others = {one.id: one for one in found if one not in part}
    known = {urn: expected[urn] for urn in others}
    again = find_roots(part, upstream, known, others)
    assert again == {one.id: expected[one.id] for one in part}


def test_every_cause_is_a_rule() -> None:
    for rule in RULES.values():
        assert rule.causes <= RULES.keys()
    assert all(before < after for before, after in pairwise(sorted(RULES)))
