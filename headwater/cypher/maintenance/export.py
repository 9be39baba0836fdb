"""The whole graph as rows, for copies and comparisons.

Rows are nodes by (label, urn), then edges by (source, type, target). Pages by urn keep memory small
for a graph of any size. Pages are read one after another, so the export of a graph that is written
meanwhile shows no single instant.

The canonical export contains only functions of the set of events. It leaves out the nodes of
Headwater itself, the producer statistics (a repeated event counts twice) and the effects of the
clock on runs with a lost heartbeat. Two graphs are equal exactly if their canonical exports are.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headwater.cypher.driver.database import Database, Row
from headwater.schema.derived_properties import with_derived_properties

STATISTICS_LABELS = ("ConformanceFinding", "Producer")
NODES_PER_PAGE = 2_000
# A smaller page for nodes with their edges: a node may have many.
SOURCES_PER_PAGE = 500
PAGE_SECONDS_MAX = 60.0
# Properties that depend on clocks and revisions, not on events.
_NOT_OF_EVENTS = (
    "changedAt",
    "factsRevision",
    "lastHeartbeatAt",
    "heartbeatLost",
    "lineageRevision",
)


class Counts(NamedTuple):
    """The number of nodes of a label, and of the edges that leave them."""

    nodes: int
    edges: int


def count(database: Database) -> dict[str, Counts]:
    """Return the size of the graph by label, in the order of labels."""
    counts: dict[str, Counts] = {}
    for row in sorted(database.read("read/export/counts"), key=lambda row: str(row["label"])):
        before = counts.get(row["label"], Counts(0, 0))
        counts[row["label"]] = Counts(before.nodes + row["nodes"], before.edges + row["edges"])
    return counts


def checkpoints(database: Database) -> list[Row]:
    """Return the checkpoints of all spools: if they differ later, the graph has changed."""
    return [
        row["properties"]
        for row in database.read("read/export/internal_nodes")
        if row["label"] == "Checkpoint"
    ]


def export(
    database: Database, *, canonical: bool, counts: Mapping[str, Counts] | None = None
) -> Iterator[Row]:
    """Yield every node, then every edge."""
    counts = count(database) if counts is None else counts
    yield from export_nodes(database, canonical=canonical, counts=counts)
    yield from export_edges(database, counts=counts)


def export_nodes(
    database: Database, *, canonical: bool, counts: Mapping[str, Counts]
) -> Iterator[Row]:
    """Yield every node: `label`, `urn` (None for internal nodes) and `properties`.

    A dataset with a label by its type has it in `labels`.
    """
    internal: dict[str, list[Row]] = {}
    if not canonical:
        for row in database.read("read/export/internal_nodes"):
            internal.setdefault(row["label"], []).append(row["properties"])
    labels = {label for label, size in counts.items() if size.nodes}
    if canonical:
        labels.difference_update(STATISTICS_LABELS)
    for label in sorted(labels | internal.keys()):
        for properties in internal.get(label, ()):
            yield {"label": label, "urn": None, "properties": _sorted(properties)}
        if label not in labels:
            continue
        for row in _pages(database, "read/export/nodes", label, NODES_PER_PAGE):
            properties = _canonical_properties(row) if canonical else row["properties"]
            properties = with_derived_properties(label, properties, row["cameFrom"], row["began"])
            by_type = {"labels": row["labels"]} if row["labels"] else {}
            yield {
                "label": label,
                "urn": row["urn"],
                **by_type,
                "properties": _sorted(properties),
            }


def export_edges(database: Database, *, counts: Mapping[str, Counts]) -> Iterator[Row]:
    """Yield every edge: `source` and `target` (urns), `type` and `properties`."""
    labels = [label for label, size in counts.items() if size.edges]
    # Urns of two labels may have the same prefix: datasets and symlinks.
    sources = (_pages(database, "read/export/edges", label, SOURCES_PER_PAGE) for label in labels)
    for row in heapq.merge(*sources, key=lambda row: str(row["urn"])):
        edges = [_edge(row["urn"], edge) for edge in row["edges"]]
        yield from sorted(edges, key=_edge_order)


def _edge(source: str, edge: Row) -> Row:
    derived = {key: value for key, value in edge["derived"].items() if value is not None}
    return {
        "source": source,
        "type": edge["type"],
        "target": edge["target"],
        "properties": _sorted({**derived, **edge["properties"]}),
    }


def _edge_order(edge: Row) -> tuple[str, str, str]:
    return edge["type"], str(edge["target"]), as_line(edge["properties"])


def _pages(database: Database, query: str, label: str, limit: int) -> Iterator[Row]:
    after = ""
    while True:
        rows = database.read(query, seconds=PAGE_SECONDS_MAX, label=label, after=after, limit=limit)
        yield from rows
        if len(rows) < limit:
            return
        after = rows[-1]["urn"]


def _canonical_properties(row: Row) -> Row:
    properties = {
        key: value for key, value in row["properties"].items() if key not in _NOT_OF_EVENTS
    }
    return {**properties, "status": "RUNNING"} if row["heartbeatLost"] else properties


def _sorted(properties: Row) -> Row:
    return dict(sorted(properties.items()))


def as_line(row: Any) -> str:
    """Return a row as one line of JSON in a fixed spelling; times are ISO 8601 in UTC."""
    return json.dumps(row, default=_time, ensure_ascii=False, separators=(",", ":"))


def _time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} is not a type of the graph's properties")


def as_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield each row as one line of JSON."""
    return map(as_line, rows)
