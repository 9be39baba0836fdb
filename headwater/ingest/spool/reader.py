"""The events of the spool as they are kept, for whoever wants to read them again.

Through connections of its own that may only read: what is read here keeps nobody from appending.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec

from headwater.errors import SpoolFullError


class Kept(msgspec.Struct, frozen=True):
    """One event as the spool holds it: `received` in microseconds since 1970, `checksum` that of the accepted bytes."""

    seq: int
    received: int
    checksum: int
    body: bytes


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

    def kept(self, first: int, last: int) -> Iterator[Kept]:
        """The events of these seqs, both included, that are there, in order. Raises SpoolFullError when the spool
        cannot be read."""
        statement = (
            "SELECT seq, received, checksum, body FROM event WHERE seq BETWEEN ? AND ? ORDER BY seq"
        )
        with self._opened() as connection:
            for row in connection.execute(statement, (first, last)):
                yield Kept(*row)

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
