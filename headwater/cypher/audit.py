"""Auditors' questions: the library by name, or Cypher of their own; both read-only, bounded in time and rows.

A read transaction alone is not enough: it stops writes, but not LOAD CSV (which reads files and fetches addresses),
SHOW USERS or TERMINATE TRANSACTIONS. So text from outside is first explained, and judged by its plan: its type must
be a plain read, and every operator and procedure in it harmless, however deep in a subquery.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from headwater.cypher.database import Database, Row
from headwater.cypher.library import Parameter, Query, query
from headwater.errors import EventError, QueryError
from headwater.schema.events import datetime_of, instant_of

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
_REFUSED = ("LoadCSV", "Show", "Terminate", "Administration", "TransactionForeach", "TransactionApply", "RunQueryAt")


def run_audit(database: Database, name: str, parameters: Mapping[str, str]) -> tuple[list[str], list[Row]]:
    """The columns and rows of a query of the library; parameters as text, read by the types it declares.

    Raises QueryError for an unknown query, one that is not for reading, and a wrong parameter.
    """
    found = query(name)
    if found.access != "read":
        raise QueryError(f"{found.name} writes; only queries that read can be run")
    values = read_parameters(found, parameters)
    rows = database.ask(found.text, values, seconds=AUDIT_SECONDS_MAX, rows_max=AUDIT_ROWS_MAX)
    return [column.strip() for column in found.returns.split(",")], rows


def run_text(
    database: Database,
    text: str,
    parameters: Mapping[str, str],
    *,
    rows_max: int = ROWS_MAX,
    seconds: float = AUDIT_SECONDS_MAX,
) -> tuple[list[str], list[Row]]:
    """The columns and rows of one statement of anybody's. A parameter that is JSON is taken as such, else as text.

    Raises QueryError when it does anything but read this graph.
    """
    values = {name: _json_or_text(value) for name, value in parameters.items()}
    judge(*database.plan(text, values))
    rows = database.ask(text, values, seconds=seconds, rows_max=rows_max)
    return list(rows[0]) if rows else [], rows


def judge(kind: str, operators: list[str]) -> None:
    """Raises QueryError unless a plan of this type with these operators only reads this graph."""
    for operator in operators:
        name, _, procedure = operator.rstrip(")").partition("(")
        if name.startswith(_REFUSED):
            raise QueryError(f"refused: {name} is not a read of this graph", mend=_MEND)
        if name == "ProcedureCall" and procedure not in PROCEDURES:
            raise QueryError(f"refused: the procedure {procedure} is not on the list", mend=_MEND)
    if kind != "r" or not operators:
        raise QueryError("refused: the statement does more than read", mend=_MEND)


_MEND = "Only MATCH, subqueries and RETURN, and the procedures " + ", ".join(sorted(PROCEDURES)) + ", are taken here."


def read_parameters(found: Query, given: Mapping[str, str]) -> dict[str, Any]:
    """Parameters from text, each by its declared type; those left out take their default."""
    declared = {parameter.name: parameter for parameter in found.parameters}
    unknown = sorted(given.keys() - declared.keys())
    if unknown:
        raise QueryError(f"{found.name} has no parameter {', '.join(unknown)}", mend=_usage(found))
    missing = [name for name, parameter in declared.items() if parameter.required and name not in given]
    if missing:
        raise QueryError(f"{found.name} needs the parameter {', '.join(missing)}", mend=_usage(found))
    return {
        name: _typed(parameter, given[name]) if name in given else _default(parameter)
        for name, parameter in declared.items()
    }


def _usage(found: Query) -> str:
    listed = ", ".join(f"{parameter.name} {parameter.type}" for parameter in found.parameters) or "none"
    return f"Its parameters: {listed}. For example: {found.example}"


def _default(parameter: Parameter) -> Any:
    is_text = isinstance(parameter.default, str)
    return _datetime(parameter.default) if parameter.type == "DATETIME" and is_text else parameter.default


def _typed(parameter: Parameter, text: str) -> Any:
    try:
        return _READERS[parameter.type](text)
    except (ValueError, EventError) as error:
        raise QueryError(f"{parameter.name} {text[:80]!r} is not {_EXPECTED[parameter.type]}") from error


def _datetime(text: str) -> datetime:
    return datetime_of(instant_of(text))


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


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
