"""Files and folders are synced, and what is not there is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.file_sync import sync


def test_a_file_and_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a", encoding="utf-8")
    sync(path)
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "b")
