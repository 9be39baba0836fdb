"""The spool: every accepted event, as it was sent, in order, on disk. The truth from which the graph is made.

A SQLite file in WAL mode with `synchronous=FULL`: `append` returns only after the events are synced. It holds

    event(seq, received, checksum, body)    received in microseconds since 1970; checksum is the CRC-32 of the body
    dead(seq, at, reason)                   events that could not be folded, and why
    meta(name, value)                       the spool's own id, under which the graph keeps its checkpoint; up to which
                                            seq it was cut, and into which lake what is gone was archived before

The API appends, the worker reads and sets aside; both through apsw, which brings a SQLite newer than 3.51.3 (in
older ones two connections that write or checkpoint a WAL file at once can corrupt it). After a failed write the
connection is dropped, and nothing is appended until all of the log was written into the database and synced: a
second fsync proves nothing about pages that the first one failed to write, so an event appended behind such pages
could be lost with them.

Whatever the disk does comes out as SpoolFullError, and the next call tries again with a new connection.
"""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
# Of a new file. An event of 6 kB takes a fifth of such a page, and two of the smallest ones; to write it and to move it
# from the log into the database takes half the time.
_PAGE_BYTES = 32_768
# When the log has so much, it is written into the database; whoever appends just then waits for it.
_LOG_BYTES = 8 * 2**20
_PAGES_MIN = 16
_BUSY_MS = 10_000
# While it recovers, those who want to append wait.
_RECOVER_BUSY_MS = 200
# More than a page: what is free in the last one must not hide that there are no more.
_PROBE_BYTES = 2 * _PAGE_BYTES


