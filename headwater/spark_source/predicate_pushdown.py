"""What of a query's WHERE is answered by Neo4j, so that what is not wanted is never read.

Taken are equality and IN of texts, whole numbers and truth values, comparisons of times and whole numbers, and IS NOT
NULL, all on properties of the node or edge; what is left goes back to Spark. A urn or a namespace also narrows what is
looked through, since urns begin with their namespace. Times are compared as Spark sees them, to the microsecond.
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
    EDGES,
    LABELS,
    NOT_CARRIED,
    STRING,
    TABLES,
    TIMESTAMP,
)

# Urns are ASCII and none begins with anything above a small letter.
LAST = "~"
EVERY_URN = (("", LAST),)
# More urns than that are not looked up one by one.
URNS_MAX = 1_000

Range = tuple[str, str]
_URN_KINDS = {label: kind for kind, label in LABELS_OF_URNS.items()} | {"Symlink": "dataset"}
_WITHOUT_NAMESPACE = frozenset({"PipelineRun", "Answer", "SchemaVersion"})


@dataclass
class Pushed:
    """What must hold of a node or an edge. `least` is included, `below` is not; None for `types`: of any type."""

    equal: dict[str, list[Any]] = field(default_factory=dict)
    least: dict[str, Any] = field(default_factory=dict)
    below: dict[str, Any] = field(default_factory=dict)
    present: list[str] = field(default_factory=list)
    urns: list[str] | None = None
    types: list[str] | None = None
    layers: list[str] | None = None

    def parameters(self) -> dict[str, Any]:
        return {
            "equal": self.equal,
            "least": self.least,
            "below": self.below,
            "present": self.present,
        }

    def ranges(self, label: str) -> tuple[Range, ...]:
        """Between which urns to look: after the first of each pair, up to the second."""
        if self.urns is not None:
            return tuple((_just_before(urn), urn) for urn in sorted(set(self.urns)) if urn)
        namespaces = self.equal.get("namespace")
        if namespaces is None or label in _WITHOUT_NAMESPACE:
            return EVERY_URN
        kind = _URN_KINDS[label]
        begun = sorted({f"{kind}:{quote(namespace, safe='/')}" for namespace in namespaces})
        # A urn that would be too long is a hash, whatever its namespace.
        return ((f"{kind}:#", f"{kind}:$"), *((f"{start}:", f"{start};") for start in begun))


def _just_before(urn: str) -> str:
    """A text with no urn between it and this one."""
    return f"{urn[:-1]}{chr(max(ord(urn[-1]) - 1, 0))}\uffff"


def push(kind: str, filters: Iterable[Filter]) -> tuple[Pushed, list[Filter]]:
    """What Neo4j answers, and what is left to Spark."""
    pushed = Pushed()
    return pushed, [one for one in filters if not _take(pushed, kind, one)]


def _take(pushed: Pushed, kind: str, one: Filter) -> bool:
    path: tuple[str, ...] = getattr(one, "attribute", ())
    if len(path) != 1 or path[0] not in TABLES[kind]:
        return False
    column, type = path[0], TABLES[kind][path[0]]
    # What a version spares is not there to be compared.
    if kind == "artifacts" and column in DERIVED_PROPERTIES["Artifact"]:
        return False
    if column == ("source" if kind == EDGES else "urn"):
        return _take_urn(pushed, one)
    if kind == EDGES and column in NOT_CARRIED:
        return _take_of_edge(pushed, column, one)
    if isinstance(one, IsNotNull):
        pushed.present.append(column)
        return True
    values = _values(one, type)
    if values is not None and type != TIMESTAMP:
        pushed.equal[column] = _both(pushed.equal.get(column), values)
        return True
    return _take_comparison(pushed, column, type, one)


def _values(one: Filter, type: str) -> list[Any] | None:
    """The values of an equality or an IN, when they are such as the column holds."""
    if isinstance(one, EqualTo):
        values = [one.value]
    elif isinstance(one, In):
        values = [value for value in one.value if value is not None]
    else:
        return None
    wanted = {STRING: str, BIGINT: int, BOOLEAN: bool, TIMESTAMP: datetime}.get(type)
    return values if wanted and all(isinstance(value, wanted) for value in values) else None


def _both(some: list[Any] | None, others: list[Any]) -> list[Any]:
    return others if some is None else [value for value in some if value in others]


def _take_urn(pushed: Pushed, one: Filter) -> bool:
    if isinstance(one, IsNotNull):
        return True
    values = _values(one, STRING)
    if values is None or len(values) > URNS_MAX:
        return False
    pushed.urns = _both(pushed.urns, values)
    return True


def _take_of_edge(pushed: Pushed, column: str, one: Filter) -> bool:
    values = _values(one, STRING)
    if column == "type" and isinstance(one, IsNotNull):
        return True
    if column == "type" and values is not None:
        pushed.types = _both(pushed.types, values)
        return True
    if column == "layer" and values is not None:
        pushed.layers = _both(pushed.layers, values)
    return False


def _take_comparison(pushed: Pushed, column: str, type: str, one: Filter) -> bool:
    if type not in {TIMESTAMP, BIGINT}:
        return False
    value: Any = getattr(one, "value", None)
    step: Any = 1
    if type == TIMESTAMP and isinstance(value, datetime):
        value, step = value.astimezone(UTC), timedelta(microseconds=1)
    elif type == TIMESTAMP or not isinstance(value, int):
        return False
    if isinstance(one, GreaterThan | GreaterThanOrEqual | EqualTo):
        least = value + step if isinstance(one, GreaterThan) else value
        pushed.least[column] = max(least, pushed.least.get(column, least))
    if isinstance(one, LessThan | LessThanOrEqual | EqualTo):
        below = value if isinstance(one, LessThan) else value + step
        pushed.below[column] = min(below, pushed.below.get(column, below))
    return isinstance(one, GreaterThan | GreaterThanOrEqual | EqualTo | LessThan | LessThanOrEqual)


def labels_of(kind: str, pushed: Pushed) -> list[str]:
    """The labels whose nodes are read; of edges, those that these may leave."""
    if kind != EDGES:
        return [LABELS[kind]]
    if pushed.layers == ["map"]:
        return ["Dataset", "Job", "Column"]
    return list(LABELS.values())
