"""The file of the API keys and the access log: `access.db` beside the spool, readable by its owner
only.

SQLite with a rollback journal, so that the API and the CLI may use it together. Every write is
synced.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from headwater.errors import NewerVersionError, UnavailableError
from headwater.write_transaction import write_transaction

_BUSY_MS = 2_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS key(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL, scopes TEXT NOT NULL,
  namespaces TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER);
CREATE TABLE IF NOT EXISTS entry(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, principal TEXT NOT NULL,
  action TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS caller_limit(
  name TEXT PRIMARY KEY, requests REAL NOT NULL, events REAL NOT NULL,
  concurrency INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS ended_session(id TEXT PRIMARY KEY, expires INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS oidc_session(
  id TEXT PRIMARY KEY, claims TEXT NOT NULL, expires INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS entry_stays BEFORE UPDATE ON entry
  BEGIN SELECT raise(ABORT, 'the log stays'); END;
CREATE TRIGGER IF NOT EXISTS entry_kept BEFORE DELETE ON entry
  BEGIN SELECT raise(ABORT, 'the log stays'); END;
"""
# The version of the tables above, in the file's user_version. A program refuses a higher one.
_VERSION = 0


class AccessStore:
    """A connection to the file, used by one thread at a time; `write` is a transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Open the file for reading. Raises UnavailableError if that fails, or it is newer."""
        with self._lock, self._as_unavailable():
            yield self._opened()

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """Open an exclusive transaction. Raises UnavailableError if the file cannot be written."""
        with self._lock, self._as_unavailable():
            connection = self._opened()
            with write_transaction(connection):
                yield connection

    @contextmanager
    def _as_unavailable(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as error:
            raise UnavailableError(
                f"the file of keys and access log cannot be used: {error}",
                hint=f"Make {self.path} writable, and check that its disk has room.",
            ) from error

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            connection = apsw.Connection(str(self.path))
            connection.set_busy_timeout(_BUSY_MS)
            self._refuse_newer(connection)
            connection.pragma("synchronous", "full")
            connection.execute(_SCHEMA)
            self._connection = connection
        return self._connection

    def _refuse_newer(self, connection: apsw.Connection) -> None:
        """Raise NewerVersionError if a newer Headwater wrote the file."""
        version = int(connection.pragma("user_version"))
        if version > _VERSION:
            connection.close()
            raise NewerVersionError.of_file(f"file {self.path}", version, _VERSION)
