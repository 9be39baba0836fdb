"""The spool: every accepted event as it was sent, in order, on disk. The graph is built from it.

A SQLite file in WAL mode with `synchronous=FULL`: `append` returns only after the events are
synced. Its tables:

    event(seq, received, checksum, body)    received in microseconds since 1970; checksum is the
                                            CRC-32 of the body
    dead(seq, at, reason)                   dead letters: events that could not be folded, and why
    skipped(seq, at)                        events that an operator told the worker not to fold
    meta(name, value)                       the spool's own id, by which the graph stores its
                                            checkpoint; the seq up to which events were cut, and the
                                            lake into which they were archived before

The API appends; the worker reads and writes dead letters. Both use apsw, which brings a SQLite
newer than 3.51.3: in older ones two connections that write or checkpoint a WAL file at once can
corrupt it.

After a failed write the spool drops its connection. It appends nothing until the whole log is
written into the database and synced. A second fsync proves nothing about pages that the first one
failed to write, so an event appended behind such pages could be lost with them.

Every disk error is raised as SpoolFullError, and the next call tries again with a new connection.
"""

from __future__ import annotations

import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import apsw
import msgspec

from headwater.chunks import chunks
from headwater.errors import NewerVersionError, SpoolFullError
from headwater.ingest.spool.damage import (
    DAMAGED_ROW,
    Record,
    last_seq,
    read_cut,
    read_record,
    read_records,
)
from headwater.ingest.spool.folder_lock import FolderLock, share_folder
from headwater.ingest.spool.salvage_lock import refuse_salvaged
from headwater.ingest.spool.version import VERSION, read_version
from headwater.write_transaction import write_transaction

