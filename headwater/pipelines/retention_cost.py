"""The cost of the graph in nodes and bytes, and the savings of retention settings.

Bytes are computed from Neo4j's record format over a sample of the nodes of each label. If the store
is on this machine, the report adds the sizes of its files. They differ from the computed bytes by
indexes and freed space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.export import checkpoints, count
from headwater.pipelines import rollup_plan as rollup
from headwater.pipelines.rollup_plan import BATCH_SIZE, Candidate
from headwater.schema.retention import Horizon, Rules, override, sample_position

DAYS = (7, 30, 90, 180, 365)
SAMPLES = (0.0, 0.01, 0.1)
_SAMPLED = 200
# Neo4j's record format `aligned`: the bytes of a node, an edge and a record of four property
# blocks, and the content and size of a record of a long text or list.
_NODE, _EDGE, _BLOCKS, _BLOCKS_A_RECORD = 16, 34, 41, 4
_LONG_CONTENT, _LONG_SIZE = 120, 128
_INLINE_MAX = 24


@dataclass(frozen=True)
class Size:
    """The nodes of a label, the edges that leave them, and the bytes of both."""

    nodes: int
    edges: int
    bytes: int


@dataclass(frozen=True)
class Saving:
    """The saving of a setting of `days` and `sample` for all namespaces.

    It has the number of runs, the maximum number of versions that they made, and the bytes of both.
    """

    days: int
    sample: float
    runs: int
    versions: int
    bytes: int


@dataclass(frozen=True)
class GraphCost:
    """The cost of a graph. `files` has the bytes of each store file; empty for a remote store."""

    events: int
    sizes: Mapping[str, Size]
    files: Mapping[str, int]
    savings: list[Saving]

    def per_million(self, amount: int) -> int | None:
        """Return the amount for a million events; None if there are no events."""
        return round(amount * 1_000_000 / self.events) if self.events else None

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        nodes = sum(size.nodes for size in self.sizes.values())
        size_bytes = sum(size.bytes for size in self.sizes.values())
        store_bytes = self.per_million(sum(self.files.values())) if self.files else None
        return {
            "events": self.events,
            "nodesPerMillionEvents": self.per_million(nodes),
            "bytesPerMillionEvents": self.per_million(size_bytes),
            "storeBytesPerMillionEvents": store_bytes,
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


def measure_cost(
    database: Database, rules: Rules, *, now: int, store: Path | None = None
) -> GraphCost:
    """Measure the cost of the graph.

    `now` is in microseconds since 1970, `store` is the folder of Neo4j's store. Reads all runs
    older than the shortest of `DAYS`. Raises UnavailableError.
    """
    sizes = {
        label: _size(database, label, *size)
        for label, size in count(database).items()
        if size.nodes
    }
    events = sum(int(row["folded"]) for row in checkpoints(database))
    return GraphCost(
        events,
        sizes,
        store_files(store) if store else {},
        estimate_savings(database, rules, now=now, sizes=sizes),
    )


def _size(database: Database, label: str, nodes: int, edges: int) -> Size:
    rows = database.read("read/export/nodes", label=label, after="", limit=_SAMPLED)
    each = sum(node_bytes(row["properties"]) for row in rows) / max(1, len(rows))
    return Size(nodes, edges, round(nodes * each + edges * _EDGE))


def node_bytes(properties: Mapping[str, Any]) -> int:
    """Return the bytes of a node with these properties, without edges and indexes."""
    blocks = long = 0
    for value in properties.values():
        value_blocks, value_long = _value_bytes(value)
        blocks, long = blocks + value_blocks, long + value_long
    return _NODE + -(-blocks // _BLOCKS_A_RECORD) * _BLOCKS + long


def _value_bytes(value: object) -> tuple[int, int]:
    """Return the eight-byte blocks of a value with its key, and the bytes of its own records."""
    if isinstance(value, datetime):
        return 3, 0
    if not isinstance(value, str | list):
        return 1, 0
    texts = [value] if isinstance(value, str) else [str(item) for item in value]
    length = sum(len(text.encode()) + 4 * isinstance(value, list) for text in texts)
    if length <= _INLINE_MAX:
        return 1 + -(-length // 8), 0
    return 1, -(-length // _LONG_CONTENT) * _LONG_SIZE


def store_files(store: Path) -> dict[str, int]:
    """Return the bytes of Neo4j's files by name, largest first; all indexes are one entry.

    Returns an empty dictionary if the folder does not exist.
    """
    sizes: dict[str, int] = {}
    for file in store.rglob("*"):
        if file.is_file():
            name = file.name if file.parent == store else "indexes"
            sizes[name] = sizes.get(name, 0) + file.stat().st_size
    return dict(sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])))


def estimate_savings(
    database: Database, rules: Rules, *, now: int, sizes: Mapping[str, Size]
) -> list[Saving]:
    """Estimate the savings of each combination of `DAYS` and `SAMPLES`."""
    least = Horizon(override(rules, days=min(DAYS), sample=0.0), now)
    protected = rollup.protected_runs(database)
    free: list[Candidate] = []
    for page in rollup.candidates(database, least):
        unprotected = [candidate for candidate in page if candidate.urn not in protected]
        for piece in chunks(unprotected, BATCH_SIZE):
            removable = set(rollup.removable_runs(database, piece))
            free.extend(candidate for candidate in piece if candidate.urn in removable)
    each = {label: size.bytes / size.nodes for label, size in sizes.items()}
    settings = product(DAYS, SAMPLES)
    return [_saving(free, days, sample, now, each) for days, sample in settings]


def _saving(
    free: list[Candidate], days: int, sample: float, now: int, each: Mapping[str, float]
) -> Saving:
    until = rollup.to_datetime(now) - timedelta(days=days)
    removable = [
        candidate
        for candidate in free
        if candidate.last < until and sample_position(candidate.run_id) >= sample
    ]
    versions = sum(candidate.versions for candidate in removable)
    size = len(removable) * each.get("PipelineRun", 0.0) + versions * each.get("Artifact", 0.0)
    return Saving(days, sample, len(removable), versions, round(size))
