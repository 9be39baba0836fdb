"""Read events from a spool file whose pages may be damaged.

Sequence numbers have no gaps after the last cut, and each row has the checksum of its body. So a
row that a damaged page hides is noticed by its missing number, and a changed one by its checksum.
Both become records that are not intact: the caller counts them, and goes on behind them.

A damaged number can make a gap of any length, so a long gap is one record. It ends before the next
event that its own number finds.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import msgspec

from headwater.errors import SpoolFullError
from headwater.ingest.spool.row_numbers import iterate_leaf_numbers

_ROW = "SELECT seq, received, checksum, body FROM event WHERE seq "
# Errors of a query that reads a damaged row: its structure, its length, or the text in its place.
DAMAGED_ROW = (apsw.CorruptError, apsw.TooBigError, UnicodeDecodeError)
# A longer gap is one record, so the work for a gap is bounded.
_GAP_EVENTS_MAX = 1_000
# The smallest row of an event: its cell, its receipt and checksum, and a body of two bytes.
_ROW_BYTES_MIN = 20


class Record(msgspec.Struct, frozen=True, gc=False):
    """One event of the spool.

    `intact` is False if its bytes differ from the accepted ones; `body` is empty if it has no
    readable row. `received` is in microseconds since 1970. `count` is more than 1 for a range of
    events without readable rows, which ends at `seq`.
    """

    seq: int
    received: int
    body: bytes
    intact: bool
    count: int = 1

    @property
    def first(self) -> int:
        """Return the seq of the first event."""
        return self.seq - self.count + 1


def last_seq(connection: apsw.Connection) -> int:
    """Return the seq of the newest event, or 0. Raises apsw.Error.

    SQLite keeps it apart from the events, so it is right if the page of the newest is damaged. If
    the kept number itself is damaged, and too small or impossible, the newest event corrects it.
    """
    kept = _kept_seq(connection)
    if kept is None:
        return _newest_seq(connection)
    try:
        newest = _newest_seq(connection)
    except apsw.CorruptError:
        newest = 0
    if kept <= newest:
        return newest
    possible = _possible_seq(connection)
    return kept if kept <= possible else newest or possible


def impossible_seq(connection: apsw.Connection) -> int | None:
    """Return the number that SQLite keeps as the newest seq if the file cannot have held so many.

    Return None if the number is possible. Raises apsw.Error.
    """
    kept = _kept_seq(connection)
    return kept if kept is not None and kept > last_seq(connection) else None


def _kept_seq(connection: apsw.Connection) -> int | None:
    kept: Any = None
    with suppress(*DAMAGED_ROW):
        kept = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").get
    return kept if type(kept) is int else None


def _possible_seq(connection: apsw.Connection) -> int:
    """Return the greatest seq that an event of this file can have had.

    The file holds or held all events after the cut. A salvaged file is smaller; its dead letters
    have the seqs of its lost events.
    """
    file_bytes = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
    possible = read_cut(connection) + file_bytes // _ROW_BYTES_MIN
    for table in ("dead", "skipped"):
        with suppress(apsw.CorruptError):
            newest = connection.execute(f"SELECT max(seq) FROM {table}").get
            possible = max(possible, newest or 0)
    return possible


def _newest_seq(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM event").get)


def read_records(
    connection: apsw.Connection, after: int, *, events_max: int, bytes_max: int
) -> list[Record]:
    """Return the events after a seq, in order, within both limits but at least one.

    Raises apsw.Error if the file cannot be read at all.
    """
    last = last_seq(connection)
    records: list[Record] = []
    size, seq, damaged = 0, after, False
    try:
        for row in connection.execute(f"{_ROW} > ? ORDER BY seq LIMIT ?", (after, events_max)):
            record = _record(row)
            if record is None or not seq < record.seq <= last:
                damaged = True
                break
            if record.seq > seq + 1 and record.seq > read_cut(connection) + 1:
                damaged = True
                break
            size += len(record.body)
            if records and size > bytes_max:
                return records
            records.append(record)
            seq = record.seq
        else:
            damaged = seq < last and len(records) < events_max
    except DAMAGED_ROW:
        damaged = True
    if damaged:
        _read_one_by_one(connection, records, max(seq, read_cut(connection)), last, events_max)
    return records


def _read_one_by_one(
    connection: apsw.Connection, records: list[Record], seq: int, last: int, events_max: int
) -> None:
    """Add the events after a seq to `records`, each found by its own number or not intact.

    A gap of more than _GAP_EVENTS_MAX events is one record.
    """
    while seq < last and len(records) < events_max:
        record = read_record(connection, seq + 1)
        if record is not None:
            records.append(record)
        else:
            received = records[-1].received if records else 0
            gap = _gap_records(seq, _gap_events(connection, seq, last), received)
            records += gap[: events_max - len(records)]
        seq = records[-1].seq


def _gap_records(seq: int, count: int, received: int) -> list[Record]:
    """Return the records of the events after a seq that have no readable rows."""
    if count > _GAP_EVENTS_MAX:
        return [Record(seq + count, received, b"", intact=False, count=count)]
    lost = range(seq + 1, seq + count + 1)
    return [Record(number, received, b"", intact=False) for number in lost]


def _gap_events(connection: apsw.Connection, seq: int, last: int) -> int:
    """Return the number of events between a seq and the next event that its own number finds.

    The event directly after `seq` is known to be lost.
    """
    near = min(last, seq + _GAP_EVENTS_MAX + 1)
    for number in range(seq + 2, near + 1):
        if read_record(connection, number) is not None:
            return number - seq - 1
    following = _first_readable(connection, near, last)
    return (last if following is None else following - 1) - seq


def _first_readable(connection: apsw.Connection, after: int, last: int) -> int | None:
    """Return the first seq behind a long gap whose event can be read, or None.

    The work depends on the size of the file, not on the length of the gap. A query for the next
    row could pass over readable rows, because it trusts the order of damaged numbers.
    """
    if after >= last:
        return None
    found = None
    # No page may move from one place to another meanwhile.
    with connection:
        for numbers in iterate_leaf_numbers(connection):
            end = last if found is None else found - 1
            for number in numbers:
                if after < number <= end and read_record(connection, number) is not None:
                    found = number
                    break
    return found


def read_record(connection: apsw.Connection, seq: int) -> Record | None:
    """Return one event, or None if it has no readable row."""
    with suppress(*DAMAGED_ROW):
        for row in connection.execute(f"{_ROW} = ?", (seq,)):
            record = _record(row)
            return record if record is not None and record.seq == seq else None
    return None


def _record(row: tuple[Any, ...]) -> Record | None:
    """Return the record of a row, or None if the types of its columns are damaged."""
    seq, received, checksum, body = row
    if type(seq) is int and type(received) is int and type(body) is bytes:
        return Record(seq, received, body, zlib.crc32(body) == checksum)
    return None


def read_cut(connection: apsw.Connection) -> int:
    """Return the seq up to which events were cut, or 0.

    Raises SpoolFullError if the stored value is no seq, and apsw.Error.
    """
    value: Any = connection.execute("SELECT value FROM meta WHERE name = 'cut'").get
    try:
        cut = 0 if value is None else int(value)
    except (TypeError, ValueError):
        cut = -1
    if not 0 <= cut < 2**63:
        raise SpoolFullError(
            f"the spool is damaged: `cut` in its table `meta` is {str(value)[:40]!r}, and must be "
            "the number of the last event that was cut",
            hint="Restore the spool from a backup: `headwater restore`.",
        )
    return cut


def unreadable_spool(path: Path, error: Exception) -> SpoolFullError:
    """Return the error of a spool that SQLite cannot read or write."""
    # SQLite must first undo the unfinished write, and a reader may not.
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_READONLY_ROLLBACK:
        return SpoolFullError(
            f"the spool {path} has the journal of an unfinished write: a `restore --replace` or "
            "another command was killed",
            hint="Run the interrupted command again, for example `headwater restore --replace`.",
        )
    return SpoolFullError(
        f"the spool {path} cannot be read or written: {error}",
        hint="If its disk is healthy and has room, restore the file from a backup.",
    )
