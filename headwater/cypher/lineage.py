"""The two questions of the house: what is connected to this, and where did this answer come from.

`lineage` starts from any urn and stays in its layer: datasets and jobs on the map, runs and versions and answers in
history, columns among columns. `trace` goes from an answer back to the sources, with every run and version between.
Both raise NotFoundError for a start that is not in the graph and QueryError for a bad urn or depth, and both say
`truncated` when a bound cut them short.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from headwater.cypher.database import Database, Row
from headwater.cypher.levels import containers, lift
from headwater.cypher.nodes import NodeName, name_nodes, read_nodes, require_node
from headwater.cypher.walk import (
    COLUMNS_DOWN,
    COLUMNS_UP,
    HISTORY_DOWN,
    HISTORY_UP,
    MAP_DOWN,
    MAP_UP,
    Bounds,
    Edge,
    Layer,
    Walk,
    as_it_was,
    explore,
)
from headwater.errors import QueryError
from headwater.schema.urns import answer_urn, parse_urn

DEPTH_DEFAULT = 10
DEPTH_MAX = 50
TRACE_HOPS_MAX = 200
NODES_MAX = 5_000
EDGES_MAX = 20_000
WALK_SECONDS_MAX = 5.0

DIRECTIONS = ("UPSTREAM", "DOWNSTREAM", "BOTH")
# urn kind -> its layer, walked up and down
_LAYERS: dict[str, tuple[Layer, Layer]] = {
    "dataset": (MAP_UP, MAP_DOWN),
    "job": (MAP_UP, MAP_DOWN),
    "run": (HISTORY_UP, HISTORY_DOWN),
    "source": (HISTORY_UP, HISTORY_DOWN),
    "artifact": (HISTORY_UP, HISTORY_DOWN),
    "answer": (HISTORY_UP, HISTORY_DOWN),
    "column": (COLUMNS_UP, COLUMNS_DOWN),
}


@dataclass(frozen=True)
class Lineage:
    """What was reached, nearest first. `reason` tells which bound cut it short: depth, nodes, edges or time."""

    nodes: list[NodeName]
    edges: list[Edge]
    reason: str = ""
    # Where it started, by the name by which that goes, at the level asked for.
    start: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


@dataclass(frozen=True)
class Trace:
    """An answer and all it came from: each node as its properties, nearest to the answer first."""

    answer: Row
    sources: list[Row]
    artifacts: list[Row]
    runs: list[Row]
    answers: list[Row]
    columns: list[Row]
    edges: list[Edge]
    reason: str = ""

    @property
    def truncated(self) -> bool:
        return bool(self.reason)


def lineage(
    database: Database,
    urn: str,
    *,
    direction: str = "BOTH",
    depth: int = DEPTH_DEFAULT,
    level: str = "",
    as_of: datetime | None = None,
    nodes_max: int = NODES_MAX,
    edges_max: int = EDGES_MAX,
    seconds: float = WALK_SECONDS_MAX,
) -> Lineage:
    """What lies upstream or downstream of a node, or both, at most `depth` hops away.

    `level` shows jobs and runs as what contains them (`levels`); `as_of` asks the map as it was at an instant, without
    it only what is current is walked.
    """
    if direction not in DIRECTIONS:
        raise QueryError(f"direction {direction!r} is none of {', '.join(DIRECTIONS)}")
    if not 1 <= depth <= DEPTH_MAX:
        raise QueryError(f"depth {depth} is not between 1 and {DEPTH_MAX}")
    upward, downward = _layers(urn, as_of)
    urn = str(require_node(database, urn)["urn"])
    bounds = Bounds.within(seconds, depth=depth, nodes_max=nodes_max, edges_max=edges_max)
    layers = {"UPSTREAM": [upward], "DOWNSTREAM": [downward], "BOTH": [upward, downward]}[direction]
    walks = [explore(database, layer, {urn: [urn]}, bounds, at=as_of)[urn] for layer in layers]
    hops: dict[str, int] = {}
    for walk in walks:
        for node, hop in walk.nodes.items():
            hops[node] = min(hop, hops.get(node, hop))
    edges = {edge for walk in walks for edge in walk.edges}
    shown_as = containers(database, hops, level.strip().upper()) if level.strip() else {}
    if shown_as:
        hops, edges = lift(hops, edges, shown_as)
    nearest_first = sorted(hops, key=lambda node: (hops[node], node))
    return Lineage(name_nodes(database, nearest_first), sorted(edges), _reason(walks), shown_as.get(urn, urn))


def _layers(urn: str, as_of: datetime | None) -> tuple[Layer, Layer]:
    kind = parse_urn(urn).kind
    layers = _LAYERS.get(kind)
    if layers is None:
        raise QueryError(f"a {kind} has no lineage", mend=f"Ask for one of {', '.join(_LAYERS)}.")
    if as_of is None:
        return layers
    if layers != (MAP_UP, MAP_DOWN):
        raise QueryError(
            "only the map changes with time: asOf is for datasets and jobs",
            mend="Runs, versions and answers are history; ask for them without asOf.",
        )
    return as_it_was(MAP_UP), as_it_was(MAP_DOWN)


def trace(
    database: Database,
    answer_id: str,
    *,
    nodes_max: int = NODES_MAX,
    edges_max: int = EDGES_MAX,
    seconds: float = WALK_SECONDS_MAX,
) -> Trace:
    """Where an answer came from: through citations, versions and runs back to the sources."""
    urn = answer_urn(answer_id)
    answer = require_node(database, urn)
    bounds = Bounds.within(seconds, depth=TRACE_HOPS_MAX, nodes_max=nodes_max, edges_max=edges_max)
    walk = explore(database, HISTORY_UP, {urn: [urn]}, bounds)[urn]
    nearest_first = sorted(walk.nodes, key=lambda node: (walk.nodes[node], node))
    rows = read_nodes(database, nearest_first)
    return Trace(
        answer=answer,
        sources=_of_kind("source", nearest_first, rows),
        artifacts=_of_kind("artifact", nearest_first, rows),
        runs=_of_kind("run", nearest_first, rows),
        answers=[row for row in _of_kind("answer", nearest_first, rows) if row["urn"] != urn],
        columns=_of_kind("column", nearest_first, rows),
        edges=sorted(walk.edges),
        reason=_reason([walk]),
    )


def _of_kind(kind: str, urns: Iterable[str], rows: dict[str, Row]) -> list[Row]:
    return [rows[urn] for urn in urns if urn.startswith(f"{kind}:") and urn in rows]


def _reason(walks: Iterable[Walk]) -> str:
    return next((walk.truncated for walk in walks if walk.truncated), "")
