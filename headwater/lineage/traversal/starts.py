"""The starts of a lineage, and its layer: the columns or versions of a dataset instead of the
dataset itself.

The level COLUMN starts from the columns of the given nodes, and DATASET_AND_JOB from their datasets
and jobs. RUN starts from their versions and runs in the period of the filter, newest first. Any
other level is one of containment (`grouping`) and starts from the given nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from headwater.errors import NotFoundError, QueryError
from headwater.lineage.node_visibility import find_hidden, select_visible
from headwater.lineage.nodes import read_nodes, require_node
from headwater.lineage.traversal.layers import (
    COLUMNS_DOWN,
    COLUMNS_UP,
    DATASETS_DOWN,
    DATASETS_UP,
    RUNS_DOWN,
    RUNS_UP,
    Layer,
    at_instant,
)
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

DATASET_LEVEL, COLUMN_LEVEL, RUN_LEVEL = LAYER_LEVELS = ("DATASET_AND_JOB", "COLUMN", "RUN")
STARTS_MAX = 100
# The columns or versions that the given nodes may have altogether.
NODES_AT_LEVEL_MAX = 1_000
_DATASETS = (DATASETS_UP, DATASETS_DOWN)
_RUNS = (RUNS_UP, RUNS_DOWN)
_COLUMNS = (COLUMNS_UP, COLUMNS_DOWN)
# The layer of each kind of urn, upward and downward.
_LAYERS: dict[str, tuple[Layer, Layer]] = {
    "dataset": _DATASETS,
    "job": _DATASETS,
    "run": _RUNS,
    "source": _RUNS,
    "artifact": _RUNS,
    "answer": _RUNS,
    "column": _COLUMNS,
}
_CACHED_KINDS = ("dataset:", "job:", "column:")
# The query of each level that belongs to a layer, and the nodes that it finds.
_QUERIES = {
    DATASET_LEVEL: ("read/traversal/starts_in_lineage_graph", "datasets or jobs"),
    COLUMN_LEVEL: ("read/traversal/starts_in_columns", "columns"),
    RUN_LEVEL: ("read/traversal/starts_in_run_history", "versions or runs"),
}


class Starts(NamedTuple):
    """The nodes from which a traversal starts, with its layer upward and downward.

    `is_cut` is True if there are more nodes than a traversal may start from.
    """

    urns: list[str]
    upward: Layer
    downward: Layer
    is_cut: bool


def find_starts(view: GraphView, request: LineageRequest) -> Starts:
    """Return the starts of a request.

    Raises QueryError for nodes that no traversal can start from together, NotFoundError for unknown
    nodes.
    """
    urns, level = request.urns, request.canonical_level
    if not 1 <= len(urns) <= STARTS_MAX:
        raise QueryError(f"a lineage starts from 1 to {STARTS_MAX} nodes, not from {len(urns)}")
    for urn in urns:
        if parse_urn(urn).kind not in _LAYERS:
            raise QueryError(
                f"a {parse_urn(urn).kind} has no lineage",
                hint=f"Ask for one of {', '.join(_LAYERS)}.",
            )
    if level not in _QUERIES:
        # Refuse starts of several layers before any query.
        _require_one_layer(urns, request.as_of)
    canonical = dict.fromkeys(_canonical_in_cache(view, urns) or _canonical_in_neo4j(view, urns))
    at_level, is_cut = _find_at_level(view, list(canonical), request)
    upward, downward = _require_one_layer(at_level, request.as_of)
    return Starts(at_level, upward, downward, is_cut)


def _canonical_in_cache(view: GraphView, urns: Sequence[str]) -> list[str]:
    """Return the canonical urns if the cache has all of the nodes and the caller may see them; else
    nothing."""
    is_cached_kind = all(urn.startswith(_CACHED_KINDS) for urn in urns)
    cache = view.cache.wait_for_current() if view.cache and is_cached_kind else None
    if cache is None:
        return []
    canonical = [urn for urn in map(cache.canonical_urn, urns) if urn]
    if len(canonical) < len(urns):
        return []
    # A hidden alias must not find its dataset.
    return [] if find_hidden(view, {*urns, *canonical}) else canonical


def _canonical_in_neo4j(view: GraphView, urns: Sequence[str]) -> list[str]:
    rows = read_nodes(view, urns)
    return [str((rows.get(urn) or require_node(view, urn))["urn"]) for urn in urns]


def _find_at_level(
    view: GraphView, urns: list[str], request: LineageRequest
) -> tuple[list[str], bool]:
    """Return the nodes of a level that belong to these, and True if there are more of them."""
    level = request.canonical_level
    if level not in _QUERIES:
        return urns, False
    query, kinds = _QUERIES[level]
    period: dict[str, Any] = {}
    if level == RUN_LEVEL:
        period = {"since": request.filter.since, "until": request.filter.until}
    rows = view.read(query, urns=urns, limit=NODES_AT_LEVEL_MAX + 1, **period)
    visible = select_visible(view, [row["urn"] for row in rows])
    if not visible:
        raise NotFoundError(
            f"no {kinds} are known of {', '.join(urns[:3])}",
            hint="Ask for another level, or for a longer period.",
        )
    return visible[:NODES_AT_LEVEL_MAX], len(visible) > NODES_AT_LEVEL_MAX


def _require_one_layer(urns: Sequence[str], as_of: datetime | None) -> tuple[Layer, Layer]:
    layers = {_LAYERS[parse_urn(urn).kind] for urn in urns}
    if len(layers) != 1:
        raise QueryError(
            "these starts lie in different layers: lineage graph, run history, columns",
            hint="Name starts of one layer, or bring them to one layer with level "
            f"{DATASET_LEVEL}, {COLUMN_LEVEL} or {RUN_LEVEL}.",
        )
    (layer,) = layers
    if as_of is None:
        return layer
    if layer != _DATASETS:
        raise QueryError(
            "asOf and between apply to datasets and jobs only: the rest does not change with time",
            hint="Ask for runs, versions and answers without asOf and between.",
        )
    return at_instant(DATASETS_UP), at_instant(DATASETS_DOWN)
