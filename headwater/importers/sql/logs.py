"""Files of SQL: scripts, and query logs as JSON lines or as CSV with a header.

| column | other names that are read |
|---|---|
| query | sql, statement, query_text, querytxt, sql_text |
| time | timestamp, ts, start_time, starttime, started_at, query_start_time, creation_time |
| end | end_time, endtime, ended_at, finished_at |
| user | user_name, username, usename, user_email |
| database | database_name, datname, dbname, db |
| schema | schema_name |
| session | session_id, pid |
| id | query_id, job_id |
| error | error_message, exception |
| status | execution_status, state |

The names are those of the logs of Snowflake, BigQuery, Redshift and Postgres. Case does not count.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from gzip import BadGzipFile
from itertools import chain
from typing import Any, TextIO

from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX
from headwater.errors import EventError
from headwater.importers.report import ImportReport
from headwater.schema.events import parse_instant, to_datetime

SCRIPT, JSON_LINES, CSV, TSV = "sql", "jsonl", "csv", "tsv"
_COLUMNS = {
    "query": ("query", "sql", "statement", "query_text", "querytxt", "sql_text"),
    "time": (
        "time",
        "timestamp",
        "ts",
        "start_time",
        "starttime",
        "started_at",
        "query_start_time",
        "creation_time",
    ),
    "end": ("end", "end_time", "endtime", "ended_at", "finished_at"),
    "user": ("user", "user_name", "username", "usename", "user_email"),
    "database": ("database", "database_name", "datname", "dbname", "db"),
    "schema": ("schema", "schema_name"),
    "session": ("session", "session_id", "pid"),
    "id": ("id", "query_id", "job_id"),
    "error": ("error", "error_message", "exception"),
    "status": ("status", "execution_status", "state"),
}
_FORMATS = {
    ".csv": CSV,
    ".tsv": TSV,
    ".json": JSON_LINES,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".ddl": SCRIPT,
    ".hql": SCRIPT,
    ".sql": SCRIPT,
}
_FAILED = ("fail", "error", "abort", "cancel", "incident")
_SPACED_OFFSET = re.compile(r"(?<!\s)\s++(?:utc|z|([+-]\d\d:?\d\d))$", re.IGNORECASE)
_SECONDS_MAX = 100_000_000_000
# Limits after decompression. A log is read line by line, a script at once.
LINE_CHARACTERS_MAX = 32 * 2**20
SCRIPT_CHARACTERS_MAX = 64 * 2**20


@dataclass(frozen=True)
class LoggedQuery:
    """One row of a log, or one script, whose statements have no times.

    time, end: microseconds since 1970, UTC.
    error: the message of a query that failed, or ""."""

    text: str
    file: str
    line: int
    is_script: bool = False
    time: int | None = None
    end: int | None = None
    user: str = ""
    database: str = ""
    schema: str = ""
    session: str = ""
    id: str = ""
    error: str = ""


@dataclass(frozen=True)
class SqlFile:
    """An opened file of SQL, with the name under which its jobs and problems are known.

    modified: when it was last changed, in microseconds since 1970, UTC."""

    name: str
    lines: Iterable[str]
    modified: int = 0


def bounded_lines(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a stream, which may unpack gzip.

    Raises EventError for a line longer than LINE_CHARACTERS_MAX, and for damaged compressed data.
    """
    number = 0
    try:
        while line := stream.readline(LINE_CHARACTERS_MAX + 1):
            number += 1
            if len(line) > LINE_CHARACTERS_MAX:
                raise EventError(f"line {number} is longer than {LINE_CHARACTERS_MAX:,} characters")
            yield line
    except (EOFError, BadGzipFile, zlib.error) as error:
        raise EventError("its compressed data is cut or damaged") from error


def read_queries(file: SqlFile, report: ImportReport) -> Iterator[LoggedQuery]:
    """Yield the queries of a file in order. Rows that cannot be read are problems of the report.

    A script or a line that is too long ends the file, and is a problem too.
    """
    try:
        yield from _queries(file, report)
    except EventError as error:
        report.add_problem(file.name, error.message)


