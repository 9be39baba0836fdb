"""The file that keys and the log of access are kept in: `access.db` beside the spool, for its owner's eyes only.

SQLite with a rollback journal, so that the API and the command line may use it at once. Every write is synced.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from headwater.errors import UnavailableError

_BUSY_MS = 2_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS key(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL, scopes TEXT NOT NULL, namespaces TEXT NOT NULL,
  created INTEGER NOT NULL, expires INTEGER, revoked INTEGER);
CREATE TABLE IF NOT EXISTS entry(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, principal TEXT NOT NULL, action TEXT NOT NULL,
  outcome TEXT NOT NULL, detail TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS entry_stays BEFORE UPDATE ON entry BEGIN SELECT raise(ABORT, 'the log stays'); END;
CREATE TRIGGER IF NOT EXISTS entry_kept BEFORE DELETE ON entry BEGIN SELECT raise(ABORT, 'the log stays'); END;
"""


class AccessStore:
    """One connection to the file, shared by threads, one at a time. `writing` is a transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.Lock()
        self._connection: apsw.Connection | None = None

    def close(self) -> None:
        with self._turn:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Raises UnavailableError when the file cannot be read."""
        with self._turn, self._told():
            yield self._opened()

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """A transaction that nobody else's write can come between. Raises UnavailableError when it cannot be kept."""
        with self._turn, self._told():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (apsw.Error, OSError) as error:
            raise UnavailableError(
                f"the keys and the log of access cannot be used now: {error}",
                hint=f"Can {self.path} be written?",
            ) from error

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            connection = apsw.Connection(str(self.path))
            connection.set_busy_timeout(_BUSY_MS)
            connection.pragma("synchronous", "full")
            connection.execute(_SCHEMA)
            self._connection = connection
        return self._connection
