"""A walk over the map in memory where everything may be seen and no filter judges: most questions, and the large ones.

What a `Walk` finds step by step, with a thought to what is hidden, left out or walked before at each, is here read off
what memory has worked out for each dataset (`Side.steps`), and no object is made for an edge: an edge is known by its
ends. It shows the same nodes and edges, and ends where a `Walk` ends; a test holds it to that. Where a bound would cut
it short it says nothing, and the other has to be asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headwater.lineage.cache.lineage_cache import Side, Steps
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.traversal.adjacency import MAP_DOWN, MAP_UP, PROCESSES, Asked
from headwater.lineage.traversal.cached_adjacency import memory_of
from headwater.lineage.traversal.traversal import Bounds, Mark

_NO_STEPS: Steps = ((), ())


@dataclass
class MapWalk:
    """Its nodes with the hops that each took, and its edges: for each node those next to it that a walk crossed to,
    with the flow, or `upstream` against it. The rest is as in `Walk`."""

    upstream: bool
    side: Side
    nodes: dict[str, int]
    ways: dict[str, tuple[str, ...]] = field(default_factory=dict)
    truncated: str = ""
    unfinished: dict[str, Mark] = field(default_factory=dict)
    beyond: dict[str, set[str]] = field(default_factory=dict)

    @property
    def edges(self) -> set[Edge]:
        return set(self._told())

    def go(self, starts: Sequence[str], bounds: Bounds) -> bool:
        """Walk. Whether no bound on nodes and edges was met; if one was, what it found is not to be used."""
        frontier = list(dict.fromkeys(starts))
        for hop in range(1, bounds.depth + 1):
            frontier = self._hop(frontier, hop)
            if len(self.nodes) > bounds.nodes_max:
                return False
        self._end(frontier)
        return sum(map(len, self.ways.values())) <= bounds.edges_max

    def _hop(self, pending: list[str], hop: int) -> list[str]:
        """One hop from each of these, in the order in which a `Walk` takes them; those newly reached."""
        steps, feeds, whole, nodes, ways = (
            self.side.steps,
            self.side.hops,
            self.side.behind,
            self.nodes,
            self.ways,
        )
        frontier: list[str] = []
        for urn in pending:
            processes, behind = steps.get(urn, _NO_STEPS)
            for process, places in zip(processes, behind):  # noqa: B905  # as long as one another
                known = ways.get(process)
                if known is None:
                    if process in feeds:
                        places = tuple(sorted({*places, *feeds[process]}))
                    if process not in nodes:
                        nodes[process] = hop
                elif known == places:
                    continue
                else:
                    places = tuple(sorted({*known, *places}))
                ways[process] = places
                for far in places:
                    if far not in nodes:
                        nodes[far] = hop
                        frontier.append(far)
            if urn in feeds or urn in whole or urn in ways:
                others = self._others(urn)
                processes = tuple({*ways.get(urn, ()), *processes, *others})
                for far in others:
                    if far not in nodes:
                        nodes[far] = hop
                        frontier.append(far)
            if processes:
                ways[urn] = processes
        return frontier

    def _others(self, urn: str) -> tuple[str, ...]:
        """What is next to it and is not entered from it: behind a job that is walked from as a whole its places, and
        of either kind what it feeds or is fed by."""
        return (*self.side.behind.get(urn, ()), *self.side.hops.get(urn, ()))

    def _end(self, frontier: list[str]) -> None:
        """Say what lies one hop ahead."""
        steps = {urn: self.side.steps.get(urn, _NO_STEPS) for urn in frontier}
        ahead = {urn: {*processes, *self._others(urn)} for urn, (processes, _) in steps.items()}
        for processes, behind in steps.values():
            for process, places in zip(processes, behind, strict=True):
                # A job at the end that is entered from another end: more may lie behind it than it is said to read.
                if process in ahead:
                    ahead[process].update(places)
        for urn, some in ahead.items():
            new = some.difference(self.ways.get(urn, ()))
            if new:
                self.truncated = "depth"
                self.unfinished[urn] = ()
                self.beyond[urn] = {far for far in new if far not in self.nodes}

    def _told(self) -> Iterator[Edge]:
        upstream = self.upstream
        for near, some in self.ways.items():
            for far in some:
                source, target = (far, near) if upstream else (near, far)
                yield Edge(
                    source,
                    target,
                    type_of(source.startswith(PROCESSES), target.startswith(PROCESSES)),
                )


def type_of(is_from_process: bool, is_to_process: bool) -> str:
    """The type of an edge of the map, by whether it leaves a job and whether it leads to one."""
    return "PRODUCED" if is_from_process and not is_to_process else "FEEDS"


def walk_in_memory(asked: Asked, starts: Sequence[str], bounds: Bounds) -> MapWalk | None:
    """The walk from here, where memory knows this part of the map, whoever asks may see all of it, and no bound on
    nodes or edges is met; else None."""
    if (
        asked.layer not in (MAP_DOWN, MAP_UP)
        or asked.where.asks_nodes
        or not asked.view.visibility.is_unrestricted
    ):
        return None
    memory = memory_of(asked, starts)
    if memory is None:
        return None
    upstream = asked.layer.upstream
    walk = MapWalk(upstream, memory.up if upstream else memory.down, dict.fromkeys(starts, 0))
    return walk if walk.go(starts, bounds) else None
