"""Auditors' questions: the library by name, or Cypher of their own; both read-only, bounded in time and rows.

A read transaction alone is not enough: it stops writes, but not LOAD CSV (which reads files and fetches addresses),
SHOW USERS or TERMINATE TRANSACTIONS. So text from outside is first judged by its words (`statement`), then
explained and judged by its plan: its type must be a plain read, and every operator and procedure in it on a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Database, Row
from headwater.cypher.query_catalog import Parameter, Query, find_query
from headwater.cypher.sandbox.statement_check import Statement
from headwater.errors import EventError, QueryError
from headwater.schema.events import parse_instant, to_datetime

AUDIT_SECONDS_MAX = 30.0
ROWS_MAX = 1_000
AUDIT_ROWS_MAX = 10_000

# What a statement of somebody else may call; everything here only reads this graph.
PROCEDURES = frozenset(
    {
        "db.index.fulltext.queryNodes",
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    }
)
# The operators that read, by the first word of their names: Expand(All) is an Expand. A new release may bring more.
_READING = """
    AllNodesScan AllShortestPaths AntiConditionalApply AntiSemiApply Apply Argument ArgumentTracker AssertSameNode
    AssertSameRelationship BidirectionalRepeat CacheProperties CartesianProduct ConditionalApply
    DirectedAllRelationshipsScan DirectedRelationshipByElementIdSeek DirectedRelationshipByIdSeek
    DirectedRelationshipIndexContainsScan DirectedRelationshipIndexEndsWithScan DirectedRelationshipIndexScan
    DirectedRelationshipIndexSeek DirectedRelationshipIndexSeekByRange DirectedRelationshipTypeScan
    DirectedUnionRelationshipTypesScan Distinct Eager EagerAggregation EmptyRow ExhaustiveLimit Expand Filter
    IntersectionNodeByLabelsScan LeftOuterHashJoin LetAntiSemiApply LetSelectOrAntiSemiApply LetSelectOrSemiApply
    LetSemiApply Limit MultiNodeIndexSeek NodeByElementIdSeek NodeByIdSeek NodeByLabelScan NodeCountFromCountStore
    NodeHashJoin NodeIndexContainsScan NodeIndexEndsWithScan NodeIndexScan NodeIndexSeek NodeIndexSeekByRange
    NodeUniqueIndexSeek NodeUniqueIndexSeekByRange Optional OptionalExpand OrderedAggregation OrderedDistinct
    OrderedUnion PartialSort PartialTop PathPropagatingBFS ProcedureCall ProduceResults ProjectEndpoints Projection
    PruningVarLengthExpand RelationshipCountFromCountStore Repeat RepeatOptions RightOuterHashJoin RollUpApply
    SelectOrAntiSemiApply SelectOrSemiApply SemiApply ShortestPath Skip Sort StatefulShortestPath
    SubtractionNodeByLabelsScan Top TriadicBuild TriadicFilter TriadicSelection UndirectedAllRelationshipsScan
    UndirectedRelationshipByElementIdSeek UndirectedRelationshipByIdSeek UndirectedRelationshipIndexContainsScan
    UndirectedRelationshipIndexEndsWithScan UndirectedRelationshipIndexScan UndirectedRelationshipIndexSeek
    UndirectedRelationshipIndexSeekByRange UndirectedRelationshipTypeScan UndirectedUnionRelationshipTypesScan Union
    UnionNodeByLabelsScan Unwind ValueHashJoin VarLengthExpand
