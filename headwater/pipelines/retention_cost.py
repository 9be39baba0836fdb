"""What the graph costs in nodes and bytes, and what each setting of the retention would save.

Bytes are worked out from Neo4j's record format, over a sample of the nodes of each label: where the files of the store
are on this machine they are told beside it, and tell by how much that is off (indexes, room that was once used).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.export import checkpoints, count
from headwater.pipelines import rollup_plan as rollup
from headwater.pipelines.rollup_plan import PIECE, Candidate
from headwater.schema.retention import Horizon, Rules, override, sample_position

DAYS = (7, 30, 90, 180, 365)
SAMPLES = (0.0, 0.01, 0.1)
_SAMPLED = 200
# The record format `aligned`: bytes of the record of a node, an edge, four blocks of properties, and of what a record
# of a long text or list holds and takes.
_NODE, _EDGE, _BLOCKS, _BLOCKS_A_RECORD = 16, 34, 41, 4
_LONG_HELD, _LONG_TAKEN = 120, 128
_INLINE_MAX = 24


@dataclass(frozen=True)
class Size:
    """Of one label: nodes, the edges that leave them, and the bytes of both."""

    nodes: int
    edges: int
    bytes: int


@dataclass(frozen=True)
class Saving:
    """What `days` and `sample` would save if they held for every namespace: runs, at most so many of the versions that
    they made, and the bytes of both."""

    days: int
    sample: float
    runs: int
    versions: int
    bytes: int


@dataclass(frozen=True)
class GraphCost:
    """`files`: bytes of the store by file, empty where it is on another machine."""

    events: int
    sizes: Mapping[str, Size]
    files: Mapping[str, int]
    savings: list[Saving]

    def per_million(self, amount: int) -> int | None:
        """So much of it a million events; None before there was any."""
        return round(amount * 1_000_000 / self.events) if self.events else None

    def as_json(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        whole = Size(
            *(
                sum(column)
                for column in zip((0, 0, 0), *map(_row, self.sizes.values()), strict=True)
            )
        )
        return {
            "events": self.events,
            "nodesPerMillionEvents": self.per_million(whole.nodes),
            "bytesPerMillionEvents": self.per_million(whole.bytes),
            "storeBytesPerMillionEvents": self.per_million(sum(self.files.values()))
            if self.files
            else None,
            "labels": {
                label: _json(size) | self._of_million(size) for label, size in self.sizes.items()
            },
            "files": dict(self.files),
            "savings": [_json(saving) for saving in self.savings],
        }

    def _of_million(self, size: Size) -> dict[str, int | None]:
        return {
            "nodesPerMillionEvents": self.per_million(size.nodes),
            "bytesPerMillionEvents": self.per_million(size.bytes),
        }


def _json(value: Size | Saving) -> dict[str, Any]:
    return dict(vars(value))


def _row(size: Size) -> tuple[int, int, int]:
    return size.nodes, size.edges, size.bytes


def measure_cost(
    database: Database, rules: Rules, *, now: int, store: Path | None = None
) -> GraphCost:
    """What the graph costs now. `now` in microseconds since 1970; `store` is the folder of Neo4j's store. Reads all
    runs that are older than the shortest of `DAYS`. Raises UnavailableError."""
    sizes = {
        label: _size(database, label, *size)
        for label, size in count(database).items()
        if size.nodes
    }
    events = sum(int(row["folded"]) for row in checkpoints(database))
    return GraphCost(
        events, sizes, files(store) if store else {}, savings(database, rules, now=now, sizes=sizes)
    )


def _size(database: Database, label: str, nodes: int, edges: int) -> Size:
    rows = database.read("read/export/nodes", label=label, after="", limit=_SAMPLED)
    each = sum(node_bytes(row["properties"]) for row in rows) / max(1, len(rows))
    return Size(nodes, edges, round(nodes * each + edges * _EDGE))


def node_bytes(properties: Mapping[str, Any]) -> int:
    """What a node of these properties takes in the store, without its edges and indexes."""
    blocks = long = 0
    for value in properties.values():
        one, more = _value_bytes(value)
        blocks, long = blocks + one, long + more
    return _NODE + -(-blocks // _BLOCKS_A_RECORD) * _BLOCKS + long


def _value_bytes(value: object) -> tuple[int, int]:
    """The blocks of eight bytes that a value takes beside its key, and the bytes of records of its own."""
    if isinstance(value, datetime):
        return 3, 0
    if not isinstance(value, str | list):
        return 1, 0
    texts = [value] if isinstance(value, str) else [str(item) for item in value]
    length = sum(len(text.encode()) + 4 * isinstance(value, list) for text in texts)
    if length <= _INLINE_MAX:
        return 1 + -(-length // 8), 0
    return 1, -(-length // _LONG_HELD) * _LONG_TAKEN


def files(store: Path) -> dict[str, int]:
    """Bytes of Neo4j's files, by their names, those of all indexes as one; the largest first. Empty where there is no
    store."""
    sizes: dict[str, int] = {}
    for file in store.rglob("*"):
        if file.is_file():
            name = file.name if file.parent == store else "indexes"
            sizes[name] = sizes.get(name, 0) + file.stat().st_size
    return dict(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))


def savings(
    database: Database, rules: Rules, *, now: int, sizes: Mapping[str, Size]
) -> list[Saving]:
    """What could be summarised now, by the days and the share that would be set."""
    least = Horizon(override(rules, days=min(DAYS), sample=0.0), now)
    kept = rollup.protected(database)
    free: list[Candidate] = []
    for page in rollup.candidates(database, least):
        left = [one for one in page if one.urn not in kept]
        for start in range(0, len(left), PIECE):
            piece = left[start : start + PIECE]
            gone = set(rollup.removable(database, piece))
            free.extend(one for one in piece if one.urn in gone)
    each = {label: size.bytes / size.nodes for label, size in sizes.items()}
    return [_saving(free, days, sample, now, each) for days in DAYS for sample in SAMPLES]


def _saving(
    free: list[Candidate], days: int, sample: float, now: int, each: Mapping[str, float]
) -> Saving:
    until = rollup.moment(now) - timedelta(days=days)
    gone = [one for one in free if one.last < until and sample_position(one.run_id) >= sample]
    versions = sum(one.versions for one in gone)
    size = len(gone) * each.get("PipelineRun", 0.0) + versions * each.get("Artifact", 0.0)
    return Saving(days, sample, len(gone), versions, round(size))
