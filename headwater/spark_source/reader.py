"""Reads of nodes, edges and lineage as batches of Arrow: planned on the driver, read by the executors.

A table is cut into ranges of urns that hold about as many nodes each, found by walking the index of urns once. Each
range is read by one task in a read transaction of its own, whose rows come over the wire page by page, so that no
range has to fit into memory. The ranges are not read at one instant: a graph that is written meanwhile gives a picture
of no single moment, in which what was there all along is there once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from headwater.cypher.driver.database import Database, Row
from headwater.cypher.maintenance.export import Counts, count
from headwater.errors import QueryError
from headwater.lineage.questions import lineage
from headwater.lineage.view import GraphView
from headwater.schema.derived_properties import DERIVED_PROPERTIES, with_derived_properties
from headwater.schema.graph import NODE_KINDS
from headwater.spark_source.options import Reading
from headwater.spark_source.predicate_pushdown import Pushed, Range, labels_of, push
from headwater.spark_source.tables import (
    EDGES,
    LINEAGE,
    LINEAGE_EDGES,
    NOT_CARRIED,
    PROPERTIES,
    Columns,
    chosen,
    value_as,
)

# Of nodes or edges: what one task reads when nothing is said about the number of partitions.
ROWS_PER_PART = 20_000
PARTS_MAX = 256
ROWS_PER_BATCH = 2_000
LINEAGE_NODES_MAX = 1_000_000
LINEAGE_EDGES_MAX = 5_000_000

_BETWEEN = ("HAS_COLUMN", "HAS_SCHEMA", "RUN_OF", "SUMMARY_OF", "SYMLINK_OF", "VERSION_OF")
_OF_MAP = frozenset({"Dataset", "Job", "Column"})


class Part(InputPartition):
    """Ranges of urns of one label. Without a label: everything at once, as a walk is."""

    def __init__(self, label: str = "", ranges: tuple[Range, ...] = ()) -> None:
        super().__init__((label, ranges))
        self.label = label
        self.ranges = ranges


class HeadwaterReader(DataSourceReader):
    """A read of one kind; `schema` says which of its columns."""

    def __init__(self, options: Reading, schema: StructType) -> None:
        self._options = options
        self._schema = schema
        self._columns = chosen(
            options.kind, [(one.name, one.dataType.simpleString()) for one in schema.fields]
        )
        self._pushed = Pushed()

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802, pyspark's name
        if self._is_walk:
            return filters
        self._pushed, left = push(self._options.kind, filters)
        return left

    def partitions(self) -> list[InputPartition]:
        if self._is_walk:
            return [Part()]
        with closing(_opened(self._options)) as database:
            labels = labels_of(self._options.kind, self._pushed)
            return list(parts(database, labels, self._pushed, self._options))

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        # Spark makes one partition of nothing where there are none.
        if isinstance(partition, Part):
            with closing(_opened(self._options)) as database:
                yield from _batches(self._rows(database, partition), self._columns, self._schema)

    def _rows(self, database: Database, part: Part) -> Iterator[Row]:
        if self._is_walk:
            return walk(database, self._options)
        if self._options.kind == EDGES:
            return edges(database, part, self._columns, self._pushed, self._options.seconds)
        return nodes(database, part, self._columns, self._pushed, self._options.seconds)

    @property
    def _is_walk(self) -> bool:
        return self._options.kind in {LINEAGE, LINEAGE_EDGES}


def _opened(options: Reading) -> Database:
    return Database(options.uri, options.user, options.password, database=options.database)


def parts(
    database: Database, labels: list[str], pushed: Pushed, options: Reading
) -> Iterator[Part]:
    """The table in parts of about the same size: every urn is in one of them."""
    counts = count(database)
    sizes = {
        label: _size(counts.get(label, Counts(0, 0)), edges=options.kind == EDGES)
        for label in labels
    }
    total = sum(sizes.values())
    wanted = options.partitions or min(max(math.ceil(total / ROWS_PER_PART), 1), PARTS_MAX)
    for label, size in sizes.items():
        if size == 0:
            continue
        ranges = pushed.ranges(label)
        if pushed.urns is not None:
            yield Part(label, ranges)
            continue
        nodes_each = math.ceil(counts[label].nodes / max(round(wanted * size / total), 1))
        for after, upto in ranges:
            yield from (
                Part(label, (one,)) for one in _cut(database, label, after, upto, nodes_each)
            )


def _size(counts: Counts, *, edges: bool) -> int:
    return counts.edges if edges else counts.nodes


def _cut(database: Database, label: str, after: str, upto: str, nodes_each: int) -> Iterator[Range]:
    """A range in parts of so many nodes. The last goes up to the end, so that what is written meanwhile is in it."""
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


def nodes(
    database: Database, part: Part, columns: Columns, pushed: Pushed, seconds: float
) -> Iterator[Row]:
    spared = DERIVED_PROPERTIES.get(part.label, {})
    asked = list(
        dict.fromkeys([*columns, *(key for name in columns for key in spared.get(name, ()))])
    )
    for after, upto in part.ranges:
        for row in database.stream(
            "read/export/table_nodes",
            seconds=seconds,
            label=part.label,
            after=after,
            upto=upto,
            columns=asked,
            **pushed.parameters(),
        ):
            values = dict(zip(asked, row["values"], strict=True))
            yield with_derived_properties(part.label, values, row["cameFrom"], row["began"])


def edges(
    database: Database, part: Part, columns: Columns, pushed: Pushed, seconds: float
) -> Iterator[Row]:
    carried = [name for name in columns if name not in NOT_CARRIED]
    for after, upto in part.ranges:
        for row in database.stream(
            "read/export/table_edges",
            seconds=seconds,
            label=part.label,
            after=after,
            upto=upto,
            types=pushed.types,
            columns=carried,
            whole=PROPERTIES in columns,
            **pushed.parameters(),
        ):
            ends = {
                "sourceKind": kind_of_label(part.label),
                "targetKind": kind_of_label(row["label"]),
                "layer": layer_of(part.label, row["type"], row["label"]),
            }
            said = {name: row[name] for name in ("source", "type", "target", PROPERTIES)}
            if row["told"]:
                kept = {key: value for key, value in row["told"].items() if value is not None}
                said[PROPERTIES] = {**kept, **row[PROPERTIES]}
            yield {**said, **ends, **dict(zip(carried, row["values"], strict=True))}


def kind_of_label(label: str) -> str:
    """DATASET, JOB, PIPELINE_RUN, ... Beside those of GraphQL SYMLINK, another name of a dataset, and RUNSUMMARY."""
    return NODE_KINDS.get(label, label.upper())


def layer_of(source: str, type: str, target: str) -> str:
    """map, history or between, from the labels of the ends."""
    if type in _BETWEEN:
        return "between"
    return "map" if source in _OF_MAP and target in _OF_MAP else "history"


def walk(database: Database, options: Reading) -> Iterator[Row]:
    """The nodes or the edges of a lineage. Raises QueryError when it had to be cut short but for its depth."""
    found = lineage.lineage(
        GraphView(database),
        options.urn,
        direction=options.direction,
        depth=options.depth,
        nodes_max=LINEAGE_NODES_MAX,
        edges_max=LINEAGE_EDGES_MAX,
        seconds=options.seconds,
    )
    if found.reason not in {"", "depth"}:
        raise QueryError(
            f"the lineage of {options.urn} is larger than could be read: too much {found.reason}",
            hint="Set option 'depth' lower, or 'seconds' higher.",
        )
    if options.kind == LINEAGE_EDGES:
        return (
            {"source": one.source, "target": one.target, "type": one.type} for one in found.edges
        )
    return (
        {
            "urn": node.urn,
            "kind": node.kind,
            "namespace": node.namespace,
            "name": node.name,
            "distance": found.distances[node.urn],
        }
        for node in found.nodes
    )


def _batches(rows: Iterator[Row], columns: Columns, schema: StructType) -> Iterator[pa.RecordBatch]:
    arrow = to_arrow_schema(schema)
    while some := list(islice(rows, ROWS_PER_BATCH)):
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(_column(some, name, type), arrow.field(name).type)
                for name, type in columns.items()
            ],
            schema=arrow,
        )


def _column(rows: list[Row], name: str, type: str) -> list[Any]:
    return [value_as(type, row.get(name)) for row in rows]