class Record(msgspec.Struct, frozen=True, gc=False):
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
        self._suspect = False
        self.id = self._open_id()

    def close(self) -> None:
        self._drop()

    def append(self, bodies: Sequence[bytes], *, received: int) -> int:
        """Append events in one synced transaction; returns the seq of the last.

        Raises SpoolFullError when they are not all on disk; then none of them counts as accepted.
        """
        with self._writing() as connection:
            with connection:
                connection.executemany(
                    "INSERT INTO event(received, checksum, body) VALUES(?, ?, ?)",
                    ((received, zlib.crc32(body), body) for body in bodies),
                )
            return connection.last_insert_rowid()

    def read(self, after: int, *, events_max: int, bytes_max: int) -> list[Record]:
        """The events after `after`, in order: at most so many, and, beyond the first, at most so many bytes."""
        records: list[Record] = []
        size = 0
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT seq, received, checksum, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?",
                (after, events_max),
            )
            for seq, received, checksum, body in rows:
                size += len(body)
                if records and size > bytes_max:
                    break
                records.append(Record(seq, received, body, zlib.crc32(body) == checksum))
        return records

    def last(self) -> int:
        """The seq of the newest event; 0 when there is none. As seqs have no gaps, also how many were received."""
        with self._reading() as connection:
            return int(connection.execute("SELECT coalesce(max(seq), 0) FROM event").get)

    def received_at(self, seq: int) -> int | None:
        """When an event was received (microseconds since 1970); None when there is no such event."""
        with self._reading() as connection:
            value = connection.execute("SELECT received FROM event WHERE seq = ?", (seq,)).get
        return None if value is None else int(value)

    def set_aside(self, dead: Iterable[tuple[int, str]]) -> None:
        """Record events that cannot be folded, by seq, with the reason; the newest reason stays."""
        now = time.time_ns() // 1_000
        with self._writing() as connection, connection:
            connection.executemany(
                "INSERT INTO dead(seq, at, reason) VALUES(?, ?, ?) "
                "ON CONFLICT(seq) DO UPDATE SET reason = excluded.reason",
                [(seq, now, reason) for seq, reason in dead],
            )

    def dead_after(self, seq: int) -> set[int]:
        """The seqs after this one that were set aside."""
        with self._reading() as connection:
            return {
                int(row[0])
                for row in connection.execute("SELECT seq FROM dead WHERE seq > ?", (seq,))
            }

    def revive(self, seqs: Iterable[int]) -> None:
        """Events that were set aside once and have been folded since are dead no longer."""
        with self._writing() as connection, connection:
            connection.executemany("DELETE FROM dead WHERE seq = ?", [(seq,) for seq in seqs])

    def dead(self, *, limit: int = 100) -> list[Dead]:
        """The newest events that were set aside."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT seq, at, reason, body FROM dead JOIN event USING (seq) ORDER BY seq DESC LIMIT ?",
                (limit,),
            )
            return [
                Dead(seq, at, reason, bytes(body).decode(errors="replace"))
                for seq, at, reason, body in rows
            ]

    def cut(self, upto: int, *, lake: str, events_max: int) -> int:
        """Remove the oldest events, none after `upto` and at most so many, in one transaction; returns how many.

        What was set aside stays, and the newest event, by whose seq is known how many were received. Raises
        SpoolFullError.
        """
        with self._writing() as connection, connection:
            found = connection.execute(
                "SELECT seq FROM event WHERE seq <= ? AND seq < (SELECT max(seq) FROM event) "
                "AND seq NOT IN (SELECT seq FROM dead) ORDER BY seq LIMIT ?",
                (upto, events_max),
            )
            seqs = [row[0] for row in found]
            if seqs:
                connection.executemany("DELETE FROM event WHERE seq = ?", [(seq,) for seq in seqs])
                for name, value in (("cut", str(seqs[-1])), ("lake", lake)):
                    connection.execute(
                        "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", (name, value)
                    )
        return len(seqs)

    def give_back(self, *, pages_max: int = 64) -> bool:
        """Give some of the room of what was cut back to the disk; whether there is more. In a file that was made before
        there was cutting it is kept, for events to come. Raises SpoolFullError."""
        with self._writing() as connection:
            before = connection.pragma("freelist_count")
            connection.execute(f"PRAGMA incremental_vacuum({int(pages_max)})")
            left = connection.pragma("freelist_count")
            if not left or left == before:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                return False
        return True

    def gone(self) -> tuple[int, str]:
        """Up to which seq events were cut, 0 when none were, and the lake that has them."""
        with self._reading() as connection:
            found = dict(
                connection.execute("SELECT name, value FROM meta WHERE name IN ('cut', 'lake')")
            )
        return int(found.get("cut", 0)), str(found.get("lake", ""))

    def check_writable(self) -> None:
        """Raise SpoolFullError when an event could not be appended now.

        Only a commit shows that: until then SQLite does not write. What it writes takes the place of what the last
        check wrote.
        """
        with self._writing() as connection:
            with connection:
                probe = "INSERT OR REPLACE INTO meta(name, value) VALUES('probe', zeroblob(?))"
                connection.execute(probe, (_PROBE_BYTES,))
            # The bound on the size of the file is met when pages are taken, by an event as by this one.
            connection.execute("BEGIN IMMEDIATE")
            try:
                event = "INSERT INTO event(received, checksum, body) VALUES(0, 0, zeroblob(?))"
                connection.execute(event, (_PROBE_BYTES,))
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        try:
            yield self._opened()
        except (apsw.Error, OSError) as error:
            self._drop()
            raise SpoolFullError(
                f"the spool cannot be read now: {error}",
                hint=f"Can {self.path} be read, and is its disk well?",
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        try:
            if self._suspect:
                self._recover()
            yield self._opened()
        except (apsw.Error, OSError) as error:
            self._drop()
            # A write for which there was no room has damaged nothing. Whatever else it was may have.
            if not isinstance(error, apsw.FullError):
                self._suspect = True
                with suppress(apsw.Error, OSError):
                    self._recover()
            raise SpoolFullError(
                f"the spool cannot keep events now: {error}",
                hint=f"Is the disk of {self.path} full? Events are accepted again as soon as it can be written.",
            ) from error

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> apsw.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Before SQLite opens it: the log beside it gets the same mode, and holds the same events.
        self.path.touch(mode=0o600)
        connection = apsw.Connection(str(self.path), vfs=self._vfs)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            if not int(
                connection.pragma("page_count")
            ):  # a file that is there keeps its own, or it would be written
                connection.pragma("page_size", _PAGE_BYTES)
                connection.pragma("auto_vacuum", "incremental")
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
            page_bytes = int(connection.pragma("page_size"))
            connection.wal_autocheckpoint(_LOG_BYTES // page_bytes)
            connection.pragma("max_page_count", max(self._bytes_max // page_bytes, _PAGES_MIN))
            connection.execute(_SCHEMA)
        except apsw.Error:
            connection.close(True)
            raise
        return connection

    def _open_id(self) -> str:
        with self._writing() as connection:
            with connection:
                connection.execute(
                    "INSERT OR IGNORE INTO meta(name, value) VALUES('id', ?)", (str(uuid.uuid4()),)
                )
            return str(connection.execute("SELECT value FROM meta WHERE name = 'id'").get)

    def _drop(self) -> None:
        """Give the connection up; opening the file again replays what is whole in its log."""
        connection, self._connection = self._connection, None
        if connection is not None:
            # Closing writes the log into the database if it can; if not, whoever opens it next does.
            with suppress(apsw.Error):
                connection.close(True)

    def _recover(self) -> None:
        """Write the log into the database, so that every page of it is written and synced anew. Raises when it
        cannot be done yet."""
        connection = self._opened()
        connection.set_busy_timeout(_RECOVER_BUSY_MS)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.Error, OSError):
            self._drop()
            raise
        connection.set_busy_timeout(_BUSY_MS)
        self._suspect = False
