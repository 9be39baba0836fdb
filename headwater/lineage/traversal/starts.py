"""Where a lineage begins, and in which layer it is: a dataset's columns or versions instead of the dataset itself.

The level COLUMN begins at the columns of what is named, RUN at its versions and runs in the range of time that is
asked for, newest first, DATASET_AND_JOB at its datasets and jobs. Any other level is one of containment (`levels`) and
begins at what is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from headwater.errors import NotFoundError, QueryError
from headwater.lineage.node_visibility import hidden, visible
from headwater.lineage.nodes import read_nodes, require_node
from headwater.lineage.traversal.bfs import (
    COLUMNS_DOWN,
    COLUMNS_UP,
    HISTORY_DOWN,
    HISTORY_UP,
    MAP_DOWN,
    MAP_UP,
    Layer,
    as_it_was,
)
from headwater.lineage.traversal.filters import Filter
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

ON_MAP, OF_COLUMNS, OF_RUNS = "DATASET_AND_JOB", "COLUMN", "RUN"
STARTS_MAX = 100
# How many columns or versions these may have altogether.
BEGINS_MAX = 1_000
_MAP, _HISTORY, _COLUMNS = (
    (MAP_UP, MAP_DOWN),
    (HISTORY_UP, HISTORY_DOWN),
    (COLUMNS_UP, COLUMNS_DOWN),
)
# urn kind -> its layer, walked up and down
_LAYERS: dict[str, tuple[Layer, Layer]] = {
    "dataset": _MAP,
    "job": _MAP,
    "run": _HISTORY,
    "source": _HISTORY,
    "artifact": _HISTORY,
    "answer": _HISTORY,
    "column": _COLUMNS,
}
_HELD = ("dataset:", "job:", "column:")
_QUERIES = {
    ON_MAP: ("read/traversal/starts_in_lineage_graph", "datasets or jobs"),
    OF_COLUMNS: ("read/traversal/starts_in_columns", "columns"),
    OF_RUNS: ("read/traversal/starts_in_run_history", "versions or runs"),
}


class Starts(NamedTuple):
    """The nodes at which a walk begins, and whether there are more than it may begin at."""

    urns: list[str]
    upward: Layer
    downward: Layer
    is_cut: bool


def starts(
    view: GraphView, urns: Sequence[str], *, level: str, where: Filter, as_of: datetime | None
) -> Starts:
    """Raises QueryError when these cannot be walked together, NotFoundError for what is not there."""
    if not 1 <= len(urns) <= STARTS_MAX:
        raise QueryError(f"a lineage starts from 1 to {STARTS_MAX} nodes, not from {len(urns)}")
    for urn in urns:
        if parse_urn(urn).kind not in _LAYERS:
            raise QueryError(
                f"a {parse_urn(urn).kind} has no lineage",
                hint=f"Ask for one of {', '.join(_LAYERS)}.",
            )
    if level not in _QUERIES:
        _one_layer(urns, as_of)
    named = list(dict.fromkeys(_remembered(view, urns) or _asked(view, urns)))
    begins, is_cut = _at_level(view, named, level, where)
    upward, downward = _one_layer(begins, as_of)
    return Starts(begins, upward, downward, is_cut)


def _remembered(view: GraphView, urns: Sequence[str]) -> list[str]:
    """The urns by which these go, where all of them are in memory and may be seen; otherwise nothing."""
    is_held = all(urn.startswith(_HELD) for urn in urns)
    memory = view.cache.awaited() if view.cache and is_held else None
    names = [memory.goes_by(urn) if memory else None for urn in urns]
    known = [name for name in names if name]
    # By a name that may not be seen nothing is found.
    return known if len(known) == len(urns) and not hidden(view, {*urns, *known}) else []


def _asked(view: GraphView, urns: Sequence[str]) -> list[str]:
    rows = read_nodes(view, urns)
    return [str((rows.get(urn) or require_node(view, urn))["urn"]) for urn in urns]


def _at_level(
    view: GraphView, urns: list[str], level: str, where: Filter
) -> tuple[list[str], bool]:
    if level not in _QUERIES:
        return urns, False
    query, what = _QUERIES[level]
    range_of_time: dict[str, Any] = (
        {"since": where.since, "until": where.until} if level == OF_RUNS else {}
    )
    found = [
        row["urn"] for row in view.read(query, urns=urns, limit=BEGINS_MAX + 1, **range_of_time)
    ]
    begins = visible(view, found)
    if not begins:
        raise NotFoundError(
            f"no {what} are known of {', '.join(urns[:3])}",
            hint="Ask for another level, or for a longer time.",
        )
    return begins[:BEGINS_MAX], len(begins) > BEGINS_MAX


def _one_layer(urns: Sequence[str], as_of: datetime | None) -> tuple[Layer, Layer]:
    layers = {_LAYERS[parse_urn(urn).kind] for urn in urns}
    if len(layers) != 1:
        raise QueryError(
            "these starts lie in different layers: the map, history, columns",
            hint=f"Name starts of one layer, or bring them to one with level {ON_MAP}, {OF_COLUMNS} or {OF_RUNS}.",
        )
    (found,) = layers
    if as_of is None:
        return found
    if found != _MAP:
        raise QueryError(
            "only the map changes with time: asOf and between are for datasets and jobs",
            hint="Runs, versions and answers are history; ask for them without asOf.",
        )
    return as_it_was(MAP_UP), as_it_was(MAP_DOWN)
