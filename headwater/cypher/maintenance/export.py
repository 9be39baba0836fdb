"""The whole graph as rows, for copies and comparisons: nodes by (label, urn), then edges by (source, type, target).

Read in pages by urn, so that no graph is too large. Pages are read one after another: a graph that is written
meanwhile gives a picture of no single instant.

The canonical export leaves out what is no function of the set of events: what Headwater keeps for itself, the tallies
(an event received twice is counted twice), and what the clock said of runs that fell silent. Two graphs are the same
exactly when their canonical exports are.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headwater.cypher.driver.database import Database, Row
from headwater.schema.derived_properties import with_derived_properties

OWN = ("Checkpoint", "Migration", "Retention", "WriteLock")
TALLIES = ("Finding", "Producer")
NODES_PER_PAGE = 2_000
# Of nodes that are read with their edges: there may be many of those.
SOURCES_PER_PAGE = 500
PAGE_SECONDS_MAX = 60.0
# What no event says: the clock of a run, and when a node's place on the map was last written.
_NOT_OF_EVENTS = ("changedAt", "lastHeartbeatAt", "heartbeatLost", "lineageRevision")


class Counts(NamedTuple):
    """How many nodes a label has, and how many edges leave them."""

    nodes: int
    edges: int


def count(database: Database) -> dict[str, Counts]:
    """How large the graph is, by label, in the order of labels."""
    counts: dict[str, Counts] = {}
    for row in sorted(database.read("read/export/counts"), key=lambda row: str(row["label"])):
        before = counts.get(row["label"], Counts(0, 0))
        counts[row["label"]] = Counts(before.nodes + row["nodes"], before.edges + row["edges"])
    return counts


def checkpoints(database: Database) -> list[Row]:
    """How far every spool is folded: two that differ tell that the graph has changed between."""
    return [
        row["properties"]
        for row in database.read("read/export/internal_nodes")
        if row["label"] == "Checkpoint"
    ]


def export(
    database: Database, *, canonical: bool, counts: Mapping[str, Counts] | None = None
) -> Iterator[Row]:
    """Every node, then every edge."""
    counts = count(database) if counts is None else counts
    yield from export_nodes(database, canonical=canonical, counts=counts)
    yield from export_edges(database, counts=counts)


def export_nodes(
    database: Database, *, canonical: bool, counts: Mapping[str, Counts]
) -> Iterator[Row]:
    """Every node: `label`, `urn` (what Headwater keeps for itself has none) and `properties`."""
    own: dict[str, list[Row]] = {}
    for row in () if canonical else database.read("read/export/internal_nodes"):
        own.setdefault(row["label"], []).append(row["properties"])
    labels = {
        label
        for label, size in counts.items()
        if size.nodes and not (canonical and label in TALLIES)
    }
    for label in sorted(labels | own.keys()):
        for properties in own.get(label, ()):
            yield {"label": label, "urn": None, "properties": _sorted(properties)}
        for row in (
            _pages(database, "read/export/nodes", label, NODES_PER_PAGE) if label in labels else ()
        ):
            properties = _of_events(row) if canonical else row["properties"]
            whole = with_derived_properties(label, properties, row["cameFrom"], row["began"])
            yield {"label": label, "urn": row["urn"], "properties": _sorted(whole)}


def export_edges(database: Database, *, counts: Mapping[str, Counts]) -> Iterator[Row]:
    """Every edge: `source` and `target` (urns), `type` and `properties`."""
    labels = [label for label, size in counts.items() if size.edges]
    # Urns of two labels may begin alike: those of datasets and of their other names.
    sources = (_pages(database, "read/export/edges", label, SOURCES_PER_PAGE) for label in labels)
    for row in heapq.merge(*sources, key=lambda row: str(row["urn"])):
        edges = [
            {
                "source": row["urn"],
                "type": edge["type"],
                "target": edge["target"],
                "properties": _sorted({**_there(edge["derived"]), **edge["properties"]}),
            }
            for edge in row["edges"]
        ]
        yield from sorted(
            edges, key=lambda edge: (edge["type"], str(edge["target"]), as_line(edge["properties"]))
        )


def _there(told: Row) -> Row:
    return {key: value for key, value in told.items() if value is not None}


def _pages(database: Database, query: str, label: str, limit: int) -> Iterator[Row]:
    after = ""
    while True:
        rows = database.read(query, seconds=PAGE_SECONDS_MAX, label=label, after=after, limit=limit)
        yield from rows
        if len(rows) < limit:
            return
        after = rows[-1]["urn"]


def _of_events(row: Row) -> Row:
    properties = {
        key: value for key, value in row["properties"].items() if key not in _NOT_OF_EVENTS
    }
    return {**properties, "status": "RUNNING"} if row["heartbeatLost"] else properties


def _sorted(properties: Row) -> Row:
    return dict(sorted(properties.items()))


def as_line(row: Any) -> str:
    """A row as one line of JSON, always spelled the same; times are ISO 8601 in UTC."""
    return json.dumps(row, default=_time, ensure_ascii=False, separators=(",", ":"))


def _time(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} is nothing that the graph keeps")


def as_lines(rows: Iterable[Row]) -> Iterator[str]:
    return map(as_line, rows)
