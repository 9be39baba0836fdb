"""Read the stored events again, without delaying the API or the worker.

Each read opens a read-only connection of its own, so no reader keeps a writer from appending.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec

from headwater.errors import SpoolFullError
from headwater.ingest.spool.version import read_version


class StoredEvent(msgspec.Struct, frozen=True):
    """One event as the spool stores it.

    `received` is in microseconds since 1970; `checksum` is the CRC-32 of the accepted bytes.
    """

    seq: int
    received: int
    checksum: int
    body: bytes


class SpoolReader:
    """Read access to the events of one spool. Safe to share between threads.

    Every method raises SpoolFullError if the spool cannot be read, and NewerVersionError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def count(self) -> int:
        """Return the number of events received so far, including those cut since."""
        with self._connected() as connection:
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM event").get)

    def bodies(self, *, newest_first: bool) -> Iterator[tuple[int, bytes]]:
        """Yield every event with its sequence number in the order of arrival, or in the opposite
        order.
        """
        order = "DESC" if newest_first else "ASC"
        with self._connected() as connection:
            for seq, body in connection.execute(
                f"SELECT seq, body FROM event ORDER BY seq {order}"
            ):
                yield seq, bytes(body)

    def body(self, seq: int) -> bytes | None:
        """Return one event; None if it was cut from the spool."""
        return next((event.body for event in self.events(seq, seq)), None)

    def events(self, first: int, last: int) -> Iterator[StoredEvent]:
        """Yield the events that exist between two sequence numbers, both included, in order."""
        statement = (
            "SELECT seq, received, checksum, body FROM event WHERE seq BETWEEN ? AND ? ORDER BY seq"
        )
        with self._connected() as connection:
            for row in connection.execute(statement, (first, last)):
                yield StoredEvent(*row)

    @contextmanager
    def _connected(self) -> Iterator[apsw.Connection]:
        try:
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                read_version(connection, self._path)
                yield connection
            finally:
                connection.close(True)
        except apsw.Error as error:
            raise SpoolFullError(f"the spool {self._path} cannot be read: {error}") from error
