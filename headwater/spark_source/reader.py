"""Reads of nodes, edges and lineage as Arrow batches: planned on the driver, read by executors.

A table is split into ranges of urns with about equally many nodes, found by one walk through the
index of urns. A task reads each range in its own transaction, page by page, so no range must fit
into memory. The ranges are not read at one instant. If the graph is written meanwhile, the result
is a mixture of moments, in which each node that exists throughout appears once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from headwater.chunks import chunks
from headwater.cypher.driver.database import Database, Row
from headwater.cypher.maintenance.export import Counts, count
from headwater.errors import QueryError
from headwater.lineage.questions import lineage
from headwater.lineage.traversal.request import LineageRequest
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import DERIVED_PROPERTIES, with_derived_properties
from headwater.schema.graph import NODE_KINDS
from headwater.spark_source.options import ReadOptions
from headwater.spark_source.predicate_pushdown import PushedFilters, Range, labels_of, push_filters
from headwater.spark_source.tables import (
    COMPUTED_COLUMNS,
    EDGES,
    LINEAGE,
    LINEAGE_EDGES,
    PROPERTIES,
    Columns,
    convert,
    select_columns,
)

# The nodes or edges of one task, unless the option `partitions` is set.
ROWS_PER_PARTITION = 20_000
PARTITIONS_MAX = 256
ROWS_PER_BATCH = 2_000
LINEAGE_NODES_MAX = 1_000_000
LINEAGE_EDGES_MAX = 5_000_000

_BETWEEN = ("HAS_COLUMN", "HAS_SCHEMA", "RUN_OF", "SUMMARY_OF", "SYMLINK_OF", "VERSION_OF")
_GRAPH_LABELS = frozenset({"Dataset", "Job", "Column"})


class RangePartition(InputPartition):
    """Ranges of urns of one label; without a label, the whole lineage."""

    def __init__(self, label: str = "", ranges: tuple[Range, ...] = ()) -> None:
        super().__init__((label, ranges))
        self.label = label
        self.ranges = ranges


class HeadwaterReader(DataSourceReader):
    """A read of the columns of `schema` from one kind."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._schema = schema
        self._columns = select_columns(
            options.kind, [(field.name, field.dataType.simpleString()) for field in schema.fields]
        )
        self._pushed = PushedFilters()

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802, pyspark's name
        """Keep the filters that Neo4j evaluates; return the others to Spark."""
        if self._is_lineage:
            return filters
        self._pushed, left = push_filters(self._options.kind, filters)
        return left

    def partitions(self) -> list[InputPartition]:
        """Plan the tasks of the read."""
        if self._is_lineage:
            return [RangePartition()]
        with closing(_open_database(self._options)) as database:
            labels = labels_of(self._options.kind, self._pushed)
            return list(plan_partitions(database, labels, self._pushed, self._options))

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Read the rows of one task."""
        # If the plan is empty, Spark calls this with None.
        if isinstance(partition, RangePartition):
            with closing(_open_database(self._options)) as database:
                yield from _batches(self._rows(database, partition), self._columns, self._schema)

    def _rows(self, database: Database, partition: RangePartition) -> Iterator[Row]:
        if self._is_lineage:
            return read_lineage(database, self._options)
        if self._options.kind == EDGES:
            return read_edges(
                database, partition, self._columns, self._pushed, self._options.seconds
            )
        return read_nodes(database, partition, self._columns, self._pushed, self._options.seconds)

    @property
    def _is_lineage(self) -> bool:
        return self._options.kind in {LINEAGE, LINEAGE_EDGES}


def _open_database(options: ReadOptions) -> Database:
    return Database(options.uri, options.user, options.password, database=options.database)


def plan_partitions(
    database: Database, labels: list[str], pushed: PushedFilters, options: ReadOptions
) -> Iterator[RangePartition]:
    """Split a table into partitions of about the same size; every urn is in one of them.

    Args:
        database: The graph.
        labels: The labels of the nodes to read.
        pushed: The filters that Neo4j evaluates.
        options: The options of the read.
    """
    counts = count(database)
    sizes = {
        label: _size(counts.get(label, Counts(0, 0)), edges=options.kind == EDGES)
        for label in labels
    }
    total = sum(sizes.values())
    partitions = options.partitions or min(
        max(math.ceil(total / ROWS_PER_PARTITION), 1), PARTITIONS_MAX
    )
    for label, size in sizes.items():
        if size == 0:
            continue
        ranges = pushed.ranges(label)
        if pushed.urns is not None:
            yield RangePartition(label, ranges)
            continue
        nodes_each = math.ceil(counts[label].nodes / max(round(partitions * size / total), 1))
        for after, upto in ranges:
            yield from (
                RangePartition(label, (part,))
                for part in _split_range(database, label, after, upto, nodes_each)
            )


def _size(counts: Counts, *, edges: bool) -> int:
    return counts.edges if edges else counts.nodes


def _split_range(
    database: Database, label: str, after: str, upto: str, nodes_each: int
) -> Iterator[Range]:
    """Split a range into ranges of so many nodes; the last is open for nodes written meanwhile."""
    while True:
        ends = database.read(
            "read/export/table_partition_end",
            label=label,
            after=after,
            upto=upto,
            skip=nodes_each - 1,
        )
        if len(ends) < 2:
            yield after, upto
            return
        yield after, ends[0]["urn"]
        after = ends[0]["urn"]


def read_nodes(
    database: Database,
    partition: RangePartition,
    columns: Columns,
    pushed: PushedFilters,
    timeout_seconds: float,
) -> Iterator[Row]:
    """Read nodes, with derived properties computed.

    Args:
        database: The graph.
        partition: The ranges of urns to read.
        columns: The columns to return.
        pushed: The filters that Neo4j evaluates.
        timeout_seconds: The limit of each read transaction, in seconds.
    """
    derived = DERIVED_PROPERTIES.get(partition.label, {})
    properties = dict.fromkeys(columns)
    for name in columns:
        properties.update(dict.fromkeys(derived.get(name, ())))
    stored = list(properties)
    for after, upto in partition.ranges:
        for row in database.stream(
            "read/export/table_nodes",
            seconds=timeout_seconds,
            label=partition.label,
            after=after,
            upto=upto,
            columns=stored,
            **pushed.parameters(),
        ):
            values = dict(zip(stored, row["values"], strict=True))
            yield with_derived_properties(partition.label, values, row["cameFrom"], row["began"])


def read_edges(
    database: Database,
    partition: RangePartition,
    columns: Columns,
    pushed: PushedFilters,
    timeout_seconds: float,
) -> Iterator[Row]:
    """Read the edges that leave nodes.

    Args:
        database: The graph.
        partition: The ranges of urns of the sources.
        columns: The columns to return.
        pushed: The filters that Neo4j evaluates.
        timeout_seconds: The limit of each read transaction, in seconds.
    """
    stored = [name for name in columns if name not in COMPUTED_COLUMNS]
    for after, upto in partition.ranges:
        for row in database.stream(
            "read/export/table_edges",
            seconds=timeout_seconds,
            label=partition.label,
            after=after,
            upto=upto,
            types=pushed.types,
            columns=stored,
            whole=PROPERTIES in columns,
            **pushed.parameters(),
        ):
            ends = {
                "sourceKind": kind_of_label(partition.label),
                "targetKind": kind_of_label(row["label"]),
                "layer": layer_of(partition.label, row["type"], row["label"]),
            }
            edge = {name: row[name] for name in ("source", "type", "target", PROPERTIES)}
            if row["targetProperties"]:
                facts = {
                    key: value
                    for key, value in row["targetProperties"].items()
                    if value is not None
                }
                edge[PROPERTIES] = {**facts, **row[PROPERTIES]}
            yield {**edge, **ends, **dict(zip(stored, row["values"], strict=True))}


def kind_of_label(label: str) -> str:
    """Return the kind of a node: those of GraphQL, SYMLINK (a dataset's alias), or RUNSUMMARY."""
    return NODE_KINDS.get(label, label.upper())


def layer_of(source: str, type: str, target: str) -> str:
    """Return the layer of an edge, `lineage`, `history` or `between`, from the labels of its
    ends.
    """
    if type in _BETWEEN:
        return "between"
    return "lineage" if source in _GRAPH_LABELS and target in _GRAPH_LABELS else "history"


def read_lineage(database: Database, options: ReadOptions) -> Iterator[Row]:
    """Read the nodes or edges of a lineage.

    Args:
        database: The graph.
        options: The options of the read.

    Raises:
        QueryError: A limit other than the depth cut the lineage short.
    """
    result = lineage.lineage(
        GraphView(database),
        LineageRequest(
            (options.urn,),
            direction=options.direction,
            depth=options.depth,
            nodes_max=LINEAGE_NODES_MAX,
            edges_max=LINEAGE_EDGES_MAX,
            timeout_seconds=options.seconds,
        ),
    )
    if result.reason not in {"", "depth"}:
        raise QueryError(
            f"the lineage of {options.urn} exceeds the limit of {result.reason}",
            hint="Set a lower 'depth' or a higher 'seconds'.",
        )
    if options.kind == LINEAGE_EDGES:
        return (
            {"source": edge.source, "target": edge.target, "type": edge.type}
            for edge in result.edges
        )
    return (
        {
            "urn": node.urn,
            "kind": node.kind,
            "namespace": node.namespace,
            "name": node.name,
            "distance": result.distances[node.urn],
        }
        for node in result.nodes
    )


def _batches(rows: Iterator[Row], columns: Columns, schema: StructType) -> Iterator[pa.RecordBatch]:
    arrow = to_arrow_schema(schema)
    for some in chunks(rows, ROWS_PER_BATCH):
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(_column(some, name, type), arrow.field(name).type)
                for name, type in columns.items()
            ],
            schema=arrow,
        )


def _column(rows: list[Row], name: str, type: str) -> list[Any]:
    return [convert(type, row.get(name)) for row in rows]
