"""The spool: every accepted event, as it was sent, in order, on disk. The truth from which the graph is made.

A SQLite file in WAL mode with `synchronous=FULL`: `append` returns only after the events are synced. It holds

    event(seq, received, checksum, body)    received in microseconds since 1970; checksum is the CRC-32 of the body
    dead(seq, at, reason)                   events that could not be folded, and why
    meta(name, value)                       the spool's own id, under which the graph keeps its checkpoint

The API appends, the worker reads and sets aside; both through apsw, which brings a SQLite newer than 3.51.3 (in
older ones two connections that write or checkpoint a WAL file at once can corrupt it). After a failed write the
connection is dropped and the file recovered before anything more is believed: a second fsync proves nothing about
pages that the first one failed to write.
"""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw
import msgspec

from headwater.errors import SpoolFullError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS event(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, received INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS dead(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_PAGE_BYTES = 4096
_BUSY_MS = 10_000


class Record(msgspec.Struct, frozen=True):
    """One event of the spool. `intact` is False when its bytes are not those that were written."""

    seq: int
    received: int
    body: bytes
    intact: bool


class Dead(msgspec.Struct, frozen=True):
    """An event that was set aside, and why."""

    seq: int
    at: int
    reason: str
    body: str


class Spool:
    """One spool file. Used by one thread at a time; open one `Spool` per thread or process."""

    def __init__(self, path: Path, *, bytes_max: int = 20 * 2**30, vfs: str | None = None) -> None:
        self.path = path
        self._bytes_max = bytes_max
        self._vfs = vfs
        self._connection: apsw.Connection | None = None
        self.id = self._open_id()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def append(self, bodies: Sequence[bytes], *, received: int) -> int:
        """Append events in one synced transaction; returns the seq of the last.

        Raises SpoolFullError when they are not all on disk; then none of them counts as accepted.
        """
        try:
            connection = self._opened()
            with connection:
                connection.executemany(
                    "INSERT INTO event(received, checksum, body) VALUES(?, ?, ?)",
                    ((received, zlib.crc32(body), body) for body in bodies),
                )
                seq = connection.last_insert_rowid()
        except (apsw.Error, OSError) as error:
            self._recover()
            raise SpoolFullError(
                f"the spool cannot keep events now: {error}",
                mend=f"Is the disk of {self.path} full? Events are accepted again as soon as it can be written.",
            ) from error
        return seq

    def read(self, after: int, *, events_max: int, bytes_max: int) -> list[Record]:
        """The events after `after`, in order: at most so many, and, beyond the first, at most so many bytes."""
        rows = self._opened().execute(
            "SELECT seq, received, checksum, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?", (after, events_max)
        )
        records: list[Record] = []
        size = 0
        for seq, received, checksum, body in rows:
            size += len(body)
            if records and size > bytes_max:
                break
            records.append(Record(seq, received, body, zlib.crc32(body) == checksum))
        return records

    def last(self) -> int:
        """The seq of the newest event; 0 when there is none. As seqs have no gaps, also how many were received."""
        return int(self._opened().execute("SELECT coalesce(max(seq), 0) FROM event").get)

    def received_at(self, seq: int) -> int | None:
        """When an event was received (microseconds since 1970); None when there is no such event."""
        value = self._opened().execute("SELECT received FROM event WHERE seq = ?", (seq,)).get
        return None if value is None else int(value)

    def set_aside(self, dead: Iterable[tuple[int, str]]) -> None:
        """Record events that cannot be folded, by seq, with the reason. Doing so twice changes nothing."""
        connection = self._opened()
        now = time.time_ns() // 1_000
        with connection:
            connection.executemany(
                "INSERT OR IGNORE INTO dead(seq, at, reason) VALUES(?, ?, ?)",
                [(seq, now, reason) for seq, reason in dead],
            )

    def dead(self, *, limit: int = 100) -> list[Dead]:
        """The newest events that were set aside."""
        rows = self._opened().execute(
            "SELECT seq, at, reason, body FROM dead JOIN event USING (seq) ORDER BY seq DESC LIMIT ?", (limit,)
        )
        return [Dead(seq, at, reason, bytes(body).decode(errors="replace")) for seq, at, reason, body in rows]

    def check_writable(self) -> None:
        """Raise SpoolFullError when an event could not be appended now. Writes nothing that lasts."""
        try:
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute("INSERT INTO event(received, checksum, body) VALUES(0, 0, zeroblob(4096))")
            finally:
                connection.execute("ROLLBACK")
        except (apsw.Error, OSError) as error:
            self._recover()
            raise SpoolFullError(f"the spool cannot be written: {error}") from error

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> apsw.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(self.path), vfs=self._vfs)
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("max_page_count", max(self._bytes_max // _PAGE_BYTES, 16))
        connection.execute(_SCHEMA)
        return connection

    def _open_id(self) -> str:
        connection = self._opened()
        with connection:
            connection.execute("INSERT OR IGNORE INTO meta(name, value) VALUES('id', ?)", (str(uuid.uuid4()),))
        self.path.chmod(0o600)
        return str(connection.execute("SELECT value FROM meta WHERE name = 'id'").get)

    def _recover(self) -> None:
        """Drop the connection; opening the file again replays what is whole in its log. Writing the log into the
        database makes every page anew, so that a later sync does cover what a failed one did not."""
        connection, self._connection = self._connection, None
        try:
            if connection is not None:
                connection.close(True)
            self._opened().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.Error, OSError):
            # Still broken: the next call opens it again.
            broken, self._connection = self._connection, None
            if broken is not None:
                broken.close(True)
