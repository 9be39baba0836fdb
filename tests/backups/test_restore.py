"""Restored backups: which homes are refused, and what is kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headwater.backups import restore as restore_module
from headwater.backups.backup import back_up
from headwater.backups.manifest import NAME, BackupError, describe
from headwater.backups.restore import restore
from headwater.errors import HomeInUseError, SpoolFullError
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.salvage import check
from headwater.ingest.spool.spool import Spool
from headwater.settings import Settings
from tests.backups.test_backup import settings  # noqa: F401
from tests.ingest.spool.test_salvage import block


def test_a_used_or_filled_home_is_refused(settings: Settings, tmp_path: Path) -> None:  # noqa: F811
    target = tmp_path / "one"
    back_up(settings, target)
    with pytest.raises(BackupError, match=r"holds spool\.db already"):
        restore(settings, target)
    program = (
        "import sys; from pathlib import Path; from headwater.ingest.spool.spool import Spool; "
        "spool = Spool(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(settings.spool_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(HomeInUseError, match="another process uses the spool"):
            restore(settings, target, replace=True)
        other.communicate(b"")
    with closing(Spool(settings.spool_path)) as spool:
        assert spool.append([b"lost with the replacement"], received=9_000) == 61
    done = restore(settings, target, replace=True)
    assert done.replaced is not None
    assert SpoolReader(done.replaced / "spool.db").count() == 61
    assert SpoolReader(settings.spool_path).count() == 60
    assert (done.replaced / "policies" / "team" / "owners.yaml").is_file()
    assert done.replaced.stat().st_mode & 0o777 == 0o700


def test_no_server_opens_the_spool_while_it_is_restored(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target, home = tmp_path / "one", Settings(home=str(tmp_path / "restored"))
    back_up(settings, target)
    write = restore_module._write_beside

    def write_beside_a_server(*arguments: Any) -> Any:
        written = write(*arguments)
        with pytest.raises(SpoolFullError, match="rewrites the spool"):
            Spool(home.spool_path)
        return written

    monkeypatch.setattr(restore_module, "_write_beside", write_beside_a_server)
    restore(home, target)
    with closing(Spool(home.spool_path)) as spool:
        assert spool.append([b"accepted"], received=9_000) == 61


def test_a_spool_that_is_no_database_is_replaced_and_kept(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    settings.spool_path.write_bytes(b"no database" * 1_000)
    done = restore(settings, target, replace=True)
    assert done.replaced is not None
    assert (done.replaced / "spool.db").read_bytes().startswith(b"no database")
    assert SpoolReader(settings.spool_path).count() == 60
    assert not settings.spool_path.with_name(".restore").exists()


def test_an_old_backup_of_a_spool_that_refused_events_is_restored_without_that(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "one"
    manifest = back_up(settings, target)
    block(target / "spool.db")
    changed = [describe(target, target / file.path) for file in manifest.files]
    (target / NAME).write_bytes(
        msgspec.json.encode(msgspec.structs.replace(manifest, files=changed))
    )
    restored = Settings(home=str(tmp_path / "restored"))
    restore(restored, target)
    assert check(restored.spool_path).is_whole
    with closing(Spool(restored.spool_path)) as spool:
        assert spool.append([b"accepted"], received=9_000) == 61


def test_a_file_that_would_be_written_over_is_refused(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    # The spool has another place, so that access.db is beside it and policies are in the home.
    home = tmp_path / "new"
    new = Settings(home=str(home), spool=str(tmp_path / "spools" / "events.db"))
    (tmp_path / "spools").mkdir()
    (tmp_path / "spools" / "session.key").write_text("of another program")
    with pytest.raises(BackupError, match=r"spools holds session\.key already"):
        restore(new, target)
    assert not home.exists()
    done = restore(new, target, replace=True)
    assert done.replaced is not None
    assert (done.replaced / "session.key").read_text() == "of another program"
    assert (tmp_path / "spools" / "session.key").read_text() == "the secret of session.key"


def test_a_broken_link_in_the_place_of_a_file_is_moved(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    home = tmp_path / "new"
    home.mkdir()
    (home / "policies").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BackupError, match="holds policies already"):
        restore(Settings(home=str(home)), target)
    done = restore(Settings(home=str(home)), target, replace=True)
    assert done.replaced is not None
    assert (done.replaced / "policies").is_symlink()
    assert (home / "policies" / "team" / "owners.yaml").is_file()
    assert not (tmp_path / "elsewhere").exists()


def test_every_file_is_synced_with_its_content_and_every_folder_after_the_renames(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    home = tmp_path / "new"
    new = Settings(home=str(home), spool=str(tmp_path / "spools" / "spool.db"))
    synced_bytes: dict[int, int] = {}
    synced_names: dict[int, set[str]] = {}
    sync = os.fsync

    def note_and_sync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        synced_bytes[status.st_ino] = status.st_size
        if stat.S_ISDIR(status.st_mode):
            synced_names[status.st_ino] = set(os.listdir(descriptor))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note_and_sync)
    restore(new, target)
    restored = [*home.rglob("*"), *new.spool_path.parent.rglob("*")]
    files = {path for path in restored if path.is_file()}
    assert {path.name for path in files} >= {"spool.db", "session.key", "owners.yaml"}
    for path in files:
        assert synced_bytes[path.stat().st_ino] == path.stat().st_size, path
    for folder in {path.parent for path in restored}:
        names = {path.name for path in folder.iterdir()}
        assert synced_names[folder.stat().st_ino] - {".restore"} == names, folder
