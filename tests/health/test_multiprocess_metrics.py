"""The folder of shared histograms: its files have their disk space before they are used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headwater.health.multiprocess_metrics import ROOM_BYTES, VARIABLE, share


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "as before")


def test_each_file_has_its_space(tmp_path: Path) -> None:
    share(tmp_path / "metrics")
    assert os.environ[VARIABLE] == str(tmp_path / "metrics")
    for kind, size in ROOM_BYTES.items():
        file = (tmp_path / "metrics" / f"{kind}_{os.getpid()}.db").stat()
        assert file.st_size == size
        assert file.st_blocks * 512 >= size, "the file has no holes"


def test_without_space_nothing_is_shared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "metrics").write_text("a file where the folder must be")
    share(tmp_path / "metrics")
    assert VARIABLE not in os.environ
    assert "histograms_not_shared" in caplog.text
