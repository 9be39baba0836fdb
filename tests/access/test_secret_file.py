"""A secret of the server: created once, readable by its owner only, replaceable."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater.access.secret_file import load_secret, replace_secret
from headwater.errors import SettingsError


def test_a_secret_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "home" / "session.key"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(load_secret, [path] * 8))
    assert found == {load_secret(path)}
    assert len(load_secret(path)) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert load_secret(tmp_path / "other") not in found


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 40])
def test_a_malformed_secret_stops_the_program(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "session.key"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=r"session\.key"):
        load_secret(path)


def test_a_replaced_secret_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "session.key"
    first = load_secret(path)
    replace_secret(path)
    assert load_secret(path) != first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
