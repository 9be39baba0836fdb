"""A topological order in steps: nodes of one step do not depend on each other.

The nodes of a cycle form one group, which stands in one step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

Successors = Mapping[str, Collection[str]]
Group = tuple[str, ...]


def strongly_connected_components(nodes: Iterable[str], successors: Successors) -> list[Group]:
    """Return the nodes by cycle, each group sorted; a group follows all groups it leads to.

    A node outside all cycles is a group by itself. The algorithm is that of Tarjan ("Depth-First
    Search and Linear Graph Algorithms", 1972), without recursion, because a chain may be long.
    """
    search = _DepthFirstSearch(nodes, successors)
    for root in search.nodes:
        if root not in search.number:
            search.run(root)
    return search.groups


class _DepthFirstSearch:
    """The state of Tarjan's algorithm."""

    def __init__(self, nodes: Iterable[str], successors: Successors) -> None:
        self.nodes = dict.fromkeys(nodes)
        self.groups: list[Group] = []
        # Node -> the order of its discovery.
        self.number: dict[str, int] = {}
        # Node -> the smallest number that it reaches among the nodes without a group.
        self._lowest: dict[str, int] = {}
        # The discovered nodes without a group, in the order of discovery.
        self._open: dict[str, None] = {}
        self._successors = successors

    def run(self, root: str) -> None:
        """Search from one node until every node below it has a group."""
        path = [(root, self._discover(root))]
        while path:
            node, rest = path[-1]
            following = next(
                (other for other in rest if other not in self.number or other in self._open), None
            )
            if following is None:
                path.pop()
                if path:
                    parent = path[-1][0]
                    self._lowest[parent] = min(self._lowest[parent], self._lowest[node])
                if self._lowest[node] == self.number[node]:
                    self.groups.append(self._close(node))
            elif following in self.number:
                self._lowest[node] = min(self._lowest[node], self.number[following])
            else:
                path.append((following, self._discover(following)))

    def _discover(self, node: str) -> Iterator[str]:
        """Number a node; return its successors."""
        self.number[node] = self._lowest[node] = len(self.number)
        self._open[node] = None
        return iter(
            sorted(other for other in self._successors.get(node, ()) if other in self.nodes)
        )

    def _close(self, node: str) -> Group:
        """Take the group that begins with a node from the open nodes."""
        members = [node]
        while (last := self._open.popitem()[0]) != node:
            members.append(last)
        return tuple(sorted(members))


def parallel_steps(nodes: Iterable[str], successors: Successors) -> list[list[Group]]:
    """Return the groups in steps: each in the first step after all groups that lead to it."""
    groups = strongly_connected_components(nodes, successors)
    group_of: dict[str, Group] = {}
    for group in groups:
        group_of.update(dict.fromkeys(group, group))
    level: dict[Group, int] = dict.fromkeys(groups, 0)
    for group in reversed(groups):
        for node in group:
            for following in successors.get(node, ()):
                other = group_of.get(following, group)
                if other != group:
                    level[other] = max(level[other], level[group] + 1)
    by_level: dict[int, list[Group]] = defaultdict(list)
    for group in groups:
        by_level[level[group]].append(group)
    return [sorted(by_level[number]) for number in sorted(by_level)]
