"""The choice of the engine that runs a traversal. This module alone knows the reasons.

There are three engines, from fast to general. All give the same result; tests compare them.

    cached BFS         reads whole hops from the lineage cache, without a check at any node
    cached traversal   goes step by step over the cache; Neo4j checks visibility and filter
    Neo4j traversal    goes step by step over Neo4j

The cache holds the current lineage graph and its columns. It holds neither runs nor versions, nor
the instants at which edges were seen. So only Neo4j traverses the run history, the lineage graph at
an earlier instant, and edges that a filter selects by time. The cached BFS checks no node, so it
serves only callers who see everything, without a filter and without resume points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from headwater.lineage.cache.lineage_cache import LineageCache
from headwater.lineage.traversal.layers import (
    COLUMNS_DOWN,
    COLUMNS_UP,
    DATASETS_DOWN,
    DATASETS_UP,
    Layer,
)
from headwater.lineage.traversal.request import LineageRequest, TraversalRequest
from headwater.lineage.view import GraphView

_DATASETS: tuple[Layer, ...] = (DATASETS_DOWN, DATASETS_UP)
_COLUMNS: tuple[Layer, ...] = (COLUMNS_DOWN, COLUMNS_UP)
_DATASETS_AND_JOBS = ("dataset:", "job:")


class EngineKind(Enum):
    """The three engines."""

    CACHED_BFS = "cached BFS"
    CACHED_TRAVERSAL = "cached traversal"
    NEO4J_TRAVERSAL = "Neo4j traversal"


class Engine(NamedTuple):
    """A chosen engine, with the cache that it reads; None for Neo4j."""

    kind: EngineKind
    cache: LineageCache | None


_NEO4J = Engine(EngineKind.NEO4J_TRAVERSAL, None)


def choose_engine(view: GraphView, request: TraversalRequest, starts: Iterable[str]) -> Engine:
    """Choose the fastest engine that can answer a request from these starts.

    The cached BFS may still find that a bound would cut it short. The cached traversal answers
    then.
    """
    if request.layer not in (*_DATASETS, *_COLUMNS) or request.filter.checks_time:
        return _NEO4J
    cache = view.cache.current() if view.cache else None
    if cache is None or (request.layer in _COLUMNS and not cache.has_columns):
        return _NEO4J
    if any(cache.canonical_urn(urn) != urn for urn in starts):
        return _NEO4J
    needs_checks = request.filter.checks_nodes or not view.visibility.is_unrestricted
    if needs_checks or request.resume_from or request.layer in _COLUMNS:
        return Engine(EngineKind.CACHED_TRAVERSAL, cache)
    return Engine(EngineKind.CACHED_BFS, cache)


def is_answered_from_cache(view: GraphView, request: LineageRequest) -> bool:
    """Return True if the cached BFS can answer a request without any statement to Neo4j."""
    if not (request.is_plain and view.cache and view.visibility.is_unrestricted):
        return False
    cache = view.cache.current()
    return cache is not None and _has_all(cache, request.urns)


def _has_all(cache: LineageCache, urns: Sequence[str]) -> bool:
    return all(urn.startswith(_DATASETS_AND_JOBS) and cache.canonical_urn(urn) for urn in urns)
