"""Breadth-first walks over the graph, one layer of neighbours at a time, bounded in everything.

Listing paths in Cypher explodes on diamonds and cycles, so the walk is here, in plain Python (`steps`), over what the
queries tell of neighbours (`neighbours`), which many walks learn together.

A hop is the crossing of one job (on the map), one run (in history) or one column edge; what an answer cites is no
hop. An output that is known to come from certain inputs came from those only: both directions keep to that.
A walk that met a bound says which one in `truncated`; it never passes a part for the whole.

Whoever asks may not see everything. A walk goes on through what is out of sight, and a way through it is one hop,
however long it is, so that how far an answer reaches tells nothing about it. When a walk is over, stubs stand for what
it passed there (`stubs`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from typing import TypeVar

from headwater.lineage.hidden_nodes import Edge
from headwater.lineage.traversal.adjacency import (
    CITING,
    COLUMNS_DOWN,
    COLUMNS_UP,
    HISTORY_DOWN,
    HISTORY_UP,
    MAP_DOWN,
    MAP_UP,
    Asked,
    Layer,
    Neighbours,
    as_it_was,
    timed_out,
)
from headwater.lineage.traversal.cached_adjacency import neighbours
from headwater.lineage.traversal.filters import EVERY_NODE, Filter
from headwater.lineage.traversal.traversal import Bounds, Mark, Walk
from headwater.lineage.view import GraphView

# What questions need to walk, from one place.
__all__ = [
    "CITING",
    "COLUMNS_DOWN",
    "COLUMNS_UP",
    "HISTORY_DOWN",
    "HISTORY_UP",
    "MAP_DOWN",
    "MAP_UP",
    "Bounds",
    "Edge",
    "Layer",
    "Mark",
    "Walk",
    "as_it_was",
    "explore",
    "timed_out",
]

K = TypeVar("K", bound=Hashable)
# A derivation is read as part of an output's row, so an edge may cost more than one.
_ROWS_PER_EDGE = 3


def explore(
    view: GraphView,
    layer: Layer,
    starts: Mapping[K, Iterable[str]],
    bounds: Bounds,
    *,
    rows_max: int = 0,
    at: datetime | None = None,
    where: Filter = EVERY_NODE,
    marks: Mapping[str, Mark] | None = None,
    at_once: bool = False,
    ends: bool = True,
) -> dict[K, Walk]:
    """One walk from each set of starts, with stubs for what is hidden.

    `rows_max` bounds what all of them may read; by default that of one walk. `at` is the instant for a layer that is a
    map as it was. What does not pass `where` is neither shown nor walked through; the starts always pass. `marks` tells
    of nodes from which step on to take theirs. `at_once` asks for all that can be reached before the first hop.
    Without `ends` a walk that is cut short does not look for from where there is more: one hop less to ask for.
    """
    begins = {key: list(urns) for key, urns in starts.items()}
    all_starts = {urn for urns in begins.values() for urn in urns}
    rows_most = rows_max or int(bounds.edges_max * _ROWS_PER_EDGE)
    known = neighbours(Asked(view, layer, bounds.deadline, rows_most, at, where), all_starts)
    known.admit(all_starts)
    walks = {key: Walk(urns, known, bounds, marks or {}) for key, urns in begins.items()}
    if at_once and layer.all:
        known.learn_all(all_starts, int(bounds.nodes_max))
    _go(list(walks.values()), known, bounds.depth, ends=ends)
    for walk in walks.values():
        walk.nodes, walk.edges = walk.shown()
    return walks


def _go(walks: list[Walk], known: Neighbours, depth: int, *, ends: bool) -> None:
    for hop in range(depth + 1):
        _follow_citations(walks, known)
        active = [walk for walk in walks if walk.frontier and not walk.truncated]
        if (
            hop == depth
            or known.exhausted
            or not active
            or not (known.layer.onward or known.layer.hop)
        ):
            break
        _advance(active, known)
    if not known.exhausted:
        for walk in walks:
            walk.close()
        _expand(walks, known)
    for walk in walks:
        if known.exhausted:
            walk.give_up(known.exhausted, [*walk.frontier, *walk.pending])
    ahead = {
        id(walk): walk.ahead() for walk in walks if (ends if walk.truncated else walk.frontier)
    }
    if known.layer.onward or known.layer.hop:
        _advance(list(ahead.values()), known)
    for walk in walks:
        if id(walk) in ahead:
            walk.truncated = walk.truncated or known.exhausted
            walk.compare(ahead[id(walk)])


def _advance(walks: list[Walk], known: Neighbours) -> None:
    """One hop of every walk, and on as long as its ways lead out of sight."""
    for walk in walks:
        walk.begin()
    _expand(walks, known)


def _expand(walks: list[Walk], known: Neighbours) -> None:
    while any(walk.pending for walk in walks):
        known.learn(urn for walk in walks for urn in walk.pending)
        for walk in walks:
            begun = walk.pending
            walk.expand()
            if known.exhausted:
                walk.give_up(known.exhausted, begun)
        if known.exhausted:
            break


def _follow_citations(walks: list[Walk], known: Neighbours) -> None:
    if not known.layer.cites:
        return
    fresh = [urn for walk in walks for urn in walk.frontier]
    while fresh and not known.exhausted:
        known.learn_citations(fresh)
        fresh = [urn for walk in walks for urn in walk.cite()]
