"""The spool on a healthy disk; tests/faults has the failing disks."""

from __future__ import annotations

import shutil
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.errors import SpoolFullError
from headwater.ingest.spool.damage import Record
from headwater.ingest.spool.spool import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "new" / "spool.db")) as spool:
        yield spool


def read(
    spool: Spool, after: int = 0, events_max: int = 100, bytes_max: int = 10**6
) -> list[bytes]:
    return [record.body for record in spool.read(after, events_max=events_max, bytes_max=bytes_max)]


def test_appended_events_are_read_back_in_order(spool: Spool) -> None:
    assert (spool.last(), read(spool)) == (0, [])
    assert spool.append([b"one", b"", b"\x00\xff"], received=7) == 3
    assert spool.append([b"four"], received=8) == 4
    assert spool.last() == 4
    assert spool.read(2, events_max=9, bytes_max=999) == [
        Record(3, 9, b"\x00\xff", True),
        Record(4, 8, b"four", True),
    ]
    assert read(spool) == [b"one", b"", b"\x00\xff", b"four"]
    assert (spool.received_at(4), spool.received_at(5)) == (8, None)


def test_a_read_stops_at_its_bounds_but_returns_at_least_one_event(spool: Spool) -> None:
    spool.append([b"x" * 100] * 5, received=1)
    assert len(read(spool, events_max=3)) == 3
    assert len(read(spool, bytes_max=250)) == 2
    assert len(read(spool, bytes_max=1)) == 1, "one larger than the bound comes alone"


def test_a_spool_survives_its_connection_with_the_same_id(tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    with closing(Spool(path)) as first:
        first.append([b"one"], received=1)
        spool_id = first.id
    with closing(Spool(path)) as second:
        assert (second.id, read(second)) == (spool_id, [b"one"])
        assert second.append([b"two"], received=2) == 2
    with closing(Spool(tmp_path / "other.db")) as other:
        assert other.id != spool_id


def test_only_its_owner_may_read_a_spool(spool: Spool) -> None:
    assert stat.S_IMODE(spool.path.stat().st_mode) == 0o600


def test_one_connection_appends_while_the_other_reads(tmp_path: Path) -> None:
    with closing(Spool(tmp_path / "s.db")) as writer, closing(Spool(tmp_path / "s.db")) as reader:
        writer.append([b"one"], received=1)
        assert read(reader) == [b"one"]
        writer.append([b"two"], received=2)
        assert read(reader, after=1) == [b"two"]


def test_a_changed_byte_is_detected(spool: Spool) -> None:
    spool.append([b"one", b"two", b"three"], received=1)
    with closing(apsw.Connection(str(spool.path))) as other:
        other.execute("UPDATE event SET body = ? WHERE seq = 2", (b"twp",))
    assert [record.intact for record in spool.read(0, events_max=9, bytes_max=999)] == [
        True,
        False,
        True,
    ]
    assert zlib.crc32(b"two") != zlib.crc32(b"twp")


def test_dead_letters_are_listed_newest_first_once_with_the_newest_reason(
    spool: Spool,
) -> None:
    spool.append([b"one", b"tw\xff", b"three"], received=1)
    spool.dead_letter([(1, "no event")])
    spool.dead_letter([(1, "something else"), (2, "not JSON")])
    assert [(dead.seq, dead.reason, dead.body) for dead in spool.dead_letters()] == [
        (2, "not JSON", "tw\ufffd"),
        (1, "something else", "one"),
    ]
    assert [dead.seq for dead in spool.dead_letters(limit=1)] == [2]
    assert len(read(spool)) == 3, "they stay in the log"
    assert (spool.dead_after(0), spool.dead_after(1)) == ({1, 2}, {2})
    spool.revive([1, 3])
    assert [dead.seq for dead in spool.dead_letters()] == [2]


def test_a_full_spool_stores_no_part_of_a_request(tmp_path: Path) -> None:
    with closing(Spool(tmp_path / "small.db", bytes_max=1_000_000)) as spool:
        spool.append([b"x" * 100_000] * 5, received=1)
        with pytest.raises(SpoolFullError, match="cannot store events"):
            spool.append([b"y", b"z" * 2_000_000], received=2)
        assert spool.last() == 5
        assert set(read(spool)) == {b"x" * 100_000}
        assert spool.append([b"small"], received=3) == 6, (
            "what fits is still taken, and no number is left out"
        )


def test_a_check_for_writability_writes_nothing(spool: Spool) -> None:
    spool.append([b"one"], received=1)
    spool.check_writable()
    assert spool.append([b"two"], received=2) == 2
    assert read(spool) == [b"one", b"two"]


def test_a_file_with_small_pages_is_used_unchanged_with_the_same_bound(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("page_size", 4096)
        connection.pragma("journal_mode", "wal")
    with closing(Spool(path, bytes_max=1_000_000)) as spool:
        spool.append([b"x" * 100_000] * 5, received=1)
        with pytest.raises(SpoolFullError, match="cannot store events"):
            spool.append([b"y" * 600_000], received=2)
        spool.check_writable()
        assert read(spool) == [b"x" * 100_000] * 5
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.pragma("page_size") == 4096


def test_the_log_is_written_into_the_database_before_it_grows_large(spool: Spool) -> None:
    for number in range(60):
        spool.append([b"%d" % number + b"x" * 6_000] * 100, received=1)
    log = spool.path.with_name(spool.path.name + "-wal")
    assert 0 < log.stat().st_size < 12 * 2**20
    assert spool.path.stat().st_size > 25 * 2**20


@pytest.mark.parametrize("replacement", [None, "copy"])
def test_a_file_that_was_removed_or_replaced_takes_no_event(
    spool: Spool, replacement: str | None
) -> None:
    spool.append([b"one"], received=1)
    moved = spool.path.with_name("moved.db")
    spool.path.rename(moved)
    if replacement:
        shutil.copyfile(moved, spool.path)
    with pytest.raises(SpoolFullError, match="was removed or replaced while it was in use"):
        spool.append([b"two"], received=2)
    with pytest.raises(SpoolFullError, match="was removed or replaced"):
        spool.check_writable()
    assert read(spool) == [b"one"], "what was accepted is still folded"
    spool.path.unlink(missing_ok=True)
    moved.rename(spool.path)
    assert spool.append([b"two"], received=2) == 2


@pytest.mark.parametrize(
    ("write", "written"),
    [
        (lambda spool: spool.retry([1, 2]), [1, 2]),
        (lambda spool: spool.cut(3, lake="/lake", events_max=10), 1),
    ],
    ids=["retry", "cut"],
)
def test_no_other_writer_comes_between_the_reads_and_writes_of_a_transaction(
    spool: Spool, write: Callable[[Spool], object], written: object
) -> None:
    spool.append([b"{}"] * 4, received=1)
    spool.dead_letter([(1, "dead"), (2, "dead")])
    refused = []

    def append_before_a_write(_: object, statement: str, __: object) -> bool:
        if statement.startswith(("INSERT", "DELETE")):
            with closing(apsw.Connection(str(spool.path))) as other:
                try:
                    other.execute("INSERT INTO event(received, checksum, body) VALUES(9, 9, 'b')")
                except apsw.BusyError:
                    refused.append(statement)
        return True

    connection = spool._connected()
    connection.exec_trace = append_before_a_write
    assert write(spool) == written
    connection.exec_trace = None
    assert refused
