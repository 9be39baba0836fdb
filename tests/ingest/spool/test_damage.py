"""A spool whose file is damaged: each event is read, or counted as not intact."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.errors import NewerVersionError, SpoolFullError
from headwater.ingest.batches import parse_record
from headwater.ingest.spool.copy import read_position
from headwater.ingest.spool.damage import Record, read_record
from headwater.ingest.spool.salvage import check
from headwater.ingest.spool.spool import Spool
from headwater.ingest.spool.version import VERSION

EVENTS = 600
BLOCK = 4_096


def body(number: int) -> bytes:
    return f"{number:04d}".encode() * 500


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a closed spool of 600 events of 2 kB each, in one file."""
    path = tmp_path / "spool.db"
    with closing(Spool(path)) as spool:
        spool.append([body(number) for number in range(1, EVENTS + 1)], received=1_000)
    return path


def read_all(path: Path, events_max: int) -> list[Record]:
    """Read a spool batch by batch, as the worker does."""
    records: list[Record] = []
    with closing(Spool(path)) as spool:
        while batch := spool.read(len(records), events_max=events_max, bytes_max=10**6):
            records += batch
    return records


def zero(path: Path, block: int) -> None:
    with path.open("r+b") as file:
        file.seek(block * BLOCK)
        file.write(b"\0" * BLOCK)


def change(path: Path, statement: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement)


@pytest.mark.parametrize("events_max", [7, 1_000])
def test_a_missing_row_is_a_record_that_is_not_intact(path: Path, events_max: int) -> None:
    change(path, "DELETE FROM event WHERE seq IN (3, 4, 600)")
    records = read_all(path, events_max)
    assert [record.seq for record in records] == list(range(1, EVENTS + 1))
    assert [record.seq for record in records if not record.intact] == [3, 4, 600]
    assert parse_record(records[2]).reason == "damaged: it cannot be read from the spool"
    assert records[2].received == records[1].received


@pytest.mark.parametrize(
    "column",
    [
        "received = NULL",
        "body = 'text'",
        "body = NULL",
        "checksum = NULL",
        "body = CAST(x'ff41' AS TEXT)",
        "received = CAST(x'ff41' AS TEXT)",
    ],
)
def test_a_damaged_column_does_not_end_the_reading(path: Path, column: str) -> None:
    change(
        path, "CREATE TABLE loose(seq INTEGER PRIMARY KEY AUTOINCREMENT, received, checksum, body)"
    )
    change(path, "INSERT INTO loose SELECT * FROM event")
    change(path, "DROP TABLE event; ALTER TABLE loose RENAME TO event")
    change(path, f"UPDATE event SET {column} WHERE seq = 9")
    records = read_all(path, 100)
    assert [record.seq for record in records if not record.intact] == [9]
    assert len(records) == EVENTS


