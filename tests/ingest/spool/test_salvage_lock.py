"""The lock of a salvage when its file has another owner."""

from __future__ import annotations

import fcntl
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SpoolFullError
from headwater.ingest.spool.salvage_lock import lock_for_salvage, refuse_salvaged
from headwater.ingest.spool.spool import Spool

OWNER, GROUP = 12_345, 54_321


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the owner of a file")
def test_the_new_file_has_the_owner_of_the_spool(tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    Spool(path).close()
    os.chown(path, OWNER, GROUP)
    with lock_for_salvage(path) as new:
        status = new.stat()
    assert (status.st_uid, status.st_gid) == (OWNER, GROUP)


def test_a_user_who_may_not_change_the_owner_salvages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spool.db"
    Spool(path).close()

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    with lock_for_salvage(path) as new:
        assert new.exists()


def test_a_file_of_another_user_refuses_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "spool.db.new"
    left.touch()
    open_file = Path.open

    def open_or_refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == left:
            raise PermissionError
        return open_file(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_or_refuse)
    with closing(Spool(tmp_path / "spool.db")) as spool:
        assert spool.append([b"accepted"], received=1) == 1


@pytest.mark.parametrize("is_salvaged_again", [False, True])
def test_a_salvage_that_waited_for_another_locks_a_file_with_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_salvaged_again: bool
) -> None:
    path, new = tmp_path / "spool.db", tmp_path / "spool.db.new"
    Spool(path).close()
    locks: list[int] = []
    flock = fcntl.flock

    def end_the_other_salvage_first(file: Any, operation: int) -> None:
        if not locks:
            new.unlink()
            if is_salvaged_again:
                new.touch()
        locks.append(operation)
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", end_the_other_salvage_first)
    with lock_for_salvage(path) as locked, locked.open("rb") as file:
        with pytest.raises(BlockingIOError):
            flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with pytest.raises(SpoolFullError, match="while it is salvaged"):
            refuse_salvaged(path)
    assert locks[:2] == [fcntl.LOCK_EX, fcntl.LOCK_EX]
    assert not new.exists()
