"""A trace as a tree: the answer at the root, the sources of each node below it.

A node is expanded at its first occurrence; further occurrences are only named (`repeated`). So a
graph with diamonds has at most one branch more than it has edges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from headwater.lineage.hidden_nodes import Edge


class Branch(NamedTuple):
    """One occurrence of a node in the tree.

    `parent` is the index of the branch above, -1 for the root. `type` is the type of the edge from
    this node to the node above. `repeated`: the node is expanded at another branch.
    """

    urn: str
    depth: int
    parent: int
    type: str
    repeated: bool


def trace_tree(root: str, edges: Iterable[Edge]) -> list[Branch]:
    """Return the branches in preorder: each before those below it, siblings by urn."""
    incoming: dict[str, list[Edge]] = defaultdict(list)
    for edge in sorted(set(edges), reverse=True):
        incoming[edge.target].append(edge)
    branches: list[Branch] = []
    expanded: set[str] = set()
    stack = [(root, 0, -1, "")]
    while stack:
        urn, depth, parent, type = stack.pop()
        branches.append(Branch(urn, depth, parent, type, urn in expanded))
        if urn not in expanded:
            expanded.add(urn)
            index = len(branches) - 1
            stack.extend((edge.source, depth + 1, index, edge.type) for edge in incoming[urn])
    return branches
