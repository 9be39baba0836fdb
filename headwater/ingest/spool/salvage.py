"""Check a spool file, and rewrite it from its readable events.

The new file replaces the content of the old one in place, so processes that have it open go on with
it. From the first event that is read to that moment nothing else can write the spool, because its
write would be lost. The producer gets a 503 and sends again; readers go on. The damaged file stays
beside the new one.
"""

from __future__ import annotations

import subprocess
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import apsw
import msgspec

from headwater.errors import SpoolFullError
from headwater.file_sync import sync
from headwater.ingest.spool.damage import (
    DAMAGED_ROW,
    Record,
    impossible_seq,
    last_seq,
    read_cut,
    read_records,
    unreadable_spool,
)
from headwater.ingest.spool.salvage_lock import has_trigger, lock_for_salvage
from headwater.ingest.spool.spool import SCHEMA
from headwater.ingest.spool.version import (
    VERSION,
    impossible_version,
    is_possible,
    read_damaged_version,
)

_BATCH_EVENTS, _BATCH_BYTES = 5_000, 64 * 2**20
_PROBLEMS_MAX = 20
_BUSY_MS = 30_000

# Called with the number of events read and the number of all events.
OnProgress = Callable[[int, int], object]


def _ignore_progress(_done: int, _total: int) -> None:
    """Take no notice of the progress."""


class SpoolReport(msgspec.Struct):
    """The readable content of a spool.

    id, version: its identity and the version of its tables.
    first: the oldest event that was not cut; last: the newest that was accepted, or 0.
    intact: the number of events that are as they were accepted.
    damaged: the ranges of events that are not, each the first and the last.
    lost: the number of damaged events that are dead letters already; they are in no range.
    problems: the faults that SQLite finds in the structure of the file.
    refuses_events: True if a killed salvage of an older version left its trigger.
    """

    id: str
    version: int
    first: int
    last: int
    intact: int
    damaged: list[tuple[int, int]]
    lost: int
    problems: list[str]
    refuses_events: bool

    @property
    def damaged_count(self) -> int:
        """Return the number of damaged events."""
        return sum(last - first + 1 for first, last in self.damaged)

    @property
    def is_whole(self) -> bool:
        """Return True if events are accepted, and only events known as lost are damaged."""
        return not (self.damaged or self.problems or self.refuses_events)


def check(path: Path, on_progress: OnProgress = _ignore_progress) -> SpoolReport:
    """Read every event of a spool and return what is damaged; other processes may use the spool.

    Raises SpoolFullError if the file cannot be read as a database, and NewerVersionError.
    """
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(_BUSY_MS)
            report = _describe(connection, path)
            dead = _dead(connection)
            for record in _records(connection, report, on_progress):
                if record.intact:
                    report.intact += 1
                elif _is_noted(record, dead):
                    report.lost += record.count
                elif report.damaged and report.damaged[-1][1] == record.first - 1:
                    report.damaged[-1] = (report.damaged[-1][0], record.seq)
                else:
                    report.damaged.append((record.first, record.seq))
            report.problems = _problems(connection, report.version)
            return report
    except apsw.Error as error:
        raise unreadable_spool(path, error) from error


def salvage(path: Path, on_progress: OnProgress = _ignore_progress) -> Path:
    """Rewrite a spool from its readable events; return the path of the damaged copy.

    Sequence numbers, dead letters and the identity stay. Killed at any instant, it leaves the old
    content or the new one, and can run again.
    Raises SpoolFullError if the file cannot be read or written, or another process writes it, and
    NewerVersionError.
    """
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    try:
        with (
            lock_for_salvage(path) as new,
            closing(apsw.Connection(str(path))) as target,
            closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as old,
            closing(apsw.Connection(str(new))) as fresh,
        ):
            # Before anything is written.
            read_damaged_version(old, path)
            target.set_busy_timeout(_BUSY_MS)
            # In this mode the lock of a writer lets others read.
            target.pragma("journal_mode", "wal")
            _create_tables(fresh, page_bytes=int(target.pragma("page_size")))
            with target.backup("main", fresh, "main") as backup:
                # The first step takes the write lock, which ends with the last step or the process.
                backup.step(0)
                _copy(old, fresh, path, on_progress)
                _keep(path, kept)
                while not backup.done:
                    backup.step(-1)
            with suppress(apsw.BusyError):  # a reader of the old content: the log stays longer
                target.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError as error:
        raise SpoolFullError(
            f"another process writes the spool {path}", hint="Try again when it has ended."
        ) from error
    except (apsw.Error, OSError) as error:
        raise unreadable_spool(path, error) from error
    return kept


