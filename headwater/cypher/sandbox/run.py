"""Read-only questions of auditors: a query of the catalog, or a statement of their own, bounded in
time and rows.

A read transaction alone is not enough. It stops writes, but not LOAD CSV (which reads files and
fetches addresses), SHOW USERS or TERMINATE TRANSACTIONS. So a caller's own statement is first
checked by its words (`statement_check`), then explained and checked by its plan. Its type must be a
plain read, and every operator and procedure must be on a list (`policy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headwater.cypher.driver.database import Database, Row
from headwater.cypher.query_catalog import find_query
from headwater.cypher.sandbox.parameters import parse_parameters
from headwater.cypher.sandbox.policy import HINT, OPERATORS, PROCEDURES
from headwater.cypher.sandbox.statement_check import Statement
from headwater.errors import QueryError, UnavailableError

AUDIT_SECONDS_MAX = 30.0
ROWS_MAX = 1_000
AUDIT_ROWS_MAX = 10_000
# The size of a result at most, counted as JSON.
RESULT_BYTES_MAX = 8 * 2**20


@dataclass(frozen=True)
class StatementResult:
    """The rows of a statement; `truncated` if there may be more."""

    columns: list[str]
    rows: list[Row]
    truncated: bool


def run_audit(database: Database, name: str, parameters: Mapping[str, Any]) -> StatementResult:
    """Run a query of the catalog. Parameters are text or values of JSON, parsed by their declared
    types.

    Raises QueryError for an unknown query, a query that writes, and a wrong parameter.
    """
    query = find_query(name)
    if query.access != "read":
        raise QueryError(f"{query.name} writes; only queries that read can be run")
    values = parse_parameters(query, parameters)
    return _run_bounded(database, query.text, values, AUDIT_SECONDS_MAX, AUDIT_ROWS_MAX)


def run_text(
    database: Database,
    text: str,
    parameters: Mapping[str, Any],
    *,
    rows_max: int = ROWS_MAX,
    seconds: float = AUDIT_SECONDS_MAX,
) -> StatementResult:
    """Run a caller's own statement.

    Raises QueryError if it does anything but read this graph, or if its cost has no bound, and
    UnavailableError while an earlier one goes on beyond its time.
    """
    if database.read("read/state/outlived"):
        raise UnavailableError(
            "Neo4j still works on a statement whose time is up",
            hint="Wait: the Neo4j of `headwater up` is restarted after a minute of this. "
            "GraphQL and the audit queries answer meanwhile.",
        )
    require_read_only(database, text, parameters)
    return _run_bounded(database, text, parameters, seconds, rows_max)


def require_read_only(database: Database, text: str, parameters: Mapping[str, Any]) -> None:
    """Check a statement by its words and its plan. Raises QueryError unless it only reads this
    graph."""
    Statement(text, parameters).require_bounded(PROCEDURES)
    type, operators = database.plan(text, parameters)
    if type in ("w", "rw", "s"):
        raise QueryError("refused: the statement does more than read", hint=HINT)
    for operator in operators:
        name, _, procedure = operator.rstrip(")").partition("(")
        if name not in OPERATORS:
            raise QueryError(f"refused: {name} is not a read of this graph", hint=HINT)
        if name == "ProcedureCall" and procedure not in PROCEDURES:
            raise QueryError(f"refused: the procedure {procedure} is not on the list", hint=HINT)
    if type != "r" or not operators:
        raise QueryError("refused: the statement does more than read", hint=HINT)


def _run_bounded(
    database: Database, text: str, parameters: Mapping[str, Any], seconds: float, rows_max: int
) -> StatementResult:
    # One row more than the result holds shows that there are more.
    columns, rows, is_complete = database.ask_bounded(
        text, parameters, seconds=seconds, rows_max=rows_max + 1, bytes_max=RESULT_BYTES_MAX
    )
    return StatementResult(columns, rows[:rows_max], not is_complete or len(rows) > rows_max)
