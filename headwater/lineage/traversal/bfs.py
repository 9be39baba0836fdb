"""Breadth-first traversals, one layer of neighbours at a time, within bounds.

Listing paths in Cypher explodes on diamonds and cycles. So a traversal goes step by step in Python
(`steps`) over an adjacency (`adjacency`), which the traversals of one request share.

A hop crosses one job (in the lineage graph), one run (in the run history) or one column edge; a
citation is no hop, and neither is the link from a version to the version whose content it kept. An
output that is known to derive from certain inputs derives from those only, in both directions. A
traversal that met a bound names it in `truncated`: a part is never returned as the whole.

The caller may not see everything. A traversal goes on through hidden nodes. A path through them is
one hop, however long it is, so the reach of an answer discloses nothing about its length. At the
end stubs replace the hidden nodes (`hidden_nodes`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from headwater.lineage.traversal.adjacency import Adjacency
from headwater.lineage.traversal.cached_adjacency import CachedAdjacency
from headwater.lineage.traversal.cached_bfs import CachedTraversal, run_cached_bfs
from headwater.lineage.traversal.engine import Engine, EngineKind, choose_engine
from headwater.lineage.traversal.neo4j_adjacency import Neo4jAdjacency
from headwater.lineage.traversal.request import TraversalRequest
from headwater.lineage.traversal.resume import look_ahead, set_resume_points
from headwater.lineage.traversal.steps import expand, follow_citations
from headwater.lineage.traversal.traversal import Traversal
from headwater.lineage.view import GraphView

K = TypeVar("K", bound=Hashable)


def traverse_from(
    view: GraphView, request: TraversalRequest, starts: Sequence[str]
) -> Traversal | CachedTraversal:
    """Run one traversal with the engine that `engine.choose_engine` chooses."""
    engine = choose_engine(view, request, starts)
    if engine.kind is EngineKind.CACHED_BFS and engine.cache is not None:
        traversal = run_cached_bfs(engine.cache, request.layer, starts, request.bounds)
        if traversal is not None:
            return traversal
    return _run(view, request, engine, {0: starts})[0]


def traverse(
    view: GraphView, request: TraversalRequest, starts: Mapping[K, Iterable[str]]
) -> dict[K, Traversal]:
    """Run one traversal from each set of starts. They share their reads; stubs replace hidden
    nodes."""
    urns = {key: list(some) for key, some in starts.items()}
    all_starts = set(chain.from_iterable(urns.values()))
    return _run(view, request, choose_engine(view, request, all_starts), urns)


def _run(
    view: GraphView, request: TraversalRequest, engine: Engine, starts: Mapping[K, Sequence[str]]
) -> dict[K, Traversal]:
    all_starts = set(chain.from_iterable(starts.values()))
    adjacency = _open_adjacency(view, request, engine)
    adjacency.admit_starts(all_starts)
    if request.prefetch and request.layer.upstream_history:
        adjacency.prefetch(all_starts, int(request.bounds.nodes_max))
    by_key = {
        key: Traversal(list(some), adjacency, request.bounds, request.resume_from)
        for key, some in starts.items()
    }
    traversals = list(by_key.values())
    _advance_to_depth(traversals, adjacency, request.bounds.depth)
    _close(traversals, adjacency)
    _set_resume_points(traversals, adjacency, find_all=request.find_resume_points)
    for traversal in traversals:
        traversal.replace_hidden_nodes()
    return by_key


def _open_adjacency(view: GraphView, request: TraversalRequest, engine: Engine) -> Adjacency:
    if engine.cache is None:
        return Neo4jAdjacency(view, request)
    return CachedAdjacency(engine.cache, view, request)


def _advance_to_depth(traversals: list[Traversal], adjacency: Adjacency, depth: int) -> None:
    """Make up to `depth` hops with every traversal, and follow the citations at each frontier."""
    for hop in range(depth + 1):
        _follow_citations(traversals, adjacency)
        active = [
            traversal for traversal in traversals if traversal.frontier and not traversal.truncated
        ]
        if hop == depth or adjacency.exhausted or not active or not adjacency.layer.has_hops:
            return
        _advance(active, adjacency)


def _close(traversals: list[Traversal], adjacency: Adjacency) -> None:
    """End every traversal: show the ends of the hidden paths that it reached."""
    if not adjacency.exhausted:
        for traversal in traversals:
            traversal.close()
        _expand_pending(traversals, adjacency)
    if adjacency.exhausted:
        for traversal in traversals:
            traversal.stop(adjacency.exhausted, [*traversal.frontier, *traversal.pending])


def _set_resume_points(
    traversals: list[Traversal], adjacency: Adjacency, *, find_all: bool
) -> None:
    """Look one hop ahead of the traversals that are not complete, to find where they can resume."""
    incomplete = [
        traversal
        for traversal in traversals
        if (find_all if traversal.truncated else traversal.frontier)
    ]
    ahead = [look_ahead(traversal) for traversal in incomplete]
    if adjacency.layer.has_hops:
        _advance(ahead, adjacency)
    for traversal, further in zip(incomplete, ahead, strict=True):
        traversal.truncated = traversal.truncated or adjacency.exhausted
        set_resume_points(traversal, further)


def _advance(traversals: list[Traversal], adjacency: Adjacency) -> None:
    """Make one hop with every traversal, to the end of each hidden path on it."""
    for traversal in traversals:
        traversal.begin_hop()
    _expand_pending(traversals, adjacency)


def _expand_pending(traversals: list[Traversal], adjacency: Adjacency) -> None:
    while any(traversal.pending for traversal in traversals):
        adjacency.load(chain.from_iterable(traversal.pending for traversal in traversals))
        for traversal in traversals:
            begun = traversal.pending
            expand(traversal)
            if adjacency.exhausted:
                traversal.stop(adjacency.exhausted, begun)
        if adjacency.exhausted:
            return


def _follow_citations(traversals: list[Traversal], adjacency: Adjacency) -> None:
    if not adjacency.layer.citations:
        return
    new = [urn for traversal in traversals for urn in [*traversal.crossed, *traversal.frontier]]
    while new and not adjacency.exhausted:
        adjacency.load_citations(new)
        new = [urn for traversal in traversals for urn in follow_citations(traversal)]
