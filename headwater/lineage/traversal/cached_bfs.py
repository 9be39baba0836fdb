"""Fast breadth-first search over the cached lineage graph, used if the caller sees every namespace
and sets no filter.

`Traversal` goes step by step and checks at each step for hidden, rejected and resumed nodes. This
search reads the crossings that the cache derived for each dataset instead. It makes no object for
an edge: an edge is known by its ends. It reaches the same nodes over the same edges and has the
same resume points; a test holds it to that. It gives no result if a bound on nodes or edges would
cut it short: `Traversal` answers then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headwater.lineage.cache.lineage_cache import CachedDirection, Crossings, LineageCache
from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.traversal.layers import JOBS_AND_RUNS, Layer
from headwater.lineage.traversal.request import Bounds, ResumePoint

_NO_CROSSINGS: Crossings = ((), ())


@dataclass
class CachedTraversal:
    """The nodes reached, each with its number of hops, and for each node the next nodes on its
    edges.

    `next_nodes` follow the direction of the traversal. The other fields are those of `Traversal`.
    """

    upstream: bool
    nodes: dict[str, int]
    next_nodes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    truncated: str = ""
    resume_points: dict[str, ResumePoint] = field(default_factory=dict)
    omitted_neighbours: dict[str, set[str]] = field(default_factory=dict)

    @property
    def edges(self) -> set[Edge]:
        """Build the edges as objects at each call."""
        return set(self._edges())

    def _edges(self) -> Iterator[Edge]:
        upstream = self.upstream
        for near, next_nodes in self.next_nodes.items():
            for far in next_nodes:
                source, target = (far, near) if upstream else (near, far)
                leaves_job = source.startswith(JOBS_AND_RUNS)
                type = edge_type(leaves_job, target.startswith(JOBS_AND_RUNS))
                yield Edge(source, target, type)


def edge_type(leaves_job: bool, enters_job: bool) -> str:
    """Return the type of an edge of the lineage graph."""
    return "PRODUCED" if leaves_job and not enters_job else "FEEDS"


def run_cached_bfs(
    cache: LineageCache, layer: Layer, starts: Sequence[str], bounds: Bounds
) -> CachedTraversal | None:
    """Search from canonical starts; return None if a bound on nodes or edges is met."""
    direction = cache.upstream if layer.upstream else cache.downstream
    traversal = CachedTraversal(layer.upstream, dict.fromkeys(starts, 0))
    frontier = list(dict.fromkeys(starts))
    for hop in range(1, bounds.depth + 1):
        frontier = _make_hop(traversal, direction, frontier, hop)
        if len(traversal.nodes) > bounds.nodes_max:
            return None
    _set_resume_points(traversal, direction, frontier)
    edge_count = sum(map(len, traversal.next_nodes.values()))
    return traversal if edge_count <= bounds.edges_max else None


def _make_hop(
    traversal: CachedTraversal, direction: CachedDirection, pending: list[str], hop: int
) -> list[str]:
    """Make one hop from each pending node, in the order of `Traversal`; return the newly reached
    nodes."""
    crossings, feeds = direction.crossings, direction.direct_neighbours
    inputs_or_outputs = direction.inputs_or_outputs
    nodes, next_nodes = traversal.nodes, traversal.next_nodes
    frontier: list[str] = []
    for urn in pending:
        jobs, reached_over = crossings.get(urn, _NO_CROSSINGS)
        for job, reached in zip(jobs, reached_over):  # noqa: B905  # of equal length
            earlier = next_nodes.get(job)
            if earlier is None:
                if job in feeds:
                    reached = tuple(sorted({*reached, *feeds[job]}))
                if job not in nodes:
                    nodes[job] = hop
            elif earlier == reached:
                continue
            else:
                reached = tuple(sorted({*earlier, *reached}))
            next_nodes[job] = reached
            for far in reached:
                if far not in nodes:
                    nodes[far] = hop
                    frontier.append(far)
        if urn in feeds or urn in inputs_or_outputs or urn in next_nodes:
            others = _without_crossing(direction, urn)
            jobs = tuple({*next_nodes.get(urn, ()), *jobs, *others})
            new = [far for far in dict.fromkeys(others) if far not in nodes]
            nodes.update(dict.fromkeys(new, hop))
            frontier.extend(new)
        if jobs:
            next_nodes[urn] = jobs
    return frontier


def _without_crossing(direction: CachedDirection, urn: str) -> tuple[str, ...]:
    """Return the nodes next to one that no job is crossed to reach.

    These are the inputs or outputs of a job from which the search starts, and the direct neighbours
    of either kind.
    """
    inputs_or_outputs = direction.inputs_or_outputs.get(urn, ())
    return (*inputs_or_outputs, *direction.direct_neighbours.get(urn, ()))


def _set_resume_points(
    traversal: CachedTraversal, direction: CachedDirection, frontier: list[str]
) -> None:
    """Set the resume points and omitted neighbours, by a look at the hop beyond the frontier."""
    crossings = {urn: direction.crossings.get(urn, _NO_CROSSINGS) for urn in frontier}
    ahead = {
        urn: {*jobs, *_without_crossing(direction, urn)} for urn, (jobs, _) in crossings.items()
    }
    for jobs, reached_over in crossings.values():
        for job, reached in zip(jobs, reached_over, strict=True):
            # A job at the frontier, entered from another frontier node: it may lead there to more
            # than it reads itself.
            if job in ahead:
                ahead[job].update(reached)
    for urn, neighbours in ahead.items():
        new = neighbours.difference(traversal.next_nodes.get(urn, ()))
        if new:
            traversal.truncated = "depth"
            traversal.resume_points[urn] = ()
            traversal.omitted_neighbours[urn] = {far for far in new if far not in traversal.nodes}
