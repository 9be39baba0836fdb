"""A small layered layout: each node in the column of its rank, in an order with few crossings.

The rank of a node is the longest path to it from a node without predecessors; an edge that closes
a cycle does not count. Within a rank, nodes are ordered by the mean position of their neighbours
(the barycentre heuristic of Sugiyama, Tagawa and Toda, 1981), in a few alternating sweeps. The
result depends on the graph alone, not on the order of its nodes and edges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

SWEEPS = 6
Pair = tuple[str, str]
Position = tuple[int, int]


def layered_layout(nodes: Iterable[str], edges: Iterable[Pair]) -> dict[str, Position]:
    """Return the position of each node: its rank and its index within the rank, both from 0."""
    names = sorted(set(nodes))
    name_set = set(names)
    pairs = sorted(
        {
            (source, target)
            for source, target in edges
            if {source, target} <= name_set and source != target
        }
    )
    forward = _without_back_edges(names, pairs)
    ranks = _ranks(names, forward)
    return _order(names, forward, ranks)


def _without_back_edges(nodes: Sequence[str], pairs: Sequence[Pair]) -> list[Pair]:
    """Return the edges of a depth-first search except those that lead back to an open node."""
    targets_of: dict[str, list[str]] = defaultdict(list)
    for source, target in pairs:
        targets_of[source].append(target)
    with_sources = {target for _, target in pairs}
    forward: list[Pair] = []
    done: set[str] = set()
    # Nodes without predecessors come first, so that a cycle is cut where data enters it.
    for start in sorted(nodes, key=lambda node: (node in with_sources, node)):
        # Open node -> the index of its next edge.
        open_nodes: dict[str, int] = {} if start in done else {start: 0}
        path = list(open_nodes)
        while path:
            node = path[-1]
            if open_nodes[node] == len(targets_of[node]):
                done.add(path.pop())
                del open_nodes[node]
                continue
            target = targets_of[node][open_nodes[node]]
            open_nodes[node] += 1
            if target in open_nodes:
                continue
            forward.append((node, target))
            if target not in done:
                open_nodes[target] = 0
                path.append(target)
    return forward


def _ranks(nodes: Sequence[str], forward: Sequence[Pair]) -> dict[str, int]:
    in_degree = dict.fromkeys(nodes, 0)
    targets_of: dict[str, list[str]] = defaultdict(list)
    for source, target in forward:
        targets_of[source].append(target)
        in_degree[target] += 1
    ranks = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not in_degree[node]]
    while ready:
        node = ready.pop()
        for target in targets_of[node]:
            ranks[target] = max(ranks[target], ranks[node] + 1)
            in_degree[target] -= 1
            if not in_degree[target]:
                ready.append(target)
    return ranks


def _order(
    nodes: Sequence[str], forward: Sequence[Pair], ranks: Mapping[str, int]
) -> dict[str, Position]:
    """Order the nodes within their ranks by the barycentre heuristic."""
    sources_of: dict[str, list[str]] = defaultdict(list)
    targets_of: dict[str, list[str]] = defaultdict(list)
    for source, target in forward:
        sources_of[target].append(source)
        targets_of[source].append(target)
    columns: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        columns[ranks[node]].append(node)
    index: dict[str, int] = {}
    for column in columns.values():
        index.update(_indices(column))
    for abandon_lost_heartbeats in range(SWEEPS):
        is_forward = abandon_lost_heartbeats % 2 == 0
        neighbours = sources_of if is_forward else targets_of
        for rank in sorted(columns, reverse=not is_forward):
            columns[rank].sort(key=_barycentre(neighbours, index))
            index.update(_indices(columns[rank]))
    return {node: (ranks[node], index[node]) for node in nodes}


def _indices(column: Sequence[str]) -> dict[str, int]:
    return {node: index for index, node in enumerate(column)}


def _barycentre(
    neighbours: Mapping[str, list[str]], index: Mapping[str, int]
) -> Callable[[str], tuple[float, int, str]]:
    def key(node: str) -> tuple[float, int, str]:
        indices = [index[other] for other in neighbours.get(node, ())]
        mean = sum(indices) / len(indices) if indices else index[node]
        return mean, index[node], node

    return key
