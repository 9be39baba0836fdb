"""Parsing SQL of any dialect that sqlglot reads, within bounds on length, words, nesting and steps.

SQL past a bound, or that cannot be parsed, raises UnreadableError: it is never taken to refer to
nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.code_analysis.model import UnreadableError
from headwater.code_analysis.steps import Steps

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.errors import SqlglotError
    from sqlglot.parser import Parser

# In characters.
TEXT_LENGTH_MAX = 400_000
TOKENS_MAX = 30_000
DEPTH_MAX = 250
# Steps of the parser from word to word. It takes one for each word of most statements. It reads
# each of several joins without conditions twice, and the joins after it twice each time.
STEPS_MIN, STEPS_PER_TOKEN = 20_000, 10
_OPENING, _CLOSING = "([{", ")]}"
# Names that producers give to engines and integrations, and sqlglot's dialect of each.
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
# Tried in this order if the dialect is not known; the first that parses the text is used.
_GUESSES = ("", "spark", "bigquery", "snowflake", "tsql")
_TOO_DEEP = "the SQL is nested too deeply"


def dialect_of(*names: str | None) -> str:
    """Return the dialect of the first known name of a dialect, an engine or a namespace, or ""."""
    for name in names:
        word = (name or "").partition("://")[0].strip().casefold()
        if word in _DIALECTS:
            return _DIALECTS[word]
    return ""


def parse_sql(text: str, dialect: str, steps: Steps | None = None) -> list[exp.Expr]:
    """Return the statements of a text. An empty `dialect` tries several.

    Each attempt takes a step for each character. Several texts may share `steps`.
    Raises UnreadableError with the reason of the last attempt."""
    from sqlglot.errors import SqlglotError

    if len(text) > TEXT_LENGTH_MAX:
        raise UnreadableError(f"the SQL is longer than {TEXT_LENGTH_MAX} characters")
    reason, steps = "the SQL cannot be read", steps or Steps()
    for guess in dict.fromkeys((dialect, *(() if dialect else _GUESSES), "")):
        steps.take(len(text))
        try:
            return _parse_in_dialect(text, guess)
        except SqlglotError as error:
            reason = f"the SQL cannot be read{_error_position(error)}"
        except (RecursionError, MemoryError) as error:
            raise UnreadableError(_TOO_DEEP) from error
        except ValueError as error:
            raise UnreadableError(f"there is no dialect {guess!r}") from error
        except UnreadableError:
            raise
        except Exception as error:  # sqlglot's parsers raise other errors on malformed SQL
            reason = f"the SQL cannot be read: {type(error).__name__}"
    raise UnreadableError(reason)


def _error_position(error: SqlglotError) -> str:
    details = getattr(error, "errors", None) or [{}]
    line = details[0].get("line")
    return f": {details[0].get('description')} at line {line}" if line else ""


def _parse_in_dialect(text: str, dialect: str) -> list[exp.Expr]:
    """Parse a text. Raises UnreadableError past a bound."""
    from sqlglot import Dialect, ErrorLevel, exp

    parser_dialect = Dialect.get_or_raise(dialect)
    tokens = parser_dialect.tokenize(text)
    if len(tokens) > TOKENS_MAX:
        raise UnreadableError(f"the SQL has more than {TOKENS_MAX} words")
    depth = deepest = 0
    for token in tokens:
        if len(token.text) == 1:
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            deepest = max(deepest, depth)
    if deepest > DEPTH_MAX:
        raise UnreadableError(_TOO_DEEP)
    # sqlglot logs a warning for each statement that it keeps as text; here such a statement is
    # unknown.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    parser = parser_dialect.parser(error_level=ErrorLevel.RAISE)
    _bound_steps(parser, STEPS_MIN + STEPS_PER_TOKEN * len(tokens))
    return [
        statement
        for statement in parser.parse(tokens, text)
        if statement is not None and not isinstance(statement, exp.Semicolon)
    ]


def _bound_steps(parser: Parser, steps_max: int) -> None:
    """Let a parser raise UnreadableError after a number of steps."""
    advance, steps = parser._advance, 0

    def advance_within_bound(times: int = 1) -> None:
        nonlocal steps
        steps += 1
        if steps > steps_max:
            raise UnreadableError(f"the SQL takes more than {steps_max} steps to read")
        advance(times)

    setattr(parser, "_advance", advance_within_bound)  # noqa: B010, a method is not assigned to
