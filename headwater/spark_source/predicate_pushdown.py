"""The filters of a query that Neo4j evaluates, so that excluded rows are never read.

Pushed down are equality and IN for strings, integers and booleans, comparisons of times and
integers, and IS NOT NULL, all on properties of the node or edge. Spark evaluates the other filters.
A filter by urn or namespace also narrows the scanned urns, which begin with their namespace. Times
are compared to the microsecond, as in Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from headwater.schema.derived_properties import DERIVED_PROPERTIES
from headwater.schema.graph import LABELS as LABELS_OF_URNS
from headwater.spark_source.tables import (
    BIGINT,
    BOOLEAN,
    COMPUTED_COLUMNS,
    EDGES,
    LABELS,
    STRING,
    TABLES,
    TIMESTAMP,
)

# Urns are ASCII and begin with a small letter, so this string is behind all of them.
URN_END = "~"
ALL_URNS = (("", URN_END),)
# A filter with more urns is not pushed down.
URNS_MAX = 1_000

Range = tuple[str, str]
_URN_KINDS = {label: kind for kind, label in LABELS_OF_URNS.items()} | {"Symlink": "dataset"}
_WITHOUT_NAMESPACE = frozenset({"PipelineRun", "Answer", "SchemaVersion"})


@dataclass
class PushedFilters:
    """The conditions on nodes or edges. `least` is inclusive, `below` exclusive; None is any."""

    equal: dict[str, list[Any]] = field(default_factory=dict)
    least: dict[str, Any] = field(default_factory=dict)
    below: dict[str, Any] = field(default_factory=dict)
    present: list[str] = field(default_factory=list)
    urns: list[str] | None = None
    types: list[str] | None = None
    layers: list[str] | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the conditions as query parameters."""
        return {
            "equal": self.equal,
            "least": self.least,
            "below": self.below,
            "present": self.present,
        }

    def ranges(self, label: str) -> tuple[Range, ...]:
        """Return the ranges of urns to scan: after the first of each pair, up to the second."""
        if self.urns is not None:
            return tuple((_just_before(urn), urn) for urn in sorted(set(self.urns)) if urn)
        namespaces = self.equal.get("namespace")
        if namespaces is None or label in _WITHOUT_NAMESPACE:
            return ALL_URNS
        kind = _URN_KINDS[label]
        prefixes = sorted({f"{kind}:{quote(namespace, safe='/')}" for namespace in namespaces})
        # The urn of a long name is a hash, whatever its namespace.
        return ((f"{kind}:#", f"{kind}:$"), *((f"{start}:", f"{start};") for start in prefixes))


def _just_before(urn: str) -> str:
    """Return a string without urns between it and this urn."""
    return f"{urn[:-1]}{chr(max(ord(urn[-1]) - 1, 0))}\uffff"


def push_filters(kind: str, filters: Iterable[Filter]) -> tuple[PushedFilters, list[Filter]]:
    """Split the filters of a query.

    Args:
        kind: The kind of the table.
        filters: The filters of the query, joined by AND.

    Returns:
        The filters that Neo4j evaluates, and those that are left to Spark.
    """
    pushed = PushedFilters()
    return pushed, [filter for filter in filters if not _push(pushed, kind, filter)]


def _push(pushed: PushedFilters, kind: str, filter: Filter) -> bool:
    path: tuple[str, ...] = getattr(filter, "attribute", ())
    if len(path) != 1 or path[0] not in TABLES[kind]:
        return False
    column, type = path[0], TABLES[kind][path[0]]
    # Derived properties are not stored, so Neo4j cannot compare them.
    if kind == "artifacts" and column in DERIVED_PROPERTIES["Artifact"]:
        return False
    if column == ("source" if kind == EDGES else "urn"):
        return _push_urn_filter(pushed, filter)
    if kind == EDGES and column in COMPUTED_COLUMNS:
        return _push_edge_filter(pushed, column, filter)
    if isinstance(filter, IsNotNull):
        pushed.present.append(column)
        return True
    values = _values(filter, type)
    if values is not None and type != TIMESTAMP:
        pushed.equal[column] = _intersect(pushed.equal.get(column), values)
        return True
    return _push_comparison(pushed, column, type, filter)


def _values(filter: Filter, type: str) -> list[Any] | None:
    """Return the values of an equality or an IN if their type is that of the column, else None."""
    if isinstance(filter, EqualTo):
        values = [filter.value]
    elif isinstance(filter, In):
        values = [value for value in filter.value if value is not None]
    else:
        return None
    expected = {STRING: str, BIGINT: int, BOOLEAN: bool, TIMESTAMP: datetime}.get(type)
    return values if expected and all(isinstance(value, expected) for value in values) else None


def _intersect(some: list[Any] | None, others: list[Any]) -> list[Any]:
    return others if some is None else [value for value in some if value in others]


def _push_urn_filter(pushed: PushedFilters, filter: Filter) -> bool:
    if isinstance(filter, IsNotNull):
        return True
    values = _values(filter, STRING)
    if values is None or len(values) > URNS_MAX:
        return False
    pushed.urns = _intersect(pushed.urns, values)
    return True


def _push_edge_filter(pushed: PushedFilters, column: str, filter: Filter) -> bool:
    values = _values(filter, STRING)
    if column == "type" and isinstance(filter, IsNotNull):
        return True
    if column == "type" and values is not None:
        pushed.types = _intersect(pushed.types, values)
        return True
    if column == "layer" and values is not None:
        pushed.layers = _intersect(pushed.layers, values)
    return False


def _push_comparison(pushed: PushedFilters, column: str, type: str, filter: Filter) -> bool:
    if type not in {TIMESTAMP, BIGINT}:
        return False
    value: Any = getattr(filter, "value", None)
    step: Any = 1
    if type == TIMESTAMP and isinstance(value, datetime):
        value, step = value.astimezone(UTC), timedelta(microseconds=1)
    elif type == TIMESTAMP or not isinstance(value, int):
        return False
    if isinstance(filter, GreaterThan | GreaterThanOrEqual | EqualTo):
        least = value + step if isinstance(filter, GreaterThan) else value
        pushed.least[column] = max(least, pushed.least.get(column, least))
    if isinstance(filter, LessThan | LessThanOrEqual | EqualTo):
        below = value if isinstance(filter, LessThan) else value + step
        pushed.below[column] = min(below, pushed.below.get(column, below))
    return isinstance(
        filter, GreaterThan | GreaterThanOrEqual | EqualTo | LessThan | LessThanOrEqual
    )


def labels_of(kind: str, pushed: PushedFilters) -> list[str]:
    """Return the labels of the nodes to read; for edges, of their sources.

    Args:
        kind: The kind of the table.
        pushed: The filters that Neo4j evaluates.
    """
    if kind != EDGES:
        return [LABELS[kind]]
    if pushed.layers == ["lineage"]:
        return ["Dataset", "Job", "Column"]
    return list(LABELS.values())
