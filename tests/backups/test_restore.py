"""Restored backups: which homes are refused, and what is kept."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
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
from headwater.pipelines.lake import Lake
from headwater.settings import Settings
from tests.backups.test_backup import archived, settings  # noqa: F401
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
    [replaced] = done.replaced
    assert SpoolReader(replaced / "spool.db").count() == 61
    assert SpoolReader(settings.spool_path).count() == 60
    assert (replaced / "policies" / "team" / "owners.yaml").is_file()
    assert replaced.stat().st_mode & 0o777 == 0o700


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
    [replaced] = done.replaced
    assert (replaced / "spool.db").read_bytes().startswith(b"no database")
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
    [replaced] = done.replaced
    assert (replaced / "session.key").read_text() == "of another program"
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
    [replaced] = done.replaced
    assert (replaced / "policies").is_symlink()
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


@pytest.fixture
def two_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return settings of a home and a spool between which no file can be renamed."""
    disk = tmp_path / "disk"
    rename = Path.rename

    def rename_on_one_disk(path: Path, target: Path) -> Path:
        if path.is_relative_to(disk) != target.is_relative_to(disk):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_on_one_disk)
    return Settings(home=str(tmp_path / "new"), spool=str(disk / "spools" / "spool.db"))


def test_a_spool_on_another_disk_than_its_home_is_restored_and_replaced(
    settings: Settings,  # noqa: F811
    two_disks: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        archived(spool, lake, 1, 40)
        spool.cut(30, lake=lake.root, events_max=100)
    target = tmp_path / "one"
    back_up(settings, target)
    home, spools = two_disks.home_path, two_disks.spool_path.parent
    assert restore(two_disks, target).replaced == ()
    (home / "policies" / "mine.yaml").write_text("mine")
    with closing(Spool(two_disks.spool_path)) as spool:
        spool.append([b"lost with the replacement"], received=9_000)
        assert spool.cut_events() == (30, str(home / "lake"))
    monkeypatch.setattr(time, "strftime", lambda *_: "TIME")
    done = restore(two_disks, target, replace=True)
    assert set(done.replaced) == {home / "replaced-TIME", spools / "replaced-TIME"}
    assert SpoolReader(spools / "replaced-TIME" / "spool.db").count() == 61
    assert (home / "replaced-TIME" / "policies" / "mine.yaml").read_text() == "mine"
    assert {path.name for path in home.iterdir()} == {"policies", "lake", "replaced-TIME"}
    assert not (spools / ".restore").exists()
    assert SpoolReader(two_disks.spool_path).count() == 60
    # A restoration that failed between two renames can be repeated.
    monkeypatch.setattr(time, "strftime", lambda *_: "LATER")
    rename = Path.rename

    def rename_all_but_the_spool(path: Path, place: Path) -> Path:
        if place == two_disks.spool_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, place)

    with monkeypatch.context() as context:
        context.setattr(Path, "rename", rename_all_but_the_spool)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            restore(two_disks, target, replace=True)
    assert not two_disks.spool_path.exists()
    monkeypatch.setattr(time, "strftime", lambda *_: "LAST")
    restore(two_disks, target, replace=True)
    assert SpoolReader(two_disks.spool_path).count() == 60


def test_the_lake_of_a_home_stays_if_the_backup_has_none(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    lake = Lake(str(settings.home_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        archived(spool, lake, 1, 40)
        spool.cut(30, lake=lake.root, events_max=100)
        spool_id = spool.id
    target = tmp_path / "one"
    back_up(settings, target, without_lake=True)
    done = restore(settings, target, replace=True)
    [replaced] = done.replaced
    assert done.manifest.missing == [f"events 1 to 30, which are in the lake {lake.root} only"]
    assert not (replaced / "lake").exists()
    assert lake.archived(spool_id) == 40
    with closing(Spool(settings.spool_path)) as spool:
        assert spool.cut_events() == (30, lake.root)
    # A lake that was restored first is no other state of the home.
    new = Settings(home=str(tmp_path / "new"))
    (new.home_path / "lake").mkdir(parents=True)
    assert restore(new, target).replaced == ()


def test_a_mount_point_is_named_before_anything_is_moved(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    policies = settings.home_path / "policies"
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == policies)
    with pytest.raises(BackupError, match="policies is a mount point"):
        restore(settings, target, replace=True)
    assert SpoolReader(settings.spool_path).count() == 60
    assert policies.is_dir()
    assert not [*settings.home_path.glob("replaced-*"), *settings.home_path.glob(".restore")]


def test_a_spool_that_is_named_by_a_link_to_its_home_is_replaced(
    settings: Settings,  # noqa: F811
    tmp_path: Path,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    (tmp_path / "link").symlink_to(settings.home_path)
    linked = msgspec.structs.replace(settings, spool=str(tmp_path / "link" / "spool.db"))
    [replaced] = restore(linked, target, replace=True).replaced
    assert (replaced / "spool.db").is_file()
    assert (replaced / "policies").is_dir()
    assert SpoolReader(settings.spool_path).count() == 60