def _queries(file: SqlFile, report: ImportReport) -> Iterator[LoggedQuery]:
    """Yield the queries of a file. Raise EventError for a script or a line that is too long."""
    lines = iter(file.lines)
    first = next(lines, "")
    rest = chain([first], lines)
    format = _format_of(file.name, first)
    if format == SCRIPT:
        yield LoggedQuery(_script_text(rest), file.name, 1, is_script=True)
        return
    rows = _json_rows(rest, file.name, report)
    if format in (CSV, TSV):
        rows = _csv_rows(rest, "\t" if format == TSV else ",", file.name, report)
    for line, row in rows:
        try:
            query = _query_of(row, file.name, line)
        except EventError as error:
            report.add_problem(f"{file.name}:{line}", error.message)
            continue
        if query is not None:
            yield query
        else:
            report.add_problem(f"{file.name}:{line}", "the row has no query")


def _script_text(lines: Iterable[str]) -> str:
    """Return the text of a script. Raise EventError if it is too long."""
    found: list[str] = []
    length = 0
    for line in lines:
        found.append(line)
        length += len(line)
        if length > SCRIPT_CHARACTERS_MAX:
            raise EventError(
                f"the script is longer than {SCRIPT_CHARACTERS_MAX:,} characters",
                hint="Split it.",
            )
    return "".join(found)


def _format_of(name: str, first_line: str) -> str:
    """Return the format of a file by the end of its name, or by its first line."""
    lower = name.lower().removesuffix(".gz")
    for ending, format in _FORMATS.items():
        if lower.endswith(ending):
            return format
    if first_line.lstrip().startswith("{"):
        return JSON_LINES
    names = {one.strip().strip('"').lower() for one in first_line.split(",")}
    return CSV if names & set(_COLUMNS["query"]) and "," in first_line else SCRIPT


def _json_rows(
    lines: Iterable[str], file: str, report: ImportReport
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield number, row
        else:
            report.add_problem(f"{file}:{number}", "the line is not a JSON object")


def _csv_rows(
    lines: Iterable[str], delimiter: str, file: str, report: ImportReport
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    csv.field_size_limit(max(csv.field_size_limit(), 2 * TEXT_LENGTH_MAX))
    reader = csv.reader(lines, delimiter=delimiter)
    header = [name.strip() for name in next(reader, [])]
    line = reader.line_num + 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            report.add_problem(f"{file}:{line}", f"the row is not CSV: {error}")
            row = []
        if row:
            yield line, dict(zip(header, row, strict=False))
        line = reader.line_num + 1


def _query_of(row: Mapping[str, Any], file: str, line: int) -> LoggedQuery | None:
    """Return the query of a row; None without a text. Raises EventError for a malformed time."""
    folded = {str(name).strip().lower(): value for name, value in row.items()}
    texts: dict[str, str] = {}
    for column, names in _COLUMNS.items():
        value = next((folded[name] for name in names if folded.get(name) not in (None, "")), "")
        texts[column] = value if isinstance(value, str) else json.dumps(value)
    if not texts["query"].strip():
        return None
    return LoggedQuery(
        text=texts["query"],
        file=file,
        line=line,
        time=_instant(texts["time"], "time"),
        end=_instant(texts["end"], "end"),
        user=texts["user"],
        database=texts["database"],
        schema=texts["schema"],
        session=texts["session"],
        id=texts["id"],
        error=_error(texts["error"], texts["status"]),
    )


def _error(message: str, status: str) -> str:
    """Return the message of a query that failed, or ""."""
    if message.strip().lower() not in ("", "none", "null"):
        return message
    is_failed = any(word in status.lower() for word in _FAILED)
    return f"the query ended as {status}" if is_failed else ""


def _instant(text: str, column: str) -> int | None:
    """Return a time as microseconds since 1970. A number is seconds, or milliseconds if large.

    Raises EventError for a text that is no time, and outside of the years 1 to 9999.
    """
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        return parse_instant(_SPACED_OFFSET.sub(_joined_offset, text.strip()), field=column)
    seconds = number if abs(number) < _SECONDS_MAX else number / 1_000
    try:
        instant = round(seconds * 1_000_000)
        to_datetime(instant)
    except (ValueError, OverflowError) as error:
        raise EventError(f"{column} {text[:80]!r} is not a time", field=column) from error
    return instant


def _joined_offset(found: re.Match[str]) -> str:
    return found[1] or "+00:00"
