"""The columns that SQL reads and writes, for every statement of a text.

SQL that cannot be read is unknown, never without references. Statements that only set the stage
(SET, USE, COMMIT, GRANT) refer to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.code_analysis.model import (
    ColumnLookup,
    References,
    UnreadableError,
    merge_references,
    no_columns,
    unknown_references,
)
from headwater.code_analysis.sql.parse import parse_sql
from headwater.code_analysis.steps import Steps

if TYPE_CHECKING:
    from sqlglot import exp


def references_in_sql(
    text: str,
    *,
    dialect: str = "",
    columns: ColumnLookup = no_columns,
    steps: Steps | None = None,
) -> References:
    """Return the references of all statements of a text. Several texts may share `steps`."""
    taken = steps or Steps()
    try:
        statements = parse_sql(text, dialect, taken)
    except UnreadableError as error:
        return unknown_references(str(error))
    lines = text.splitlines()
    return merge_references(_read(statement, lines, columns, taken) for statement in statements)


def _read(statement: exp.Expr, lines: list[str], columns: ColumnLookup, steps: Steps) -> References:
    # Imported here, since sqlglot takes a third of a second to load.
    from headwater.code_analysis.sql.statements import references_in_statement

    try:
        return references_in_statement(statement, lines, columns, steps)
    except RecursionError:
        return unknown_references("the SQL is nested too deeply")
    except UnreadableError as error:
        return unknown_references(str(error))