def _describe(connection: apsw.Connection, path: Path) -> SpoolReport:
    """Return a report without the events. Raises NewerVersionError."""
    version = read_damaged_version(connection, path)
    id = connection.execute("SELECT value FROM meta WHERE name = 'id'").get
    return SpoolReport(
        id=str(id or ""),
        version=version,
        first=read_cut(connection) + 1,
        last=last_seq(connection),
        intact=0,
        damaged=[],
        lost=0,
        problems=[],
        refuses_events=has_trigger(connection),
    )


def _records(
    connection: apsw.Connection, report: SpoolReport, on_progress: OnProgress
) -> Iterator[Record]:
    """Yield every event that was not cut, batch by batch."""
    seq = report.first - 1
    while records := read_records(
        connection, seq, events_max=_BATCH_EVENTS, bytes_max=_BATCH_BYTES
    ):
        yield from records
        seq = records[-1].seq
        on_progress(seq - report.first + 1, report.last - report.first + 1)


def _dead(connection: apsw.Connection) -> dict[int, str]:
    """Return the reasons of the dead letters by seq, as far as they can be read."""
    with suppress(*DAMAGED_ROW):
        return {row[0]: row[1] for row in connection.execute("SELECT seq, reason FROM dead")}
    return {}


def _is_noted(record: Record, dead: Mapping[int, str]) -> bool:
    """Return True if a dead letter says that the events of a record are lost.

    The event at the end of a long gap may have been a dead letter for another reason.
    """
    reason = dead.get(record.seq)
    return reason is not None and (record.count == 1 or reason.startswith("damaged: "))


def _problems(connection: apsw.Connection, version: int) -> list[str]:
    problems = [] if is_possible(version) else [impossible_version(version)]
    impossible = impossible_seq(connection)
    if impossible is not None:
        problems.append(
            f"sqlite_sequence has the number {impossible} for the newest event, and the file is "
            "too small for so many events"
        )
    try:
        rows = connection.execute(f"PRAGMA quick_check({_PROBLEMS_MAX})").fetchall()
    except apsw.CorruptError as error:
        return [*problems, str(error)]
    return problems + [str(row[0]) for row in rows if row[0] != "ok"]


def _create_tables(fresh: apsw.Connection, *, page_bytes: int) -> None:
    """Create the tables of a spool in an empty file."""
    fresh.pragma("page_size", page_bytes)
    fresh.pragma("auto_vacuum", "incremental")
    fresh.execute(SCHEMA)
    fresh.pragma("user_version", VERSION)


def _copy(
    old: apsw.Connection, fresh: apsw.Connection, path: Path, on_progress: OnProgress
) -> None:
    """Copy the readable rows into a new spool."""
    report = _describe(old, path)
    with fresh:
        for table, columns in (
            ("meta", ("name", "value")),
            ("dead", ("seq", "at", "reason")),
            ("skipped", ("seq", "at")),
        ):
            _copy_table(old, fresh, table, columns)
        for record in _records(old, report, on_progress):
            if record.intact:
                fresh.execute(
                    "INSERT INTO event(seq, received, checksum, body) VALUES(?, ?, ?, ?)",
                    (record.seq, record.received, zlib.crc32(record.body), record.body),
                )
            else:
                verb, reason = "INSERT OR IGNORE", "damaged: lost with its page on disk"
                if record.count > 1:
                    verb = "INSERT OR REPLACE"
                    reason = f"damaged: events {record.first} to {record.seq} have no rows"
                fresh.execute(
                    f"{verb} INTO dead(seq, at, reason) VALUES(?, ?, ?)",
                    (record.seq, time.time_ns() // 1_000, reason),
                )
        fresh.execute("DELETE FROM sqlite_sequence WHERE name = 'event'")
        fresh.execute("INSERT INTO sqlite_sequence(name, seq) VALUES('event', ?)", (report.last,))


def _copy_table(
    old: apsw.Connection, fresh: apsw.Connection, table: str, columns: tuple[str, ...]
) -> None:
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    with suppress(*DAMAGED_ROW, apsw.ConstraintError):
        for row in old.execute(f"SELECT {names} FROM {table}"):
            fresh.execute(f"INSERT OR IGNORE INTO {table}({names}) VALUES({marks})", row)


def _keep(path: Path, kept: Path) -> None:
    """Copy the file and its log, readable by their owner alone, and sync the copies.

    Raises OSError.
    """
    for suffix in ("", "-wal"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            copy = kept.with_name(kept.name + suffix)
            copy.touch(mode=0o600)
            # SQLite's locks of a file end when their process closes any descriptor of the file
            # (https://sqlite.org/howtocorrupt.html). So another process reads it.
            copied = subprocess.run(
                ["cp", "--", source, copy], capture_output=True, text=True, check=False
            )
            if copied.returncode:
                raise OSError(copied.stderr.strip())
            sync(copy)