SCHEMA = """
CREATE TABLE IF NOT EXISTS event(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  received INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS dead(
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS skipped(
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
# The page size of a new file. An event of 6 kB takes a fifth of a page. Writing it, and moving it
# from the log into the database, takes half as long as with the default of 4,096 bytes.
_PAGE_BYTES = 32_768
# A log of this size is written into the database; the next append waits for that.
_LOG_BYTES = 8 * 2**20
_PAGES_MIN = 16
_BUSY_MS = 10_000
# Appends wait while the spool recovers.
_RECOVER_BUSY_MS = 200
# A statement with several rows takes the interpreter's lock once for all of them. Otherwise the
# thread that writes would wait for the thread that answers requests at each row.
_ROWS_PER_INSERT = 64
# More than a page: the free bytes of the last page must not hide that no page is left.
_PROBE_BYTES = 2 * _PAGE_BYTES


class DeadLetter(msgspec.Struct, frozen=True):
    """An event that could not be folded, with the reason. `at` is in microseconds since 1970.

    `skipped`: an operator told the worker not to fold it.
    """

    seq: int
    at: int
    reason: str
    body: str
    skipped: bool = False


class Spool:
    """One spool file. Each thread or process opens a Spool of its own.

    Every method raises SpoolFullError if the disk fails or is full.
    """

    def __init__(self, path: Path, *, bytes_max: int = 20 * 2**30, vfs: str | None = None) -> None:
        self.path = path
        self._bytes_max = bytes_max
        self._vfs = vfs
        self._connection: apsw.Connection | None = None
        # Held as long as there is a connection.
        self._folder: FolderLock | None = None
        self._needs_recovery = False
        # The device and the number of the file that was opened first.
        self._file: tuple[int, int] | None = None
        self.id = self._read_or_create_id()

    def close(self) -> None:
        self._drop_connection()

    def append(self, bodies: Sequence[bytes], *, received: int) -> int:
        """Append events in one synced transaction; return the seq of the last.

        The first is received at `received`, each further event a microsecond later, so that their
        order can be read from their receipts.
        Raises SpoolFullError if they are not all on disk; none of them then counts as accepted.
        """
        rows = [(received + index, zlib.crc32(body), body) for index, body in enumerate(bodies)]
        if len(rows) <= _ROWS_PER_INSERT:  # a statement is a transaction of its own
            with self._writing() as connection:
                _insert(connection, rows)
                return connection.last_insert_rowid()
        with self._transaction() as connection:
            for some in chunks(rows, _ROWS_PER_INSERT):
                _insert(connection, some)
            return connection.last_insert_rowid()

    def read(self, after: int, *, events_max: int, bytes_max: int) -> list[Record]:
        """Return the events after `after`, in order, within both limits but at least one.

        An event that a damaged page hides is returned as a record that is not intact.
        """
        with self._reading() as connection:
            return read_records(connection, after, events_max=events_max, bytes_max=bytes_max)

    def last(self) -> int:
        """Return the seq of the newest event, or 0.

        Seqs have no gaps, so it is also the number of received events.
        """
        with self._reading() as connection:
            return last_seq(connection)

    def received_at(self, seq: int) -> int | None:
        """Return the time of receipt in microseconds since 1970; None without a readable event."""
        received = None
        with self._reading() as connection, suppress(*DAMAGED_ROW):
            received = connection.execute("SELECT received FROM event WHERE seq = ?", (seq,)).get
        return received if type(received) is int else None

    def dead_letter(self, dead: Iterable[tuple[int, str]]) -> None:
        """Record events that cannot be folded, by seq and reason; the newest reason stays."""
        now = time.time_ns() // 1_000
        with self._transaction() as connection:
            connection.executemany(
                "INSERT INTO dead(seq, at, reason) VALUES(?, ?, ?) "
                "ON CONFLICT(seq) DO UPDATE SET reason = excluded.reason",
                [(seq, now, reason) for seq, reason in dead],
            )

    def dead_after(self, seq: int) -> set[int]:
        """Return the seqs of the dead letters after this seq."""
        with self._reading() as connection:
            rows = connection.execute("SELECT seq FROM dead WHERE seq > ?", (seq,))
            return {int(row[0]) for row in rows}

    def revive(self, seqs: Iterable[int]) -> None:
        """Remove dead letters that have been folded since."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM dead WHERE seq = ?", [(seq,) for seq in seqs])

    def dead_letters(self, *, limit: int = 100) -> list[DeadLetter]:
        """Return the newest dead letters, the newest first."""
        with self._reading() as connection:
            rows: list[Any] = connection.execute(
                "SELECT seq, dead.at, reason, skipped.seq IS NOT NULL FROM dead "
                "LEFT JOIN skipped USING (seq) ORDER BY seq DESC LIMIT ?",
                (limit,),
            ).fetchall()
            return [
                DeadLetter(seq, at, reason, _text(read_record(connection, seq)), bool(skipped))
                for seq, at, reason, skipped in rows
            ]

    def dead_count(self) -> int:
        """Return the number of dead letters that no operator skipped."""
        with self._reading() as connection:
            return int(
                connection.execute(
                    "SELECT count(*) FROM dead WHERE seq NOT IN (SELECT seq FROM skipped)"
                ).get
            )

    def skip(self, seqs: Iterable[int]) -> None:
        """Leave these events out of the graph, now and when it is built again."""
        now = time.time_ns() // 1_000
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO skipped(seq, at) VALUES(?, ?)", [(seq, now) for seq in seqs]
            )

    def skipped_between(self, first: int, last: int) -> set[int]:
        """Return the seqs of the skipped events between two, both included."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT seq FROM skipped WHERE seq BETWEEN ? AND ?", (first, last)
            )
            return {int(row[0]) for row in rows}

    def retry(self, seqs: Iterable[int]) -> list[int]:
        """Append dead letters as new events with their first receipt; return their old seqs.

        An event without an intact body is left out. All of it happens in one transaction, so an
        event is either a dead letter or waits to be folded.
        """
        retried: list[int] = []
        with self._transaction() as connection:
            for seq in seqs:
                record = read_record(connection, seq)
                if record is None or not record.intact:
                    continue
                if not connection.execute("SELECT 1 FROM dead WHERE seq = ?", (seq,)).get:
                    continue
                _insert(connection, [(record.received, zlib.crc32(record.body), record.body)])
                connection.execute("DELETE FROM dead WHERE seq = ?", (seq,))
                # The copy stands for it when the graph is built again.
                connection.execute(
                    "INSERT OR IGNORE INTO skipped(seq, at) VALUES(?, ?)",
                    (seq, time.time_ns() // 1_000),
                )
                retried.append(seq)
        return retried

    def cut(self, last_seq: int, *, lake: str, events_max: int) -> int:
        """Remove the oldest events up to a seq, in one transaction; return their number.

        Dead letters stay, and so does the newest event: its seq is the number of received events.
        One that was retried since the last cut lies below the mark of cut events, and the mark
        never falls.
        """
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT seq FROM event WHERE seq <= ? AND seq < (SELECT max(seq) FROM event) "
                "AND seq NOT IN (SELECT seq FROM dead) ORDER BY seq LIMIT ?",
                (last_seq, events_max),
            )
            seqs = [row[0] for row in rows]
            if seqs:
                connection.executemany("DELETE FROM event WHERE seq = ?", [(seq,) for seq in seqs])
                mark = max(seqs[-1], read_cut(connection))
                for name, value in (("cut", str(mark)), ("lake", lake)):
                    connection.execute(
                        "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", (name, value)
                    )
        return len(seqs)

    def release_pages(self, *, pages_max: int = 64) -> bool:
        """Return free pages to the disk; return True if more are left.

        A file older than the `cut` method keeps its free pages for later events.
        """
        with self._writing() as connection:
            before = connection.pragma("freelist_count")
            connection.execute(f"PRAGMA incremental_vacuum({int(pages_max)})")
            free_pages = connection.pragma("freelist_count")
            if not free_pages or free_pages == before:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                return False
        return True

    def cut_events(self) -> tuple[int, str]:
        """Return the seq up to which events were cut, or 0, and the lake that holds them."""
        with self._reading() as connection:
            lake = connection.execute("SELECT value FROM meta WHERE name = 'lake'").get
            return read_cut(connection), str(lake or "")

    def check_writable(self) -> None:
        """Raise SpoolFullError if an event could not be appended now.

        Only a commit shows that: SQLite does not write before. Each check overwrites the bytes of
        the last one.
        """
        with self._writing() as connection:
            probe = "INSERT OR REPLACE INTO meta(name, value) VALUES('probe', zeroblob(?))"
            connection.execute(probe, (_PROBE_BYTES,))
            # SQLite checks the size limit of the file when it takes pages, for this row as for an
            # event.
            connection.execute("BEGIN IMMEDIATE")
            try:
                event = "INSERT INTO event(received, checksum, body) VALUES(0, 0, zeroblob(?))"
                connection.execute(event, (_PROBE_BYTES,))
            finally:
                # On a full disk SQLite has rolled back already.
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        try:
            yield self._connected()
        except (apsw.Error, OSError) as error:
            self._drop_connection()
            raise SpoolFullError(
                f"the spool {self.path} cannot be read: {error}",
                hint="Check that the file is readable and its disk healthy.",
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        self._refuse_other_file()
        try:
            refuse_salvaged(self.path)
            if self._needs_recovery:
                self._recover()
            yield self._connected()
        except (apsw.Error, OSError) as error:
            self._drop_connection()
            # A write that found no room has damaged nothing. Any other failure may have.
            if not isinstance(error, apsw.FullError):
                self._needs_recovery = True
                with suppress(apsw.Error, OSError):
                    self._recover()
            raise SpoolFullError(
                f"the spool {self.path} cannot store events: {error}",
                hint="Check that its disk has room. Events are accepted again once it is writable.",
            ) from error

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        """Write in one transaction. Raises SpoolFullError."""
        with self._writing() as connection, write_transaction(connection):
            yield connection

    def _refuse_other_file(self) -> None:
        """Raise SpoolFullError if the file was removed or replaced since it was opened.

        The open file has no name then, and an event in it would be lost with this process. It is
        still read, so that the worker folds what was accepted.
        """
        if self._file is not None and self._file != _identity(self.path):
            raise SpoolFullError(
                f"the spool {self.path} was removed or replaced while it was in use",
                hint="Put it back from a backup, and start Headwater again.",
            )

    def _connected(self) -> apsw.Connection:
        if self._connection is None:
            self._refuse_other_file()
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder = self._folder or share_folder(self.path)
            self._connection = self._connect()
            self._file = self._file or _identity(self.path)
        return self._connection

    def _connect(self) -> apsw.Connection:
        # Before SQLite opens it: the log, which holds the same events, gets the same mode.
        self.path.touch(mode=0o600)
        connection = apsw.Connection(str(self.path), vfs=self._vfs)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            # First, because every other pragma may write.
            version = read_version(connection, self.path)
            # Only in a new file: in an existing one the pragmas would write.
            if not int(connection.pragma("page_count")):
                connection.pragma("page_size", _PAGE_BYTES)
                connection.pragma("auto_vacuum", "incremental")
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
            page_bytes = int(connection.pragma("page_size"))
            connection.wal_autocheckpoint(_LOG_BYTES // page_bytes)
            connection.pragma("max_page_count", max(self._bytes_max // page_bytes, _PAGES_MIN))
            connection.execute(SCHEMA)
            if version < VERSION:
                connection.pragma("user_version", VERSION)
        except (apsw.Error, NewerVersionError, SpoolFullError):
            connection.close(True)
            raise
        return connection

    def _read_or_create_id(self) -> str:
        """Return the id of the spool. One that has an id is opened while it is salvaged, too."""
        query = "SELECT value FROM meta WHERE name = 'id'"
        with self._reading() as connection:
            id = connection.execute(query).get
        if id is None:
            with self._transaction() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO meta(name, value) VALUES('id', ?)", (str(uuid.uuid4()),)
                )
                id = connection.execute(query).get
        return str(id)

    def _drop_connection(self) -> None:
        """Close the connection; the next one replays the complete transactions of the log."""
        connection, self._connection = self._connection, None
        folder, self._folder = self._folder, None
        if connection is not None:
            # Closing writes the log into the database. If that fails, the next connection does it.
            with suppress(apsw.Error):
                connection.close(True)
        if folder is not None:
            folder.release()

    def _recover(self) -> None:
        """Write the log into the database, so that each of its pages is written and synced again.

        Raises apsw.Error or OSError if that fails.
        """
        connection = self._connected()
        connection.set_busy_timeout(_RECOVER_BUSY_MS)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.Error, OSError):
            self._drop_connection()
            raise
        connection.set_busy_timeout(_BUSY_MS)
        self._needs_recovery = False


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and the number of a file, or None without one."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _insert(connection: apsw.Connection, rows: Sequence[tuple[int, int, bytes]]) -> None:
    """Insert events, each with its receipt and its checksum, by one statement."""
    if rows:
        values = ",".join(["(?,?,?)"] * len(rows))
        connection.execute(
            f"INSERT INTO event(received, checksum, body) VALUES{values}",
            tuple(chain.from_iterable(rows)),
        )


def _text(record: Record | None) -> str:
    return record.body.decode(errors="replace") if record is not None else ""
