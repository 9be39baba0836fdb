"""Check and salvage of damaged spools, also while others use the file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.errors import SpoolFullError
from headwater.ingest.spool import salvage as salvage_module
from headwater.ingest.spool.copy import read_position, refuse_used
from headwater.ingest.spool.salvage import check, salvage
from headwater.ingest.spool.spool import Spool
from headwater.ingest.spool.version import VERSION
from tests.ingest.spool.test_damage import BLOCK, EVENTS, body, change, path, zero  # noqa: F401


def damaged_path(path: Path) -> Path:  # noqa: F811
    """Damage 4 kB in the middle of the file, and one body; add a dead letter."""
    with closing(Spool(path)) as spool:
        spool.dead_letter([(5, "no event")])
        spool.skip([7])
    zero(path, path.stat().st_size // BLOCK // 2)
    change(path, "UPDATE event SET body = 'changed' WHERE seq = 2")
    return path


def block(path: Path) -> None:  # noqa: F811
    """Leave the trigger that a killed salvage of an older version left."""
    change(
        path,
        "CREATE TRIGGER salvaging BEFORE INSERT ON event "
        "BEGIN SELECT RAISE(ABORT, 'it is being salvaged, or run it again'); END",
    )


def test_a_whole_spool_has_nothing_to_report(path: Path) -> None:  # noqa: F811
    report = check(path)
    assert (report.first, report.last, report.intact, report.version) == (
        1,
        EVENTS,
        EVENTS,
        VERSION,
    )
    assert report.is_whole
    assert (report.damaged, report.problems, report.damaged_count) == ([], [], 0)


def test_damage_is_reported_as_ranges(path: Path) -> None:  # noqa: F811
    calls: list[tuple[int, int]] = []
    report = check(damaged_path(path), lambda done, total: calls.append((done, total)))
    assert report.damaged[0] == (2, 2)
    (_, (first, last)) = report.damaged
    assert EVENTS // 3 < first < last < EVENTS * 2 // 3
    assert report.damaged_count == last - first + 2
    assert report.intact == EVENTS - report.damaged_count
    assert not report.is_whole
    assert calls[-1] == (EVENTS, EVENTS)


def test_a_salvaged_spool_has_every_readable_event(path: Path) -> None:  # noqa: F811
    before = check(damaged_path(path))
    kept = salvage(path)
    after = check(path)
    assert (after.id, after.last, after.intact) == (before.id, EVENTS, before.intact)
    assert (after.damaged, after.lost, after.problems) == ([], before.damaged_count, [])
    assert after.is_whole
    assert check(kept).intact == before.intact
    assert kept.stat().st_mode & 0o777 == path.stat().st_mode & 0o777 == 0o600
    with closing(Spool(path)) as spool:
        letters = spool.dead_letters(limit=-1)
        assert (letters[-1].seq, letters[-1].reason) == (2, "damaged: lost with its page on disk")
        assert (letters[-2].seq, letters[-2].reason) == (5, "no event")
        assert spool.skipped_between(1, EVENTS) == {7}
        assert spool.read(8, events_max=1, bytes_max=9)[0].body == body(9)
        assert spool.append([b"next"], received=1) == EVENTS + 1, "numbers go on"
    assert not list(path.parent.glob("*.new*"))


def test_those_who_have_the_file_open_go_on_with_the_new_content(path: Path) -> None:  # noqa: F811
    with closing(Spool(damaged_path(path))) as writer:
        writer.append([b"before"], received=1)
        salvage(path)
        assert writer.append([b"after"], received=2) == EVENTS + 2
        bodies = [record.body for record in writer.read(EVENTS, events_max=9, bytes_max=999)]
    assert bodies == [b"before", b"after"]


def test_no_event_is_accepted_while_the_spool_is_salvaged(path: Path) -> None:  # noqa: F811
    refused: list[str] = []
    with closing(Spool(damaged_path(path))) as writer:

        def try_to_append(_done: int, _total: int) -> None:
            with pytest.raises(SpoolFullError) as caught:
                writer.append([b"too early"], received=1)
            refused.append(caught.value.message)

        salvage(path, try_to_append)
        assert writer.append([b"later"], received=2) == EVENTS + 1
    assert refused == [f"nothing is written to the spool {path} while it is salvaged"]


@pytest.mark.parametrize(
    "write",
    [
        lambda spool: spool.cut(100, lake="/lake", events_max=1_000),
        lambda spool: spool.dead_letter([(15, "not foldable")]),
        lambda spool: spool.skip([20]),
        lambda spool: spool.retry([5]),
        lambda spool: spool.revive([5]),
        lambda spool: spool.check_writable(),
    ],
    ids=["cut", "dead_letter", "skip", "retry", "revive", "check_writable"],
)
def test_no_write_during_a_salvage_is_lost(
    path: Path,  # noqa: F811
    write: Callable[[Spool], object],
) -> None:
    before = check(damaged_path(path))
    seconds: list[float] = []

    def try_to_write(_done: int, _total: int) -> None:
        # As a new process that reads the spool: it is not refused.
        with closing(Spool(path)) as spool:
            assert spool.last() == EVENTS
            assert spool.dead_count() == 1
            began = time.monotonic()
            with pytest.raises(SpoolFullError, match="while it is salvaged"):
                write(spool)
            seconds.append(time.monotonic() - began)

    salvage(path, try_to_write)
    assert max(seconds) < 1
    after = check(path)
    assert (after.first, after.intact, after.damaged) == (1, before.intact, [])
    with closing(Spool(path)) as spool:
        assert spool.cut_events() == (0, "")
        assert [letter.reason for letter in spool.dead_letters(limit=-1) if letter.seq == 5] == [
            "no event"
        ]
        assert spool.skipped_between(1, EVENTS) == {7}
        write(spool)


def test_a_program_that_ignores_the_lock_of_a_salvage_cannot_write(path: Path) -> None:  # noqa: F811
    refused: list[apsw.BusyError] = []

    def try_to_write(_done: int, _total: int) -> None:
        with pytest.raises(apsw.BusyError) as caught:
            change(path, "DELETE FROM event WHERE seq = 9")
        refused.append(caught.value)

    before = check(damaged_path(path))
    salvage(path, try_to_write)
    assert refused
    assert check(path).intact == before.intact


def test_a_second_salvage_is_refused(path: Path) -> None:  # noqa: F811
    refused: list[str] = []

    def try_to_salvage(_done: int, _total: int) -> None:
        with pytest.raises(SpoolFullError) as caught:
            salvage(path)
        refused.append(caught.value.message)

    salvage(damaged_path(path), try_to_salvage)
    assert "while it is salvaged" in refused[0]
    assert check(path).is_whole


def test_a_spool_that_another_process_writes_is_not_salvaged(
    path: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(salvage_module, "_BUSY_MS", 10)
    before = check(damaged_path(path))
    with closing(apsw.Connection(str(path))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(SpoolFullError, match="another process writes the spool"):
            salvage(path)
    assert check(path) == before
    assert not list(path.parent.glob("*.new*"))


def test_a_reader_does_not_fail_a_salvage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(salvage_module, "_BUSY_MS", 10)
    with closing(apsw.Connection(str(damaged_path(path)))) as reader:
        reader.execute("BEGIN; SELECT * FROM meta").get  # noqa: B018
        salvage(path)
        assert check(path).is_whole


def test_the_damaged_copy_is_synced_and_sqlite_keeps_its_locks(
    path: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The bytes of a database that SQLite locks for a reader: https://sqlite.org/lockingv3.html
    program = (
        "import fcntl, sys; "
        "fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)"
    )
    keep, sync = salvage_module._keep, os.fsync
    synced_bytes: dict[int, int] = {}
    locks: list[bytes] = []

    def note_and_sync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        synced_bytes[status.st_ino] = status.st_size
        sync(descriptor)

    def keep_and_lock(path: Path, kept: Path) -> None:
        keep(path, kept)
        command = [sys.executable, "-c", program, str(path)]
        locks.append(subprocess.run(command, stderr=subprocess.PIPE, check=False).stderr)

    monkeypatch.setattr(os, "fsync", note_and_sync)
    monkeypatch.setattr(salvage_module, "_keep", keep_and_lock)
    with closing(Spool(damaged_path(path))) as writer:
        writer.append([b"in the log"], received=1)
        kept = salvage(path)
    for copy in (kept, kept.with_name(f"{kept.name}-wal")):
        assert synced_bytes[copy.stat().st_ino] == copy.stat().st_size > 0
    assert b"BlockingIOError" in locks[0]


def test_a_copy_that_fails_ends_a_salvage(
    path: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = check(damaged_path(path))
    program = tmp_path / "programs" / "cp"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'no room for the copy' >&2\nexit 1\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(program.parent))
    with pytest.raises(SpoolFullError, match="no room for the copy"):
        salvage(path)
    assert check(path) == before


def test_an_interrupted_salvage_changes_nothing(path: Path) -> None:  # noqa: F811
    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    before = check(damaged_path(path))
    with pytest.raises(KeyboardInterrupt):
        salvage(path, interrupt)
    assert check(path) == before
    with closing(Spool(path)) as writer:
        assert writer.append([b"taken"], received=2) == EVENTS + 1


def test_a_killed_salvage_leaves_a_spool_that_is_used_and_can_be_salvaged(path: Path) -> None:  # noqa: F811
    program = (
        "import os, sys; from pathlib import Path; from headwater.ingest.spool.salvage import "
        "salvage; salvage(Path(sys.argv[1]), lambda done, total: os.kill(os.getpid(), 9))"
    )
    before = check(damaged_path(path))
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == -9
    with closing(Spool(path)) as writer:
        assert writer.append([b"accepted"], received=1) == EVENTS + 1
        dead = [seq for first, last in before.damaged for seq in range(first, last + 1)]
        writer.dead_letter([(seq, "damaged") for seq in dead])
        assert check(path).damaged == []
        salvage(path)
        assert writer.append([b"accepted"], received=2) == EVENTS + 2
    assert check(path).intact == before.intact + 2


def test_a_trigger_that_refuses_events_is_reported_and_removed(path: Path) -> None:  # noqa: F811
    block(path)
    with closing(Spool(path)) as spool, pytest.raises(SpoolFullError, match="run it again"):
        spool.append([b"refused"], received=1)
    report = check(path)
    assert report.refuses_events
    assert not report.is_whole
    assert (report.damaged, report.problems) == ([], [])
    salvage(path)
    assert check(path).is_whole
    with closing(Spool(path)) as spool:
        assert spool.append([b"accepted"], received=1) == EVENTS + 1


def test_cut_events_are_not_missing(path: Path) -> None:  # noqa: F811
    with closing(Spool(path)) as spool:
        spool.cut(100, lake="/lake", events_max=1_000)
    salvage(path)
    report = check(path)
    assert (report.first, report.last, report.intact) == (101, EVENTS, EVENTS - 100)
    with closing(Spool(path)) as spool:
        assert spool.cut_events() == (100, "/lake")


def test_an_impossible_count_is_reported_and_repaired(path: Path) -> None:  # noqa: F811
    change(path, f"UPDATE sqlite_sequence SET seq = {2**63 - 1} WHERE name = 'event'")
    report = check(path)
    assert (report.last, report.intact, report.damaged) == (EVENTS, EVENTS, [])
    assert str(2**63 - 1) in report.problems[0]
    salvage(path)
    assert check(path).is_whole
    with closing(Spool(path)) as spool:
        assert spool.append([b"next"], received=1) == EVENTS + 1


def test_a_long_gap_is_one_range_and_one_dead_letter(path: Path) -> None:  # noqa: F811
    change(path, f"UPDATE sqlite_sequence SET seq = {2**30} WHERE name = 'event'")
    with closing(Spool(path)) as spool:
        spool.append([b"after the gap"], received=1)
    report = check(path)
    assert (report.damaged, report.intact) == ([(EVENTS + 1, 2**30)], EVENTS + 1)
    salvage(path)
    after = check(path)
    assert (after.damaged, after.lost, after.problems) == ([], 2**30 - EVENTS, [])
    with closing(Spool(path)) as spool:
        [letter] = spool.dead_letters()
        assert letter.reason == f"damaged: events {EVENTS + 1} to {2**30} have no rows"


def test_the_count_of_a_salvaged_spool_that_lost_most_events_stays(path: Path) -> None:  # noqa: F811
    change(path, "DELETE FROM event WHERE seq > 1")
    change(path, "UPDATE sqlite_sequence SET seq = 50000 WHERE name = 'event'")
    salvage(path)
    with closing(Spool(path)) as spool:
        assert spool.last() == 50_000


def test_a_file_that_is_no_spool_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"no database" * 1_000)
    for function in (check, salvage):
        with pytest.raises(SpoolFullError, match=r"cannot be read or written: .*not a database"):
            function(other)
    with closing(apsw.Connection(str(tmp_path / "empty.db"))) as empty:
        empty.execute("CREATE TABLE t(x)")
    with pytest.raises(SpoolFullError, match="no such table"):
        check(tmp_path / "empty.db")


def test_a_dead_letter_whose_reason_is_no_text_ends_no_salvage(path: Path) -> None:  # noqa: F811
    with closing(Spool(path)) as spool:
        spool.dead_letter([(5, "no event")])
    change(path, "UPDATE dead SET reason = CAST(x'ff41' AS TEXT)")
    salvage(path)
    assert check(path).intact == EVENTS


def leave_journal(path: Path, folder: Path) -> Path:  # noqa: F811
    """Copy the spool as a process leaves it that is killed while it writes."""
    change(path, "PRAGMA journal_mode = delete")
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("cache_size", 10)
        with connection:
            connection.execute("UPDATE event SET received = received + 1")
            for suffix in ("", "-journal"):
                name = f"{path.name}{suffix}"
                shutil.copyfile(path.with_name(name), folder / name)
    return folder / path.name


@pytest.mark.parametrize("read", [check, read_position])
def test_the_journal_of_a_killed_process_is_named(
    path: Path,  # noqa: F811
    tmp_path: Path,
    read: Callable[[Path], object],
) -> None:
    (tmp_path / "left").mkdir()
    left = leave_journal(path, tmp_path / "left")
    with pytest.raises(SpoolFullError, match="the journal of an unfinished write") as caught:
        read(left)
    assert "again" in (caught.value.hint or "")
    refuse_used(left)
    assert check(left).is_whole
