"""A trace as a tree: the answer first, and below each node what it came from.

A node is unfolded where it is first met, and only named where it is met again
(`repeated`), so that diamonds cannot blow it up: there are as many branches as edges, and one more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from headwater.lineage.traversal.bfs import Edge


class Branch(NamedTuple):
    """One place in the tree. `parent` is the index of the branch above, -1 for the root; `type` is that of the edge
    which leads from it to the branch above; `repeated`: what it came from stands elsewhere."""

    urn: str
    depth: int
    parent: int
    type: str
    repeated: bool


def trace_tree(root: str, edges: Iterable[Edge]) -> list[Branch]:
    """The branches in preorder: each before what is below it, those below one node by urn."""
    behind: dict[str, list[Edge]] = defaultdict(list)
    for edge in sorted(set(edges), reverse=True):
        behind[edge.target].append(edge)
    branches: list[Branch] = []
    unfolded: set[str] = set()
    waiting = [(root, 0, -1, "")]
    while waiting:
        urn, depth, parent, type = waiting.pop()
        branches.append(Branch(urn, depth, parent, type, urn in unfolded))
        if urn not in unfolded:
            unfolded.add(urn)
            waiting.extend(
                (edge.source, depth + 1, len(branches) - 1, edge.type) for edge in behind[urn]
            )
    return branches
