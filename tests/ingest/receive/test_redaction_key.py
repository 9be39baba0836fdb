"""The key of redaction: created once, readable by its owner only."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.errors import SettingsError
from headwater.ingest.receive.redaction_key import load_key


def test_the_key_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "home" / "redaction.key"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(load_key, [path] * 8))
    assert keys == {load_key(path)}
    assert len(load_key(path)) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert load_key(tmp_path / "other") not in keys


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 40])
def test_a_malformed_key_stops_the_program(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "redaction.key"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"redaction\.key"):
        load_key(path)
