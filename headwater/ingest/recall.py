"""The events of the spool as they are kept, for whoever wants to read them again.

Through connections of its own that may only read: what is read here keeps nobody from appending.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from headwater.errors import SpoolFullError


class Recall:
    """The events of one spool. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def count(self) -> int:
        """How many events were received. Raises SpoolFullError when the spool cannot be read."""
        with self._opened() as connection:
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM event").get)

    def bodies(self, *, newest_first: bool) -> Iterator[bytes]:
        """Every event in the order in which they came, or in the other. Raises SpoolFullError when the spool cannot be
        read."""
        order = "DESC" if newest_first else "ASC"
        with self._opened() as connection:
            for (body,) in connection.execute(f"SELECT body FROM event ORDER BY seq {order}"):
                yield bytes(body)

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection]:
        try:
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                yield connection
            finally:
                connection.close(True)
        except apsw.Error as error:
            raise SpoolFullError(f"the spool cannot be read now: {error}") from error
