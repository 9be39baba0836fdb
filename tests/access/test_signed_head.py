"""Heads of the access log are signed, and a changed one is refused."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from headwater.access.signed_head import (
    key_id,
    load_signing_key,
    public_pem,
    read_head,
    read_public_key,
    sign_head,
)
from headwater.errors import QueryError, SettingsError


def test_the_key_is_created_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "audit.key"
    key = load_signing_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_id(load_signing_key(path).public_key()) == key_id(key.public_key())
    assert [file.name for file in tmp_path.iterdir()] == ["audit.key"]


def test_a_head_is_read_with_the_public_key_alone(tmp_path: Path) -> None:
    key = load_signing_key(tmp_path / "audit.key")
    head = sign_head(7, "ab" * 32, key)
    file, public = tmp_path / "head.json", tmp_path / "audit.pub"
    file.write_bytes(msgspec.json.encode(head) + b"\n")
    public.write_text(public_pem(key.public_key()), encoding="ascii")
    assert read_head(file, read_public_key(public)) == head
    assert (head.entries, head.hash, head.key) == (7, "ab" * 32, key_id(key.public_key()))


@pytest.mark.parametrize(
    "change",
    [{"entries": 6}, {"hash": "cd" * 32}, {"time": "2026-01-01T00:00:00Z"}, {"signature": "AAAA"}],
)
def test_a_changed_head_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    key = load_signing_key(tmp_path / "audit.key")
    head = msgspec.to_builtins(sign_head(7, "ab" * 32, key)) | change
    file = tmp_path / "head.json"
    file.write_bytes(msgspec.json.encode(head))
    with pytest.raises(QueryError, match="signature"):
        read_head(file, key.public_key())


def test_what_is_no_head_or_no_key_is_named(tmp_path: Path) -> None:
    key = load_signing_key(tmp_path / "audit.key")
    other = load_signing_key(tmp_path / "other.key")
    file = tmp_path / "file"
    file.write_bytes(msgspec.json.encode(sign_head(7, "ab" * 32, other)))
    with pytest.raises(QueryError, match="was signed by the key"):
        read_head(file, key.public_key())
    for content in (b"", b"[]", b'{"entries": 1}', b"\xff"):
        file.write_bytes(content)
        with pytest.raises(QueryError, match="holds no head"):
            read_head(file, key.public_key())
        with pytest.raises(QueryError, match="holds no public Ed25519 key"):
            read_public_key(file)
        with pytest.raises(SettingsError, match="holds no private Ed25519 key"):
            load_signing_key(file)
