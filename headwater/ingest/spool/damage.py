"""Read events from a spool file whose pages may be damaged.

Sequence numbers have no gaps after the last cut, and each row has the checksum of its body. So a
row that a damaged page hides is noticed by its missing number, and a changed one by its checksum.
Both become records that are not intact: the caller counts them, and goes on behind them.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any

import apsw
import msgspec

_ROW = "SELECT seq, received, checksum, body FROM event WHERE seq "


class Record(msgspec.Struct, frozen=True, gc=False):
    """One event of the spool.

    `intact` is False if its bytes differ from the accepted ones; `body` is empty if it has no
    readable row. `received` is in microseconds since 1970.
    """

    seq: int
    received: int
    body: bytes
    intact: bool


def last_seq(connection: apsw.Connection) -> int:
    """Return the seq of the newest event, or 0. Raises apsw.Error.

    SQLite keeps it apart from the events, so it is right if the page of the newest is damaged. If
    the kept number itself is damaged and too small, the newest event corrects it.
    """
    kept: Any = None
    with suppress(apsw.CorruptError):
        kept = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").get
    if type(kept) is not int:
        return _newest_seq(connection)
    with suppress(apsw.CorruptError):
        kept = max(kept, _newest_seq(connection))
    return int(kept)


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
            if record.seq > seq + 1 and record.seq > _cut(connection) + 1:
                damaged = True
                break
            size += len(record.body)
            if records and size > bytes_max:
                return records
            records.append(record)
            seq = record.seq
        else:
            damaged = seq < last and len(records) < events_max
    except apsw.CorruptError:
        damaged = True
    if damaged:
        _read_one_by_one(connection, records, max(seq, _cut(connection)), last, events_max)
    return records


def _read_one_by_one(
    connection: apsw.Connection, records: list[Record], seq: int, last: int, events_max: int
) -> None:
    """Add the events after a seq to `records`, each found by its own number or not intact."""
    while seq < last and len(records) < events_max:
        seq += 1
        record = read_record(connection, seq)
        if record is None:
            received = records[-1].received if records else 0
            record = Record(seq, received, b"", intact=False)
        records.append(record)


def read_record(connection: apsw.Connection, seq: int) -> Record | None:
    """Return one event, or None if it has no readable row."""
    with suppress(apsw.CorruptError):
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


def _cut(connection: apsw.Connection) -> int:
    """Return the seq up to which events were cut, or 0."""
    value = connection.execute("SELECT value FROM meta WHERE name = 'cut'").get
    return int(value) if value is not None else 0
