"""Verified backups: every damage is found."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from headwater.backups.backup import back_up
from headwater.backups.manifest import NAME, BackupError, BackupFile
from headwater.backups.restore import restore
from headwater.backups.verify import verify
from headwater.settings import Settings
from tests.backups.test_backup import settings  # noqa: F401
from tests.ingest.spool.test_damage import change


def test_every_damage_is_found(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "one"
    back_up(settings, target)
    key = target / "redaction.key"
    key.write_text("another secret of it")
    (target / "policies" / "team" / "owners.yaml").unlink()
    # A changed event, with its file checksum corrected: its own checksum shows it.
    change(target / "spool.db", "UPDATE event SET body = 'x' WHERE seq IN (3, 4)")
    problems = verify(target)[1]
    assert len(problems) == 4
    text = "\n".join(problems)
    assert "redaction.key has changed: 20 bytes" in text
    assert "policies/team/owners.yaml is missing" in text
    assert "spool.db has changed" in text
    assert "the spool's events 3 to 4 are damaged" in text
    with pytest.raises(BackupError, match=r"is damaged: .*owners\.yaml is missing"):
        restore(Settings(home=str(tmp_path / "new")), target)
    assert not (tmp_path / "new").exists()


def test_a_spool_of_another_position_is_found(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "one"
    back_up(settings, target)
    change(target / "spool.db", "DELETE FROM event WHERE seq = 60")
    change(target / "spool.db", "UPDATE sqlite_sequence SET seq = 59 WHERE name = 'event'")
    assert any("spool.db ends at event 59 of" in problem for problem in verify(target)[1])


def test_an_added_file_and_a_link_are_found(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "one"
    back_up(settings, target)
    (target / "policies" / "added.yaml").write_text("policies: []")
    (target / "lake").mkdir()
    (target / "lake" / "added.parquet").write_text("x")
    (target / "policies" / "secret.yaml").symlink_to("/etc/passwd")
    (target / "policies" / "team").rename(tmp_path / "team")
    (target / "policies" / "team").symlink_to(tmp_path / "team")
    assert sorted(verify(target)[1]) == [
        "lake/added.parquet is not in the manifest",
        "policies/added.yaml is not in the manifest",
        "policies/secret.yaml is a link",
        "policies/team is a link",
    ]
    with pytest.raises(BackupError, match="is a link"):
        restore(Settings(home=str(tmp_path / "new")), target)


@pytest.mark.parametrize("path", ["../../x", "/etc/hostname", "a//b", "", "x" * 300, "\0"])
def test_a_path_outside_of_the_backup_is_found(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    path: str,
) -> None:
    target = tmp_path / "one"
    manifest = back_up(settings, target)
    added = BackupFile(path, 1, "0" * 64)
    files = [file for file in manifest.files if file.path != "spool.db"]
    changed = msgspec.structs.replace(manifest, files=[*files, added])
    (target / NAME).write_bytes(msgspec.json.encode(changed))
    problems = "\n".join(verify(target)[1])
    assert "the manifest has no spool.db" in problems
    assert "in the manifest is no path of a backup" in problems


@pytest.mark.parametrize(
    "name",
    ["password", "server.json", "gateway.out", "neo4j.conf", ".profile", "policies", "x/y.key"],
)
def test_a_file_that_no_backup_has_is_refused(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    name: str,
) -> None:
    target = tmp_path / "one"
    (settings.home_path / "policies" / "team" / "owners.yaml").unlink()
    (settings.home_path / "policies" / "team").rmdir()
    (settings.home_path / "policies").rmdir()
    manifest = back_up(settings, target)
    (target / name).parent.mkdir(exist_ok=True)
    (target / name).write_bytes(b"added")
    added = BackupFile(name, 5, hashlib.sha256(b"added").hexdigest())
    changed = msgspec.structs.replace(manifest, files=[*manifest.files, added])
    (target / NAME).write_bytes(msgspec.json.encode(changed))
    assert verify(target)[1] == [f"{name!r} in the manifest is no path of a backup"]
    with pytest.raises(BackupError, match="is no path of a backup"):
        restore(Settings(home=str(tmp_path / "new")), target)
    assert not (tmp_path / "new").exists()


def test_a_path_that_the_manifest_has_twice_is_found(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "one"
    manifest = back_up(settings, target)
    changed = msgspec.structs.replace(manifest, files=[*manifest.files, manifest.files[0]])
    (target / NAME).write_bytes(msgspec.json.encode(changed))
    assert verify(target)[1] == [f"{manifest.files[0].path} is in the manifest more than once"]