@pytest.mark.parametrize("seed", range(20))
def test_zeroed_blocks_hide_no_event_in_silence(path: Path, seed: int) -> None:
    """Zero three random blocks of 4 kB, or 60 for the last seeds, behind the first eight pages."""
    chosen = random.Random(seed)
    count = 60 if seed >= 15 else 3
    for block in chosen.sample(range(64, path.stat().st_size // BLOCK), count):
        zero(path, block)
    records = read_all(path, 100)
    assert [record.seq for record in records] == list(range(1, EVENTS + 1))
    assert all(record.body == body(record.seq) for record in records if record.intact)
    damaged = sum(not record.intact for record in records)
    print(f"seed {seed}: {damaged} of {EVENTS} events are damaged")
    assert 0 < damaged < EVENTS


@pytest.mark.parametrize("block", range(8, 64))
def test_a_damaged_root_page_hides_no_event_in_silence(path: Path, block: int) -> None:
    zero(path, block)
    try:
        records = read_all(path, 100)
    except SpoolFullError as error:
        assert "malformed" in error.message  # noqa: PT017, most blocks leave the spool readable
    else:
        assert [record.seq for record in records] == list(range(1, EVENTS + 1))


@pytest.mark.parametrize("kept", ["88", "1000", "'many'", "NULL"])
def test_a_damaged_count_hides_no_event(path: Path, kept: str) -> None:
    change(path, f"UPDATE sqlite_sequence SET seq = {kept} WHERE name = 'event'")
    records = read_all(path, 100)
    assert [record.body for record in records[:EVENTS]] == [
        body(number) for number in range(1, EVENTS + 1)
    ]
    assert not any(record.intact for record in records[EVENTS:])


@pytest.mark.parametrize("kept", [EVENTS + 2**30, 2**63 - 1])
def test_an_impossible_count_hides_no_event(path: Path, kept: int) -> None:
    change(path, f"UPDATE sqlite_sequence SET seq = {kept} WHERE name = 'event'")
    assert [record.seq for record in read_all(path, 100)] == list(range(1, EVENTS + 1))
    with closing(Spool(path)) as spool:
        assert spool.last() == EVENTS


@pytest.mark.parametrize("gap_end", [2**30, 10**12, 2**63 - 2])
@pytest.mark.parametrize("events_max", [1, 7, 1_000])
def test_a_long_gap_is_one_record(path: Path, events_max: int, gap_end: int) -> None:
    change(path, f"UPDATE sqlite_sequence SET seq = {gap_end} WHERE name = 'event'")
    with closing(Spool(path)) as spool:
        assert spool.append([b"after the gap"], received=5_000) == gap_end + 1
        records, position = [], EVENTS - 1
        while batch := spool.read(position, events_max=events_max, bytes_max=10**6):
            records += batch
            position = batch[-1].seq
    assert [(record.first, record.seq, record.intact) for record in records] == [
        (EVENTS, EVENTS, True),
        (EVENTS + 1, gap_end, False),
        (gap_end + 1, gap_end + 1, True),
    ]
    reason = f"damaged: events {EVENTS + 1} to {gap_end} have no rows in the spool"
    assert parse_record(records[1]).reason == reason


SMALL_EVENTS = 6_000


@pytest.fixture(scope="session")
def small_events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a closed spool of 6,000 events of 200 bytes each."""
    path = tmp_path_factory.mktemp("small") / "spool.db"
    with closing(Spool(path)) as spool:
        for first in range(1, SMALL_EVENTS, 500):
            bodies = [small_body(number) for number in range(first, first + 500)]
            spool.append(bodies, received=1_000)
    return path


def small_body(number: int) -> bytes:
    return f"{number:04d}".encode() * 50


def require_each_readable_event(path: Path, events_max: int) -> None:
    """Require one record for each event, and an intact one if its own number finds the event."""
    with closing(apsw.Connection(str(path))) as connection:
        found = [read_record(connection, number) for number in range(1, SMALL_EVENTS + 1)]
    readable = {record.seq for record in found if record is not None and record.intact}
    intact: set[int] = set()
    position = 0
    with closing(Spool(path)) as spool:
        while batch := spool.read(position, events_max=events_max, bytes_max=10**6):
            for record in batch:
                assert record.first == position + 1
                position = record.seq
                if record.intact:
                    assert record.body == small_body(record.seq)
                    intact.add(record.seq)
    assert position == SMALL_EVENTS
    assert not readable - intact
    report = check(path)
    assert report.intact >= len(readable)
    assert report.intact + report.damaged_count == SMALL_EVENTS


@pytest.mark.parametrize("events_max", [300, 10_000])
@pytest.mark.parametrize("seed", range(12))
def test_random_bytes_hide_no_readable_event(
    small_events: Path, tmp_path: Path, seed: int, events_max: int
) -> None:
    """Write random bytes over three blocks of 4 kB behind the first eight pages."""
    path = tmp_path / "spool.db"
    shutil.copyfile(small_events, path)
    chosen = random.Random(seed)
    with path.open("r+b") as file:
        for block in chosen.sample(range(64, path.stat().st_size // BLOCK), 3):
            file.seek(block * BLOCK)
            file.write(chosen.randbytes(BLOCK))
    require_each_readable_event(path, events_max)


def test_an_event_between_two_long_gaps_is_read(small_events: Path, tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    shutil.copyfile(small_events, path)
    change(path, "DELETE FROM event WHERE seq BETWEEN 501 AND 2500 AND seq <> 1600")
    require_each_readable_event(path, 300)
    require_each_readable_event(path, 10_000)


@pytest.mark.parametrize("value", ["many", "", "-1", "9" * 30])
def test_a_damaged_cut_is_an_error_with_its_fix(path: Path, value: str) -> None:
    change(path, f"INSERT INTO meta(name, value) VALUES('cut', '{value}')")
    change(path, "DELETE FROM event WHERE seq = 3")
    with closing(Spool(path)) as spool:
        for read in (
            spool.cut_events,
            lambda: spool.read(0, events_max=100, bytes_max=10**6),
            lambda: read_position(path),
            lambda: check(path),
        ):
            with pytest.raises(SpoolFullError, match="`cut` in its table `meta`") as caught:
                read()
            assert "backup" in (caught.value.hint or "")


def test_events_that_were_cut_are_not_damaged(path: Path) -> None:
    with closing(Spool(path)) as spool:
        spool.cut(100, lake="/lake", events_max=1_000)
        first = spool.read(0, events_max=5, bytes_max=10**6)
    assert [(record.seq, record.intact) for record in first] == [(n, True) for n in range(101, 106)]


def test_a_spool_of_a_newer_version_is_refused(path: Path) -> None:
    change(path, f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(NewerVersionError, match="a newer Headwater wrote the spool"):
        Spool(path)


def test_a_spool_without_a_version_gets_one(path: Path) -> None:
    change(path, "PRAGMA user_version = 0")
    with closing(Spool(path)) as spool:
        assert spool.last() == EVENTS
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.pragma("user_version") == VERSION
