"""The manifest of a backup: sizes and SHA-256 of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.backups.manifest import BackupError, BackupFile, describe, read_manifest


def test_a_file_has_its_size_and_its_sha_256(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"abc")
    # The test vector of FIPS 180-2.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert describe(tmp_path, tmp_path / "a" / "b") == BackupFile("a/b", 3, digest)


def test_a_folder_without_a_manifest_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="is no backup"):
        read_manifest(tmp_path)
    for damaged in (b"{", b'{"format": 1e999}', b'{"x": ' + b"[" * 3_000):
        (tmp_path / "manifest.json").write_bytes(damaged)
        with pytest.raises(BackupError, match="cannot be read"):
            read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_bytes(b'{"format": 1, "headwater": "\xff"}')
    with pytest.raises(BackupError, match="is malformed"):
        read_manifest(tmp_path)
