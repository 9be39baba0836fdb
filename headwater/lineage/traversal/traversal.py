"""One walk over the graph, step by step: what it has reached, what it shows of that, and from where it can go on.

The steps from a node have an order, in which what can be seen comes first and goes by its name. A walk that is cut
short tells of the nodes from which it can go on the step that would have been the next (`unfinished`), and one that is
given such marks takes only the steps from there on.

A way through what may not be seen is one hop, however long it is. It is followed to its ends before any of them is
shown, they are shown in the order of their names, and no bound but that on time and rows counts what is hidden: so
neither what a walk shows nor where it is cut short tells how things hang together out of sight.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from headwater.lineage.hidden_nodes import Edge, inside, is_inside, with_stubs
from headwater.lineage.traversal.adjacency import PROCESSES, Neighbours

# The step from a node that is to be taken next: what kind, and over which nodes that are seen. (0, cited),
# (1, process, place), (2, other), or (3, where it comes back into sight) for one that leads out of it. The empty mark
# comes before all steps, `HIDDEN_ONLY` after all that stay in sight.
Mark = tuple[int | str, ...]
HIDDEN_ONLY: Mark = (3,)


class Bounds(NamedTuple):
    """How far a walk may go. `deadline` is a reading of time.monotonic()."""

    depth: int
    nodes_max: float
    edges_max: float
    deadline: float

    @classmethod
    def within(cls, seconds: float, *, depth: int, nodes_max: int, edges_max: int) -> Bounds:
        return cls(depth, nodes_max, edges_max, time.monotonic() + seconds)


@dataclass
class Walk:
    """One walk: the nodes reached, each with the hops it took, and the edges crossed."""

    frontier: list[str]
    known: Neighbours
    bounds: Bounds
    marks: Mapping[str, Mark] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    edges: set[Edge] = field(default_factory=set)
    truncated: str = ""
    hop: int = 0
    # The nodes from which it can go on, and for each the nodes next to it that it knows of and does not show.
    unfinished: dict[str, Mark] = field(default_factory=dict)
    beyond: dict[str, set[str]] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    _seen: list[int] = field(default_factory=lambda: [0, 0])
    _opened: set[str] = field(default_factory=set)
    _expanded: set[str] = field(default_factory=set)
    # Of this hop: whether it is at its frontier still, where ways come back into sight, where no more, what jobs are
    # entered so, before which such place it does not begin, and what is not gone on from.
    _is_first: bool = True
    _leaving: set[str] = field(default_factory=set)
    _coming: list[tuple[str, str, str]] = field(default_factory=list)
    _entries: dict[str, set[str]] = field(default_factory=dict)
    _outside: set[str] = field(default_factory=set)
    _surfaced: str = ""
    _is_closing: bool = False
    _left: list[str] = field(default_factory=list)
    _waiting: set[str] = field(default_factory=set)
    _is_marked: bool = False

    def __post_init__(self) -> None:
        self.frontier = list(dict.fromkeys(self.frontier))
        self.nodes.update(dict.fromkeys(self.frontier, 0))
        self._seen[0] = len(self.nodes)
        self._is_marked = any(self.marks.values())

    @property
    def upstream(self) -> bool:
        return self.known.layer.upstream

    def cite(self) -> list[str]:
        """Follow the citations at the frontier; returns what they newly lead to, now part of the frontier."""
        before = len(self.frontier)
        for urn in list(self.frontier):
            for cited in self._in_order(self.known.cited.get(urn, ())):
                self._step(urn, urn, cited, "CITED_BY", (0, cited), is_within=False)
        return self.frontier[before:]

    def begin(self) -> None:
        """The frontier is behind, one hop begins."""
        self.hop += 1
        self.pending, self.frontier = self.frontier, []
        self._is_first = True
        marks = [self.marks[urn] for urn in self.pending if urn in self.marks]
        self._surfaced = next(
            (str(mark[1]) for mark in marks if mark[0:1] == (3,) and len(mark) > 1), ""
        )

    def expand(self) -> None:
        """What lies behind the pending nodes: the next frontier, and where a way goes on out of sight more pending."""
        pending, self.pending = self.pending, []
        if not (self.known.unseen or self.known.refused or self._is_marked):
            pending = self._expand_plainly(pending)
        for urn in pending:
            is_seen = urn not in self.known.unseen
            if is_seen and urn in self._entries:
                self._cross_over(urn)
            elif is_seen and self.truncated:
                self._left.append(urn)
            elif urn not in self._expanded:
                self._expanded.add(urn)
                self._expand(urn)
        self._is_first = False
        if not self.pending:
            self._surface()

    def _surface(self) -> None:
        """Where ways out of sight come back into it. It waits until all of this hop are known and goes by the names of
        what is seen, so that where a bound cuts it short tells nothing of the ways."""
        coming, self._coming = sorted(self._coming, key=lambda way: (way[1], way)), []
        for near, far, type in coming:
            if far < self._surfaced:
                continue
            is_new = far not in self.nodes
            if is_new and (
                self.truncated
                or self._is_closing
                or not self._cross(near, far, type, (True, False))
            ):
                self.truncated = self.truncated or "depth"
                self._outside.add(far)
                continue
            self.edges.add(self._edge(near, far, type))
            if is_new:
                self.nodes[far] = self.hop
            if far.startswith(PROCESSES):
                self.pending.extend([far] if far not in self._entries else [])
                self._entries.setdefault(far, set()).add(near)
            elif is_new:
                self.frontier.append(far)

    def give_up(self, reason: str, begun: Iterable[str]) -> None:
        """Not everything next to these nodes is known."""
        if begun:
            self._left.extend(urn for urn in begun if urn not in self.known.unseen)
            self.truncated = self.truncated or reason

    def close(self) -> None:
        """The walk is over: where ways out of sight that it came to lead to what it shows is shown, and no more."""
        self._is_closing = True
        # Where ways come back that begin only now, a mark of those before says nothing of.
        self._surfaced = ""
        self.pending = [urn for urn in self.frontier if urn in self.known.unseen]
        self.frontier = [urn for urn in self.frontier if urn not in self.known.unseen]

    def _expand_plainly(self, pending: list[str]) -> list[str]:
        """The same as `_expand`, and in the same order, where nothing is hidden or left out or was walked before: most
        of a large map is so, and this takes a fifth of the time. Where a bound is near, or a job feeds another, it
        goes step by step. Those it did not come to."""
        known, nodes, edges, frontier, opened = (
            self.known,
            self.nodes,
            self.edges,
            self.frontier,
            self._opened,
        )
        into, out, hop, upstream = self._in, self._out, self.hop, self.upstream
        nodes_max, edges_max = self.bounds.nodes_max, self.bounds.edges_max
        new = tuple.__new__
        for index, urn in enumerate(pending):
            if self.truncated:
                return pending[index:]
            if urn in self._expanded:
                continue
            self._expanded.add(urn)
            if urn in known.behind or urn in known.hops:
                self._seen = [len(nodes), len(edges)]
                self._expand(urn)
                continue
            for process in self._in_order(known.onward.get(urn, ())):
                ways = known.narrow.get((urn, process), ())
                is_opened = process not in opened and (urn, process) not in known.closed
                if is_opened:
                    ways = (*ways, *known.open.get(process, ()))
                more = len(ways) + 1
                if (
                    process in known.hops
                    or len(nodes) + more > nodes_max
                    or len(edges) + more > edges_max
                ):
                    self._seen = [len(nodes), len(edges)]
                    self._enter(urn, process)
                    continue
                if is_opened:
                    opened.add(process)
                edges.add(new(Edge, (process, urn, into) if upstream else (urn, process, into)))
                if process not in nodes:
                    nodes[process] = hop
                for far in sorted(set(ways)) if more > 2 else ways:
                    edges.add(new(Edge, (far, process, out) if upstream else (process, far, out)))
                    if far not in nodes:
                        nodes[far] = hop
                        frontier.append(far)
        self._seen = [len(nodes), len(edges)]
        return []

    def _expand(self, urn: str) -> None:
        for place in self._in_order(self.known.behind.get(urn, ())):
            self._step(urn, urn, place, self._out, (1, place, ""), is_within=True)
        for process in self._in_order(self.known.onward.get(urn, ())):
            self._enter(urn, process)
        for other in self._in_order(self.known.hops.get(urn, ())):
            self._step(urn, urn, other, "FEEDS", (2, other), is_within=True)

    def _cross_over(self, process: str) -> None:
        """Cross a job or run that is in sight and that ways out of sight led to. It is crossed in the same hop: a way
        out of sight behind it is the next one."""
        known = self.known
        for far, type in self._ways_over(process):
            mark = (2, far) if type == "FEEDS" and far.startswith(PROCESSES) else (1, far, "")
            if not self._is_closing and not self.truncated:
                self._step(process, process, far, type, mark, is_within=False)
            elif process in self._expanded:
                # It was a start, and all its ways were looked at.
                continue
            elif far not in known.refused and self._edge(process, far, type) not in self.edges:
                self._left.append(process)
                self.truncated = self.truncated or "depth"

    def _ways_over(self, process: str) -> list[tuple[str, str]]:
        known = self.known
        ways = [(far, "FEEDS") for far in known.hops.get(process, ())]
        for near in self._entries.pop(process):
            is_whole = near.startswith(PROCESSES)
            ways += [(far, self._out) for far in known.narrow.get((near, process), ())]
            ways += [(far, self._out) for far in known.behind.get(process, ()) if is_whole]
            if not is_whole and (near, process) not in known.closed:
                ways += [(far, self._out) for far in known.open.get(process, ())]
        return sorted(set(ways), key=lambda way: (way[0] in known.unseen, way))

    def _enter(self, urn: str, process: str) -> None:
        """Cross a job or run from one place. One that is hidden is told apart by where it is entered, so that stubs
        join only what is joined."""
        known, is_hidden = self.known, process in self.known.unseen
        if urn in known.unseen and not is_hidden:
            self._step(urn, urn, process, self._in, (), is_within=True)
            return
        mark = None if is_hidden else self.marks.get(urn)
        if process in known.refused or (mark is not None and (1, process) < mark[:2]):
            return
        entry = inside(process, urn) if is_hidden else process
        whole = inside(process, "") if is_hidden else process
        self._step(urn, urn, entry, self._in, (1, process, ""), is_within=True, is_passed=True)
        ways = [(far, entry, self._out) for far in known.narrow.get((urn, process), ())]
        ways += [(far, entry, "FEEDS") for far in known.hops.get(process, ())]
        if (urn, process) not in known.closed:
            if is_hidden:
                self.edges.add(self._edge(entry, whole, self._in))
            if process not in self._opened:
                self._opened.add(process)
                ways += [(far, whole, self._out) for far in known.open.get(process, ())]
        for far, near, type in sorted(set(ways), key=lambda way: (way[0] in known.unseen, way)):
            self._step(urn, near, far, type, (1, process, far), is_within=is_hidden)
        if self.truncated:
            self._opened.discard(process)

    @property
    def _in(self) -> str:
        return "PRODUCED" if self.upstream else "FEEDS"

    @property
    def _out(self) -> str:
        return "FEEDS" if self.upstream else "PRODUCED"

    def _in_order(self, urns: Iterable[str]) -> list[str]:
        """What can be seen comes first, so that a mark can be put after it."""
        if not self.known.unseen:
            return sorted(set(urns))
        return sorted(set(urns), key=lambda urn: (urn in self.known.unseen, urn))

    def _step(
        self,
        root: str,
        near: str,
        far: str,
        type: str,
        mark: Mark,
        *,
        is_within: bool,
        is_passed: bool = False,
    ) -> None:
        """One edge further, on behalf of the node `root`. `is_within`: a way out of sight that begins or goes on here
        belongs to this hop; `is_passed`: what lies behind `far` is for the caller to go to."""
        known = self.known
        far_hidden, near_hidden = self._is_out(far), self._is_out(near)
        if far in known.refused or (self.truncated and root not in known.unseen):
            return
        if near_hidden and not far_hidden:
            self._coming.append((near, far, type))
            return
        if not far_hidden and self._is_behind(root, mark, is_passed):
            return
        is_new = far not in self.nodes and not is_inside(far)
        if not far_hidden and not self._cross(near, far, type, (is_new, True)):
            self.unfinished[root] = mark
            return
        self.edges.add(self._edge(near, far, type))
        if is_new:
            self.nodes[far] = self.hop
        if is_passed:
            return
        if far_hidden and is_within:
            self.pending.append(far)
        elif is_new:
            self.frontier.append(far)

    def _is_behind(self, root: str, mark: Mark, is_entry: bool) -> bool:
        """Whether a step was taken before this walk went on from its root."""
        return root in self.marks and not is_entry and mark < self.marks[root]

    def _cross(self, near: str, far: str, type: str, counts: tuple[bool, bool]) -> bool:
        """Add an edge unless a bound is met. `counts`: whether its end is a new node in sight, whether it is in sight
        as a whole."""
        edge = self._edge(near, far, type)
        is_more = counts[1] and edge not in self.edges
        if counts[0] and self._seen[0] >= self.bounds.nodes_max:
            self.truncated = "nodes"
        elif is_more and self._seen[1] >= self.bounds.edges_max:
            self.truncated = "edges"
        else:
            self._seen[0] += counts[0]
            self._seen[1] += is_more
            self.edges.add(edge)
        return not self.truncated

    def _is_out(self, urn: str) -> bool:
        return urn in self.known.unseen or is_inside(urn)

    def _edge(self, near: str, far: str, type: str) -> Edge:
        return Edge(far, near, type) if self.upstream else Edge(near, far, type)

    def ends(self) -> dict[str, Mark]:
        """The nodes from which it can go on, when it is cut short now."""
        waiting = [*self._left, *self.pending, *self.frontier]
        ends = {
            urn: self.marks.get(urn, ()) for urn in waiting if urn not in self.known.unseen
        } | self.unfinished
        if self._outside or self.known.exhausted:
            # Any way out of sight may lead to what is left out: which one does is not told.
            ways = [
                (e.target, e.source) if self.upstream else (e.source, e.target) for e in self.edges
            ]
            out = [near for near, far in ways if self._is_out(far) and not self._is_out(near)]
            outward = {near: mark for near in out if (mark := self._outward(near))}
            # One that has nothing left but ways out of sight goes on where these were cut short, and not where it was.
            ends = outward | {
                urn: mark
                for urn, mark in ends.items()
                if not HIDDEN_ONLY < mark < outward.get(urn, ())
            }
        return ends

    def _outward(self, urn: str) -> Mark:
        """From where its ways out of sight are to be gone on, not before where they were begun this time; the empty
        mark when nothing of that is left."""
        begun = self.marks.get(urn, ())
        first = str(begun[1]) if begun[:1] == HIDDEN_ONLY and len(begun) > 1 else ""
        left = sorted(far for far in self._outside if far >= first)
        return (3, *left[:1]) if left or self.known.exhausted else ()

    def ahead(self) -> Walk:
        """The same walk about to go on one hop from where it is, without bounds on what it shows."""
        ends = self.ends()
        frontier = [end for end, mark in ends.items() if mark[:1] != (3,)]
        ahead = Walk(
            [],
            self.known,
            self.bounds._replace(nodes_max=inf, edges_max=inf),
            {**self.marks, **ends},
        )
        ahead.nodes, ahead.edges, ahead.frontier = dict(self.nodes), set(self.edges), frontier
        ahead.hop = self.hop
        ahead._opened, ahead._expanded = set(self._opened), self._expanded - set(frontier)
        return ahead

    def compare(self, ahead: Walk) -> None:
        """Say what lies ahead: from which nodes there is more, and how much of it is next to what is shown."""
        ends = self.ends()
        new: dict[str, set[str]] = {}
        for edge in ahead.edges - self.edges:
            near, far = (edge.target, edge.source) if self.upstream else (edge.source, edge.target)
            new.setdefault(near, set()).add(far)
        more = {urn for urn in new if urn in ends}
        if self.truncated in {"", "depth"} and (more or self.truncated):
            self.truncated = "depth"
            ends = {urn: mark for urn, mark in ends.items() if urn in more or mark[:1] == (3,)}
        self.unfinished = ends if self.truncated else {}
        for urn, mark in self.unfinished.items():
            shown_near = {urn, str(mark[1])} if mark[:1] == (1,) else {urn}
            far_off = {far for near in shown_near & self.nodes.keys() for far in new.get(near, ())}
            self.beyond[urn] = {
                far for far in far_off if far not in self.nodes and not self._is_out(far)
            }

    def shown(self) -> tuple[dict[str, int], set[Edge]]:
        """Its nodes and edges with stubs for what is hidden."""
        if not self.known.unseen:
            return self.nodes, self.edges
        ends = {end for edge in self.edges for end in (edge.source, edge.target)}
        return with_stubs(
            self.nodes, self.edges, {urn for urn in ends | self.nodes.keys() if self._is_out(urn)}
        )
