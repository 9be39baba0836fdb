"""The events that Marquez keeps in its PostgreSQL, as they were sent to it.

Marquez writes each accepted event to the table `lineage_events`, as JSON in the column `event`. The
table has no key, so a cursor of the server reads it in pages, in the order of event times, from one
snapshot. Nothing is written to the database.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from headwater.errors import EventError, QueryError, UnavailableError
from headwater.importers.report import ImportReport
from headwater.schema.headwater_facets import Event
from headwater.schema.stored_json import decode

if TYPE_CHECKING:
    from pg8000.native import Connection

PAGE_ROWS = 1_000
PORT = 5432
CONNECT_SECONDS_MAX = 15
TABLE = "lineage_events"
_EXAMPLE = "Expected postgresql://user@host:5432/database; PGPASSWORD may hold the password."
# PostgreSQL's names of the SSL modes that need an encrypted connection.
_SSL_MODES = frozenset({"require", "verify-ca", "verify-full"})


@dataclass(frozen=True)
class MarquezDatabase:
    """The address of a PostgreSQL database, and the caller's name and password there."""

    host: str
    port: int
    database: str
    user: str
    password: str | None
    ssl_mode: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"


def parse_database_url(url: str) -> MarquezDatabase:
    """Return the database that a URL names. Raises QueryError."""
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
    except ValueError as error:
        # The error would have a part of a password.
        raise QueryError("the address of the database is malformed", hint=_EXAMPLE) from error
    database = unquote(parts.path.strip("/"))
    if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not database:
        raise QueryError("the address names no PostgreSQL database", hint=_EXAMPLE)
    password = unquote(parts.password) if parts.password else os.environ.get("PGPASSWORD")
    return MarquezDatabase(
        parts.hostname,
        port,
        database,
        unquote(parts.username or "") or os.environ.get("PGUSER") or "marquez",
        password,
        parse_qs(parts.query).get("sslmode", [""])[-1],
    )


@dataclass
class MarquezEvents:
    """The events of a Marquez database since an instant, with what was read of them so far.

    `resume_at` is an event time before which all events were sent: those of the current page and
    of the page before it may be on their way.
    """

    database: MarquezDatabase
    since: datetime | None
    report: ImportReport
    resume_at: datetime | None = None

    def __iter__(self) -> Iterator[Event]:
        """Yield the events in the order of their times.

        Raises UnavailableError for a database that does not answer, QueryError for one that
        refuses.
        """
        with closing(connect(self.database)) as connection:
            page_begin: datetime | None = None
            for number, (time, text) in enumerate(_rows(connection, self.database, self.since), 1):
                if number % PAGE_ROWS == 1:
                    self.resume_at, page_begin = page_begin, time
                self.report.counts["events"] += 1
                try:
                    event = _event(text)
                except EventError as error:
                    self.report.add_problem(f"row {number}", error.message)
                    continue
                yield event


def _event(text: str) -> Event:
    """Return the event of a row. Raises EventError."""
    event = decode(text.encode())
    if not isinstance(event, dict):
        raise EventError("the event is no JSON object")
    return event


def connect(database: MarquezDatabase) -> Connection:
    """Return a connection to a PostgreSQL. Raises UnavailableError, QueryError."""
    try:
        from pg8000.exceptions import DatabaseError, InterfaceError
        from pg8000.native import Connection
    except ModuleNotFoundError as error:
        raise QueryError(
            "the client of PostgreSQL is not installed", hint="pip install 'headwater[marquez]'"
        ) from error
    context = ssl.create_default_context() if database.ssl_mode in _SSL_MODES else None
    if context is not None and database.ssl_mode != "verify-full":
        context.check_hostname = False
        context.verify_mode = (
            ssl.CERT_NONE if database.ssl_mode == "require" else context.verify_mode
        )
    try:
        return Connection(
            database.user,
            host=database.host,
            port=database.port,
            database=database.database,
            password=database.password,
            timeout=CONNECT_SECONDS_MAX,
            ssl_context=context,
            application_name="headwater import",
        )
    except DatabaseError as error:
        raise _refused(error, database) from error
    except (OSError, InterfaceError) as error:
        reason = error.__cause__ or error
        raise UnavailableError(
            f"PostgreSQL at {database} does not answer: {reason}",
            hint="Check the host and the port, and that the server accepts connections from here.",
        ) from error


def _rows(
    connection: Connection, database: MarquezDatabase, since: datetime | None
) -> Iterator[tuple[datetime | None, str]]:
    """Yield event times and events as text, page by page."""
    from pg8000.exceptions import DatabaseError, InterfaceError
    from pg8000.native import literal

    condition = f" AND event_time >= {literal(since.isoformat())}::timestamptz" if since else ""
    statements = (
        "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
        (
            f"DECLARE events NO SCROLL CURSOR FOR SELECT event_time, event::text FROM {TABLE}"
            f" WHERE event IS NOT NULL{condition} ORDER BY event_time"
        ),
    )
    try:
        for statement in statements:
            connection.run(statement)
        while page := connection.run(f"FETCH {PAGE_ROWS} FROM events"):
            # A time outside of the years 1 to 9999 is no datetime.
            yield from ((row[0] if isinstance(row[0], datetime) else None, row[1]) for row in page)
    except DatabaseError as error:
        raise _refused(error, database) from error
    except (OSError, InterfaceError) as error:
        raise UnavailableError(f"PostgreSQL at {database} ended the connection: {error}") from error


def _refused(error: Any, database: MarquezDatabase) -> QueryError:
    """Return the error of a refused connection or query in plain words."""
    details = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    code, message = details.get("C", ""), details.get("M", str(error))
    if code in ("28P01", "28000"):
        return QueryError(
            f"PostgreSQL at {database} refuses {database.user}: {message}",
            hint="Give the password in PGPASSWORD, or another user in the address.",
        )
    if code == "3D000":
        return QueryError(f"PostgreSQL has no such database: {message}", hint=_EXAMPLE)
    if code == "42P01":
        return QueryError(
            f"the database {database} has no table {TABLE}",
            hint="Name the database of Marquez; its name is often marquez.",
        )
    if code == "42501":
        return QueryError(
            f"{database.user} may not read {TABLE} of {database}: {message}",
            hint=f"Run GRANT SELECT ON {TABLE} TO {database.user} there.",
        )
    return QueryError(f"PostgreSQL at {database} refuses the query: {message}")
