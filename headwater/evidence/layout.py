"""A small layered layout: every node in the column of its rank, ordered so that few edges cross.

The rank of a node is the longest way to it from a node that nothing feeds, where an edge that would close a cycle does
not count. Within a rank the nodes are ordered by the mean position of their neighbours (their barycentre), to and fro a
few times. The same graph always comes out the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

SWEEPS = 6
Pair = tuple[str, str]


def layered(nodes: Iterable[str], edges: Iterable[Pair]) -> dict[str, tuple[int, int]]:
    """Where each node stands: (rank, place within it), both from 0."""
    known = sorted(set(nodes))
    inside = set(known)
    pairs = sorted(
        {
            (source, target)
            for source, target in edges
            if {source, target} <= inside and source != target
        }
    )
    forward = _without_cycles(known, pairs)
    ranks = _ranks(known, forward)
    return _ordered(known, forward, ranks)


def _without_cycles(nodes: Sequence[str], pairs: Sequence[Pair]) -> list[Pair]:
    """The edges but for those that lead back to a node whose walk is not done yet."""
    onward: dict[str, list[str]] = defaultdict(list)
    for source, target in pairs:
        onward[source].append(target)
    targets = {target for _, target in pairs}
    kept: list[Pair] = []
    done: set[str] = set()
    # What nothing feeds comes first, so that cycles are opened where data enters them.
    for start in sorted(nodes, key=lambda node: (node in targets, node)):
        under_way: dict[str, int] = {} if start in done else {start: 0}
        path = list(under_way)
        while path:
            node = path[-1]
            if under_way[node] == len(onward[node]):
                done.add(path.pop())
                del under_way[node]
                continue
            target = onward[node][under_way[node]]
            under_way[node] += 1
            if target in under_way:
                continue
            kept.append((node, target))
            if target not in done:
                under_way[target] = 0
                path.append(target)
    return kept


def _ranks(nodes: Sequence[str], forward: Sequence[Pair]) -> dict[str, int]:
    waits = dict.fromkeys(nodes, 0)
    onward: dict[str, list[str]] = defaultdict(list)
    for source, target in forward:
        onward[source].append(target)
        waits[target] += 1
    ranks = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not waits[node]]
    while ready:
        node = ready.pop()
        for target in onward[node]:
            ranks[target] = max(ranks[target], ranks[node] + 1)
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    return ranks


def _ordered(
    nodes: Sequence[str], forward: Sequence[Pair], ranks: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    before: dict[str, list[str]] = defaultdict(list)
    after: dict[str, list[str]] = defaultdict(list)
    for source, target in forward:
        before[target].append(source)
        after[source].append(target)
    rows: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        rows[ranks[node]].append(node)
    place = {node: float(index) for row in rows.values() for index, node in enumerate(row)}
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for rank in sorted(rows, reverse=sweep % 2 == 1):
            rows[rank].sort(key=_barycentre(neighbours, place))
            place.update({node: float(index) for index, node in enumerate(rows[rank])})
    return {node: (rank, index) for rank, row in rows.items() for index, node in enumerate(row)}


def _barycentre(
    neighbours: Mapping[str, list[str]], place: Mapping[str, float]
) -> Callable[[str], tuple[float, float, str]]:
    def key(node: str) -> tuple[float, float, str]:
        beside = [place[other] for other in neighbours.get(node, ())]
        mean = sum(beside) / len(beside) if beside else place[node]
        return mean, place[node], node

    return key
