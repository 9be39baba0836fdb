"""Copies of a spool at one position, and the test whether another process has it open."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from headwater.errors import HomeInUseError, SpoolFullError
from headwater.ingest.spool.copy import (
    copy_database,
    copy_spool,
    name_lake,
    read_position,
    refuse_used,
)
from headwater.ingest.spool.salvage import check
from headwater.ingest.spool.spool import Spool
from tests.faults.disks import small_disk
from tests.ingest.spool.test_damage import EVENTS, path  # noqa: F401
from tests.ingest.spool.test_salvage import block


def test_events_that_arrive_during_the_copy_are_not_in_it(path: Path, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "copy.db"
    with closing(Spool(path)) as spool:
        position = copy_spool(path, target, lambda *_: spool.append([b"later"], received=9))
        assert spool.last() > EVENTS
    assert (position.id, position.position, position.cut) == (spool.id, EVENTS, 0)
    assert read_position(target) == position
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_the_reason_of_a_failed_copy(path: Path, tmp_path: Path) -> None:  # noqa: F811
    with closing(Spool(path)) as spool:
        spool.append([b"x" * 900] * 2_000, received=9)
    with small_disk(tmp_path / "disk", 1) as disk:
        for copy in (
            lambda: copy_spool(path, disk / "spool.db", lambda *_: None),
            lambda: copy_database(path, disk / "access.db"),
        ):
            with pytest.raises(
                SpoolFullError, match="cannot be copied: the disk is full"
            ) as caught:
                copy()
            assert "room" in caught.value.hint


def test_a_failed_write_is_the_reason_of_a_failed_copy(path: Path, tmp_path: Path) -> None:  # noqa: F811
    with closing(Spool(path)) as spool:
        spool.append([b"x" * 900] * 200, received=9)
    # More than the index of a write-ahead log.
    program = (
        "import resource, signal, sys; from pathlib import Path; "
        "from headwater.ingest.spool.copy import copy_database\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))\n"
        "copy_database(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path), str(tmp_path / "copy.db")],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert "cannot be copied: SQLITE_IOERR_WRITE" in ended.stderr


def test_a_copy_has_no_trigger_that_refuses_events(path: Path, tmp_path: Path) -> None:  # noqa: F811
    block(path)
    copy_spool(path, tmp_path / "copy.db", lambda *_: None)
    assert check(tmp_path / "copy.db").is_whole
    with closing(Spool(tmp_path / "copy.db")) as spool:
        assert spool.append([b"accepted"], received=9) == EVENTS + 1


def test_a_lake_gets_another_place(path: Path) -> None:  # noqa: F811
    with closing(Spool(path)) as spool:
        spool.cut(5, lake="/one", events_max=9)
    name_lake(path, "/two")
    assert (read_position(path).cut, read_position(path).lake) == (5, "/two")


def test_an_open_spool_is_in_use(path: Path) -> None:  # noqa: F811
    with closing(Spool(path)) as spool:
        with pytest.raises(HomeInUseError, match="another process uses the spool"):
            refuse_used(path)
        assert spool.append([b"more"], received=9) == EVENTS + 1
    refuse_used(path)
    refuse_used(path.with_name("none.db"))


def test_a_file_that_is_no_spool_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database" * 1_000)
    for function in (read_position, refuse_used):
        with pytest.raises(SpoolFullError, match="cannot be read"):
            function(tmp_path / "x.db")
