"""F14 and F15: a spool that is cut, has flipped bits, or loses the pages that were not synced."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from headwater.errors import HeadwaterError, SpoolFullError
from headwater.ingest.spool.damage import Record
from headwater.ingest.spool.spool import Spool
from tests.faults.checker import scaled, seeded
from tests.faults.history import events_of, history
from tests.faults.power import PowerCutDisk

RECEIVED = 1_000
FLIPS = 1_000
POWER_CUTS = 100
# A frame of the log of SQLite is a header and a page.
FRAME_HEADER_BYTES = 24
POSITIONS_BETWEEN = 16
RUNS = 12


def read_all(path: Path) -> list[Record]:
    with closing(Spool(path)) as spool:
        return spool.read(0, events_max=10**6, bytes_max=2**40)


def assert_no_event_hides(records: list[Record], bodies: list[bytes]) -> int:
    """Assert that each event is whole or reported; return the number of reported ones."""
    assert len(records) >= len(bodies)
    for seq, (record, body) in enumerate(zip(records, bodies, strict=False), start=1):
        assert record.seq == seq
        assert not record.intact or record.body == body
    # A damaged counter may claim more events than there are; none of them is intact.
    assert not any(record.intact for record in records[len(bodies) :])
    return sum(not record.intact for record in records)


def test_a_flipped_bit_is_reported_or_harmless(tmp_path: Path) -> None:
    chance, path, copy = seeded(14), tmp_path / "spool.db", tmp_path / "copy.db"
    bodies = history(RUNS)
    with closing(Spool(path)) as spool:
        for body in bodies:
            spool.append([body], received=RECEIVED)
    content = path.read_bytes()
    refused = reported = harmless = 0
    for _ in range(scaled(FLIPS)):
        bit = chance.randrange(len(content) * 8)
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        for file in tmp_path.glob("copy.db*"):
            file.unlink()
        copy.write_bytes(damaged)
        try:
            found = assert_no_event_hides(read_all(copy), bodies)
        except HeadwaterError:
            refused += 1
        except AssertionError as error:
            raise AssertionError(f"bit {bit}: {error}") from error
        else:
            reported += found > 0
            harmless += found == 0
    print(f"{refused} refused, {reported} reported, {harmless} harmless")
    assert reported > 0


@contextmanager
def open_log(path: Path, groups: list[list[bytes]]) -> Iterator[list[int]]:
    """Append groups, and yield the size of the log after each while the spool is still open."""
    log = path.with_name(f"{path.name}-wal")
    with closing(Spool(path)) as spool:
        sizes = []
        for group in groups:
            spool.append(group, received=RECEIVED)
            sizes.append(log.stat().st_size)
        yield sizes


def cut_positions(first: int, last: int, step: int) -> Iterator[int]:
    """Yield every byte near the ends of the range, and every `step`th between."""
    near = 2 * FRAME_HEADER_BYTES
    for position in range(first, last + 1):
        if position - first < near or last - position < near or not position % step:
            yield position


def test_a_log_cut_at_any_byte_has_every_whole_record(tmp_path: Path) -> None:
    path, copy = tmp_path / "spool.db", tmp_path / "copy.db"
    groups = [events_of(number) for number in range(6)]
    with open_log(path, groups) as sizes:
        shutil.copy(path, copy)
        log = path.with_name("spool.db-wal").read_bytes()[: sizes[-1]]
    step = 2**13 // scaled(POSITIONS_BETWEEN)
    cuts = 0
    for before, after in itertools.pairwise(sizes[2:]):
        for position in cut_positions(before, after, step):
            assert_log_cut(copy, path, log[:position], groups, sizes)
            cuts += 1
    print(f"cut at {cuts} bytes of the last three records")


def assert_log_cut(
    copy: Path, path: Path, log: bytes, groups: list[list[bytes]], sizes: list[int]
) -> None:
    trial = path.with_name("trial.db")
    for file in path.parent.glob("trial.db*"):
        file.unlink()
    shutil.copy(copy, trial)
    trial.with_name("trial.db-wal").write_bytes(log)
    whole = sum(size <= len(log) for size in sizes)
    expected = list(itertools.chain.from_iterable(groups[:whole]))
    records = read_all(trial)
    assert [record.body for record in records] == expected
    assert all(record.intact for record in records)


def test_flipped_bits_in_the_log_leave_a_prefix(tmp_path: Path) -> None:
    chance, path, copy = seeded(15), tmp_path / "spool.db", tmp_path / "copy.db"
    groups = [events_of(number) for number in range(8)]
    with open_log(path, groups) as sizes:
        shutil.copy(path, copy)
        log = path.with_name("spool.db-wal").read_bytes()[: sizes[-1]]
    bodies = list(itertools.chain.from_iterable(groups))
    for _ in range(scaled(100)):
        damaged, bit = bytearray(log), chance.randrange(sizes[1] * 8, len(log) * 8)
        damaged[bit // 8] ^= 1 << bit % 8
        for file in tmp_path.glob("trial.db*"):
            file.unlink()
        trial = tmp_path / "trial.db"
        shutil.copy(copy, trial)
        trial.with_name("trial.db-wal").write_bytes(damaged)
        records = read_all(trial)
        whole = sum(size * 8 <= bit for size in sizes)
        assert len(records) >= 2 * whole, f"bit {bit}"
        assert [record.body for record in records] == bodies[: len(records)], f"bit {bit}"


def append_until_the_power_ends(path: Path, disk: PowerCutDisk) -> list[bytes]:
    """Append events, with the log written into the database now and then; return the accepted."""
    acknowledged: list[bytes] = []
    try:
        for first in range(0, 30, 10):
            # The end of a spool writes its log into the database.
            with closing(Spool(path, vfs=disk.vfs_name)) as spool:
                for run in range(first, first + 10):
                    spool.append(events_of(run), received=RECEIVED)
                    acknowledged += events_of(run)
    except SpoolFullError:
        pass
    return acknowledged


def power_cut(folder: Path, cut_at: int, chance: random.Random) -> tuple[list[bytes], int]:
    """Cut the power at one call; return the acknowledged events, and the calls of the disk."""
    (folder / "before").mkdir(parents=True)
    disk = PowerCutDisk(f"power-{cut_at}-{folder.name}", cut_at)
    try:
        acknowledged = append_until_the_power_ends(folder / "before" / "spool.db", disk)
    finally:
        disk.unregister()
    disk.write_disk(folder / "after", chance)
    return acknowledged, disk.calls


def test_a_power_cut_loses_no_acknowledged_event(tmp_path: Path) -> None:
    chance = seeded(20261115)
    every, calls = power_cut(tmp_path / "whole", 10**9, chance)
    assert len(every) == 60
    lost_writes = 0
    for number in range(scaled(POWER_CUTS)):
        cut_at = chance.randint(1, calls)
        folder = tmp_path / str(number)
        acknowledged, _ = power_cut(folder, cut_at, chance)
        try:
            records = read_all(folder / "after" / "spool.db")
        except HeadwaterError:
            assert acknowledged == [], f"call {cut_at}: the spool is lost"
            continue
        bodies = [record.body for record in records]
        assert all(record.intact for record in records), f"call {cut_at}"
        assert bodies[: len(acknowledged)] == acknowledged, f"call {cut_at}"
        assert bodies == every[: len(bodies)], f"call {cut_at}: no order"
        lost_writes += len(bodies) < len(every)
        shutil.rmtree(folder)
    print(f"{scaled(POWER_CUTS)} power cuts among {calls} calls; {lost_writes} lost later writes")
    assert lost_writes > 0


def test_the_power_cut_of_the_test_loses_what_is_not_synced(tmp_path: Path) -> None:
    """The disk of this test must be able to fail: without syncs it loses events."""
    disk = PowerCutDisk("power-unsynced", 10**9)
    path = tmp_path / "spool.db"
    with closing(apsw.Connection(str(path), vfs=disk.vfs_name)) as connection:
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "off")
        connection.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)")
        disk.write_disk(tmp_path / "after", seeded(1))
    disk.unregister()
    with (
        closing(apsw.Connection(str(tmp_path / "after" / "spool.db"))) as connection,
        closing(connection.cursor()) as cursor,
    ):
        found = cursor.execute("SELECT count(*) FROM sqlite_master").get
    assert found == 0
