"""Files and folders are synced, and what is not there is an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headwater.file_sync import sync, sync_path_to


def test_a_file_and_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a", encoding="utf-8")
    sync(path)
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "b")


def test_each_folder_above_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(
        os, "fsync", lambda fd: synced.append(Path(f"/proc/self/fd/{fd}").resolve())
    )
    path = tmp_path / "a" / "b" / "c"
    path.mkdir(parents=True)
    sync_path_to(path)
    assert synced[:3] == [tmp_path / "a" / "b", tmp_path / "a", tmp_path]
