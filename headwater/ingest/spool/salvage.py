"""Check a spool file, and rewrite it from its readable events.

The new file replaces the content of the old one in place, so processes that have it open go on with
it. Until then a trigger refuses new events: one that arrived in between would be lost. The producer
gets a 503 and sends again. The damaged file stays beside the new one.
"""

from __future__ import annotations

import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import msgspec

from headwater.ingest.spool.damage import (
    DAMAGED_ROW,
    Record,
    impossible_seq,
    last_seq,
    read_cut,
    read_records,
    unreadable_spool,
)
from headwater.ingest.spool.spool import SCHEMA, VERSION

_BATCH_EVENTS, _BATCH_BYTES = 5_000, 64 * 2**20
_PROBLEMS_MAX = 20
_BUSY_MS = 30_000
_REFUSE = """
CREATE TRIGGER IF NOT EXISTS salvaging BEFORE INSERT ON event
BEGIN SELECT RAISE(ABORT, 'it is being salvaged, or run `headwater spool salvage` again'); END
"""

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
    """

    id: str
    version: int
    first: int
    last: int
    intact: int
    damaged: list[tuple[int, int]]
    lost: int
    problems: list[str]

    @property
    def damaged_count(self) -> int:
        """Return the number of damaged events."""
        return sum(last - first + 1 for first, last in self.damaged)

    @property
    def is_whole(self) -> bool:
        """Return True if nothing is damaged except events known as lost."""
        return not self.damaged and not self.problems


def check(path: Path, on_progress: OnProgress = _ignore_progress) -> SpoolReport:
    """Read every event of a spool and return what is damaged; other processes may use the spool.

    Raises SpoolFullError if the file cannot be read as a database.
    """
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(_BUSY_MS)
            report = _describe(connection)
            dead = _dead(connection)
            for record in _records(connection, report, on_progress):
                if record.intact:
                    report.intact += 1
                elif record.seq in dead:
                    report.lost += record.count
                elif report.damaged and report.damaged[-1][1] == record.first - 1:
                    report.damaged[-1] = (report.damaged[-1][0], record.seq)
                else:
                    report.damaged.append((record.first, record.seq))
            report.problems = _problems(connection)
            return report
    except apsw.Error as error:
        raise unreadable_spool(path, error) from error


def salvage(path: Path, on_progress: OnProgress = _ignore_progress) -> Path:
    """Rewrite a spool from its readable events; return the path of the damaged copy.

    Sequence numbers, dead letters and the identity stay. Killed at any instant, it can run again.
    Raises SpoolFullError if the file cannot be read or written.
    """
    new = path.with_name(f"{path.name}.new")
    kept = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
    try:
        with closing(apsw.Connection(str(path))) as old:
            old.set_busy_timeout(_BUSY_MS)
            old.execute(_REFUSE)
            try:
                _remove(new)
                new.touch(mode=0o600)
                with closing(apsw.Connection(str(new))) as fresh:
                    _copy(old, fresh, on_progress)
                    _keep(path, kept)
                    with old.backup("main", fresh, "main") as backup:
                        while not backup.done:
                            backup.step(-1)
            finally:
                # The new content has no trigger.
                old.execute("DROP TRIGGER IF EXISTS salvaging")
            old.pragma("journal_mode", "wal")
            old.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        _remove(new)
    except (apsw.Error, OSError) as error:
        raise unreadable_spool(path, error) from error
    return kept


def _describe(connection: apsw.Connection) -> SpoolReport:
    """Return a report without the events."""
    id = connection.execute("SELECT value FROM meta WHERE name = 'id'").get
    return SpoolReport(
        id=str(id or ""),
        version=int(connection.pragma("user_version")),
        first=read_cut(connection) + 1,
        last=last_seq(connection),
        intact=0,
        damaged=[],
        lost=0,
        problems=[],
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


def _dead(connection: apsw.Connection) -> set[int]:
    """Return the seqs of the dead letters, as far as they can be read."""
    with suppress(*DAMAGED_ROW):
        return {row[0] for row in connection.execute("SELECT seq FROM dead")}
    return set()


def _problems(connection: apsw.Connection) -> list[str]:
    problems: list[str] = []
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


def _copy(old: apsw.Connection, fresh: apsw.Connection, on_progress: OnProgress) -> None:
    """Copy the readable rows into an empty file with pages of the same size."""
    fresh.pragma("page_size", int(old.pragma("page_size")))
    fresh.pragma("auto_vacuum", "incremental")
    fresh.execute(SCHEMA)
    fresh.pragma("user_version", VERSION)
    report = _describe(old)
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
                reason = "damaged: lost with its page on disk"
                if record.count > 1:
                    reason = f"damaged: events {record.first} to {record.seq} have no rows"
                fresh.execute(
                    "INSERT OR IGNORE INTO dead(seq, at, reason) VALUES(?, ?, ?)",
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
    """Copy the file and its log, readable by their owner alone."""
    for suffix in ("", "-wal"):
        source = path.with_name(path.name + suffix)
        if source.exists():
            copy = kept.with_name(kept.name + suffix)
            copy.touch(mode=0o600)
            shutil.copyfile(source, copy)


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
