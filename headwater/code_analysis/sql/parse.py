"""What SQL refers to: every statement of a text, in any dialect that sqlglot reads.

Texts are bounded before they are read: how long they are, how many words, how deeply nested. What is past a bound, or
is no SQL that can be read, is *unknown*, never "refers to nothing". Statements that only set the stage (SET, USE,
COMMIT, GRANT) refer to nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from headwater.code_analysis.model import References, nothing_known, together

if TYPE_CHECKING:
    from sqlglot import exp

    from headwater.code_analysis.model import TableName

Columns = Callable[["TableName"], list[str] | None]

TEXT_BYTES_MAX = 400_000
TOKENS_MAX = 30_000
DEPTH_MAX = 250
_OPEN, _CLOSE = "([{", ")]}"
# The names that producers give to engines and integrations -> sqlglot's name of what they speak.
_DIALECTS = {
    "athena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "delta": "databricks",
    "duckdb": "duckdb",
    "flink": "spark",
    "hive": "hive",
    "iceberg": "spark",
    "mssql": "tsql",
    "mysql": "mysql",
    "oracle": "oracle",
    "postgres": "postgres",
    "postgresql": "postgres",
    "presto": "presto",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "spark": "spark",
    "sparksql": "spark",
    "sqlite": "sqlite",
    "sqlserver": "tsql",
    "teradata": "teradata",
    "trino": "trino",
    "tsql": "tsql",
}
# Tried in turn where nobody says which; the first that reads the text counts.
_GUESSES = ("", "spark", "bigquery", "snowflake", "tsql")


def dialect_of(*told: str | None) -> str:
    """The dialect that the first of these names that says one: of a dialect, an engine, a namespace like
    `postgres://host:5432`. "" when none does."""
    for name in told:
        word = (name or "").partition("://")[0].strip().casefold()
        if word in _DIALECTS:
            return _DIALECTS[word]
    return ""


def unknown_columns(table: TableName) -> list[str] | None:
    """For code of which nobody knows what columns its tables have."""


def references_in_sql(
    text: str, *, dialect: str = "", columns: Columns = unknown_columns
) -> References:
    """What a text of statements refers to. `columns` tells those of a table where they are known."""
    if len(text) > TEXT_BYTES_MAX:
        return nothing_known(f"the SQL is longer than {TEXT_BYTES_MAX} characters")
    from headwater.code_analysis.sql.references import references_in_statement

    statements = parse_statements(text, dialect)
    if isinstance(statements, str):
        return nothing_known(statements)
    lines = text.splitlines()
    found = []
    for statement in statements:
        try:
            found.append(references_in_statement(statement, lines, columns))
        except RecursionError:
            found.append(nothing_known("the SQL is nested too deeply"))
        except OverflowError as error:
            found.append(nothing_known(str(error)))
    return together(found)


def parse_statements(text: str, dialect: str) -> list[exp.Expr] | str:
    """The statements of a text, or why there are none."""
    from sqlglot.errors import SqlglotError

    reason = "the SQL cannot be read"
    for guess in dict.fromkeys((dialect, *(() if dialect else _GUESSES), "")):
        try:
            return _parsed(text, guess)
        except SqlglotError as error:
            reason = f"the SQL cannot be read{_where(error)}"
        except (RecursionError, MemoryError):
            return "the SQL is nested too deeply"
        except OverflowError as error:
            return str(error)
        except ValueError:
            return f"there is no dialect {guess!r}"
        except Exception as error:  # its parsers trip over odd texts in ways of their own
            reason = f"the SQL cannot be read: {type(error).__name__}"
    return reason


def _where(error: Exception) -> str:
    details = getattr(error, "errors", None) or [{}]
    line = details[0].get("line")
    return f": {details[0].get('description')} at line {line}" if line else ""


def _parsed(text: str, dialect: str) -> list[exp.Expr]:
    """Raises OverflowError past a bound."""
    from sqlglot import Dialect, ErrorLevel

    speaks = Dialect.get_or_raise(dialect)
    tokens = speaks.tokenize(text)
    if len(tokens) > TOKENS_MAX:
        raise OverflowError(f"the SQL has more than {TOKENS_MAX} words")
    depth = deepest = 0
    for token in tokens:
        depth += (token.text in _OPEN) - (token.text in _CLOSE) if len(token.text) == 1 else 0
        deepest = max(deepest, depth)
    if deepest > DEPTH_MAX:
        raise OverflowError("the SQL is nested too deeply")
    # Of what it falls back to a mere command it would write a line to our log; here that is unknown.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    parsed = speaks.parser(error_level=ErrorLevel.RAISE).parse(tokens, text)
    return [statement for statement in parsed if statement is not None]