"""
OPERATORS = frozenset(_READING.split())
# What an answer may come to, counted as JSON would.
ANSWER_BYTES_MAX = 8 * 2**20


@dataclass(frozen=True)
class Answered:
    """`truncated`: there may be more rows than these."""

    columns: list[str]
    rows: list[Row]
    truncated: bool


def run_audit(database: Database, name: str, parameters: Mapping[str, Any]) -> Answered:
    """The answer of a query of the library; parameters as text or as JSON has them, read by the types it declares.

    Raises QueryError for an unknown query, one that is not for reading, and a wrong parameter.
    """
    found = find_query(name)
    if found.access != "read":
        raise QueryError(f"{found.name} writes; only queries that read can be run")
    values = read_parameters(found, parameters)
    columns = [column.strip() for column in found.returns.split(",")]
    return _ask(database, found.text, values, AUDIT_SECONDS_MAX, AUDIT_ROWS_MAX, columns)


def run_text(
    database: Database,
    text: str,
    parameters: Mapping[str, Any],
    *,
    rows_max: int = ROWS_MAX,
    seconds: float = AUDIT_SECONDS_MAX,
) -> Answered:
    """The answer of one statement of anybody's.

    Raises QueryError when it does anything but read this graph, or when nothing bounds what it would take.
    """
    judge(database, text, parameters)
    return _ask(database, text, parameters, seconds, rows_max, [])


def judge(database: Database, text: str, parameters: Mapping[str, Any]) -> None:
    """Raises QueryError unless a statement only reads this graph: by its words, and by its plan."""
    Statement(text, parameters).judge(PROCEDURES)
    kind, operators = database.plan(text, parameters)
    if kind in ("w", "rw", "s"):
        raise QueryError("refused: the statement does more than read", hint=_HINT)
    for operator in operators:
        name, _, procedure = operator.rstrip(")").partition("(")
        if name not in OPERATORS:
            raise QueryError(f"refused: {name} is not a read of this graph", hint=_HINT)
        if name == "ProcedureCall" and procedure not in PROCEDURES:
            raise QueryError(f"refused: the procedure {procedure} is not on the list", hint=_HINT)
    if kind != "r" or not operators:
        raise QueryError("refused: the statement does more than read", hint=_HINT)


def _ask(
    database: Database,
    text: str,
    parameters: Mapping[str, Any],
    seconds: float,
    rows_max: int,
    columns: list[str],
) -> Answered:
    # One more than is shown tells whether there are more.
    rows, whole = database.ask_bounded(
        text, parameters, seconds=seconds, rows_max=rows_max + 1, bytes_max=ANSWER_BYTES_MAX
    )
    return Answered(
        columns or (list(rows[0]) if rows else []),
        rows[:rows_max],
        not whole or len(rows) > rows_max,
    )


_HINT = (
    "Only MATCH, subqueries and RETURN, and the procedures "
    + ", ".join(sorted(PROCEDURES))
    + ", are taken here."
)


def read_parameters(found: Query, given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters from text, or from values of JSON, each by its declared type; those left out take their default."""
    declared = {parameter.name: parameter for parameter in found.parameters}
    unknown = sorted(given.keys() - declared.keys())
    if unknown:
        raise QueryError(f"{found.name} has no parameter {', '.join(unknown)}", hint=_usage(found))
    missing = [
        name for name, parameter in declared.items() if parameter.required and name not in given
    ]
    if missing:
        raise QueryError(
            f"{found.name} needs the parameter {', '.join(missing)}", hint=_usage(found)
        )
    return {
        name: _typed(parameter, given[name]) if name in given else _default(parameter)
        for name, parameter in declared.items()
    }


def _usage(found: Query) -> str:
    listed = (
        ", ".join(f"{parameter.name} {parameter.type}" for parameter in found.parameters) or "none"
    )
    return f"Its parameters: {listed}. For example: {found.example}"


def _default(parameter: Parameter) -> Any:
    is_text = isinstance(parameter.default, str)
    return (
        _datetime(parameter.default)
        if parameter.type == "DATETIME" and is_text
        else parameter.default
    )


def _typed(parameter: Parameter, given: Any) -> Any:
    if given is None and not parameter.required:
        return _default(parameter)
    text = given if isinstance(given, str) else json.dumps(given)
    try:
        return _READERS[parameter.type](text)
    except (ValueError, EventError) as error:
        raise QueryError(
            f"{parameter.name} {text[:80]!r} is not {_EXPECTED[parameter.type]}"
        ) from error


def _datetime(text: str) -> datetime:
    return to_datetime(parse_instant(text))


def _integer(text: str) -> int:
    number = int(text)
    if abs(number) >= 2**63:
        raise ValueError(text)
    return number


def _boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


def _strings(text: str) -> list[str]:
    """A JSON list of strings, or words with commas between."""
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    values = json.loads(text)
    if not all(isinstance(value, str) for value in values):
        raise ValueError(text)
    return list(values)


def _maps(text: str) -> list[dict[str, Any]]:
    values = json.loads(text)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise ValueError(text)
    return values


def _map(text: str) -> dict[str, Any]:
    return _maps(f"[{text}]")[0]


_READERS: dict[str, Callable[[str], Any]] = {
    "STRING": str,
    "INTEGER": _integer,
    "FLOAT": float,
    "BOOLEAN": _boolean,
    "DATETIME": _datetime,
    "MAP": _map,
    "LIST<STRING>": _strings,
    "LIST<MAP>": _maps,
}
_EXPECTED = {
    "STRING": "text",
    "INTEGER": "a whole number",
    "FLOAT": "a number",
    "BOOLEAN": "true or false",
    "DATETIME": "a time, for example 2026-01-31T12:00:00Z",
    "MAP": "a JSON object",
    "LIST<STRING>": "a list: words with commas between, or JSON",
    "LIST<MAP>": "a JSON list of objects",
}


def json_or_text(text: str) -> Any:
    """A parameter of the command line: what is JSON is taken as such, all else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
