"""The lineage graph as CSV of Amundsen, which its `Neo4jCsvPublisher` reads.

The folders `nodes` and `relationships` hold a file for each kind: Database, Cluster, Schema, Table,
Column, Description, and the lineage of tables and columns.

Source: the models of amundsen-databuilder 7.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from headwater.exports.part import Part
from headwater.exports.rows import Node
from headwater.exports.table_lineage import TableLineage
from headwater.lineage.view import GraphView
from headwater.schema.urns import parse_urn

_NODES = {
    "Database": ("name",),
    "Cluster": ("name",),
    "Schema": ("name",),
    "Table": ("name", "is_view:UNQUOTED"),
    "Column": ("name", "col_type", "sort_order:UNQUOTED"),
    "Description": ("description", "description_source"),
}
_RELATIONS = ("START_LABEL", "START_KEY", "END_LABEL", "END_KEY", "TYPE", "REVERSE_TYPE")


class _AmundsenFiles:
    """The CSV files of nodes and relationships; a repeated node or relationship is one row."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._writers: dict[str, Any] = {}
        self._written: set[tuple[str, ...]] = set()
        self.rows = 0

    def node(self, label: str, key: str, *values: object) -> None:
        header = ("LABEL", "KEY", *_NODES[label])
        self._write("nodes", label, header, (label, key), values)

    def relation(self, start: tuple[str, str], end: tuple[str, str], type: tuple[str, str]) -> None:
        name = f"{start[0]}_{end[0]}_{type[0]}"
        self._write("relationships", name, _RELATIONS, (*start, *end, *type), ())

    def _write(
        self,
        kind: str,
        name: str,
        header: Iterable[str],
        key: tuple[str, ...],
        values: Iterable[object],
    ) -> None:
        if key in self._written:
            return
        self._written.add(key)
        writer = self._writers.get(name)
        if writer is None:
            folder = self._folder / kind
            folder.mkdir(parents=True, exist_ok=True)
            file = self._stack.enter_context(
                (folder / f"{name}.csv").open("w", encoding="utf-8", newline="")
            )
            writer = self._writers[name] = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
            writer.writerow(header)
        writer.writerow([*key, *values])
        self.rows += 1


def write_amundsen(view: GraphView, part: Part, folder: Path) -> int:
    """Write the folders `nodes` and `relationships` of Amundsen; return the number of rows."""
    lineage = TableLineage(view.database, part)
    with ExitStack() as stack:
        files = _AmundsenFiles(folder, stack)
        keys = {urn: _write_table(files, node, lineage) for urn, node in lineage.datasets.items()}
        down = ("HAS_DOWNSTREAM", "HAS_UPSTREAM")
        for urn, sources in lineage.upstreams().items():
            for source in sorted(sources):
                files.relation(("Table", keys[source]), ("Table", keys[urn]), down)
        fields = {
            column: f"{keys[dataset]}/{lineage.name_of_column[column]}"
            for column, dataset in lineage.dataset_of_column.items()
        }
        for column, sources in lineage.column_sources.items():
            for source in sorted(sources):
                files.relation(("Column", fields[source]), ("Column", fields[column]), down)
        return files.rows


def _write_table(files: _AmundsenFiles, node: Node, lineage: TableLineage) -> str:
    """Write a table with what it stands in; return its key: `database://cluster.schema/table`."""
    namespace, name = parse_urn(node.urn).parts or ("", node.urn)
    database, cluster, schema, table = amundsen_names(namespace, name)
    keys = [f"{database}://", f"{database}://{cluster}", f"{database}://{cluster}.{schema}"]
    key = f"{keys[2]}/{table}"
    files.node("Database", f"database://{database}", database)
    files.node("Cluster", keys[1], cluster)
    files.node("Schema", keys[2], schema)
    is_view = str(node.properties.get("type") or "").upper() == "VIEW"
    files.node("Table", key, table, str(is_view).lower())
    files.relation(
        ("Database", f"database://{database}"), ("Cluster", keys[1]), ("CLUSTER", "CLUSTER_OF")
    )
    files.relation(("Cluster", keys[1]), ("Schema", keys[2]), ("SCHEMA", "SCHEMA_OF"))
    files.relation(("Schema", keys[2]), ("Table", key), ("TABLE", "TABLE_OF"))
    if description := node.properties.get("description"):
        files.node("Description", f"{key}/_description", description, "description")
        files.relation(
            ("Table", key),
            ("Description", f"{key}/_description"),
            ("DESCRIPTION", "DESCRIPTION_OF"),
        )
    for place, column in enumerate(lineage.columns.get(node.urn, ())):
        field = f"{key}/{column.properties['name']}"
        type = column.properties.get("type") or "unknown"
        files.node("Column", field, column.properties["name"], type, place)
        files.relation(("Table", key), ("Column", field), ("COLUMN", "COLUMN_OF"))
    return key


def amundsen_names(namespace: str, name: str) -> tuple[str, str, str, str]:
    """Return database, cluster, schema and table; a name of Amundsen has no slash or dot."""
    database, _, authority = namespace.partition("://")
    parts = [part for part in name.replace("/", ".").split(".") if part]
    table = parts[-1] if parts else name
    schema = "_".join(parts[:-1]) or "default"
    return (
        _safe(database or "unknown"),
        _safe(authority or "default"),
        _safe(schema),
        _safe(table),
    )


def _safe(part: str) -> str:
    return quote(part, safe=" -_:@")
