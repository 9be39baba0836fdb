"""Backups of a home: what is in them, what is refused, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.store import AccessStore
from headwater.backups.backup import back_up
from headwater.backups.manifest import FORMAT, BackupError, read_manifest
from headwater.backups.restore import restore
from headwater.backups.verify import verify
from headwater.errors import NewerVersionError
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.pipelines.archive import write_part
from headwater.pipelines.lake import ArchivedRange, Lake
from headwater.settings import Settings
from tests.ingest.spool.test_damage import change

BODIES = [json.dumps({"n": number, "text": "x" * 900}).encode() for number in range(60)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of a home with 60 events, a dead letter, a key, and policies."""
    home = tmp_path / "home"
    made = Settings(home=str(home), neo4j_password="hidden", future_seconds=90)
    with closing(Spool(made.spool_path)) as spool:
        spool.append(BODIES, received=1_000)
        spool.dead_letter([(7, "no event")])
        spool.skip([9])
    with closing(AccessStore(made.access_path)) as store:
        AccessLog(store).append("command line", "create key", "done", name="etl")
    for name in ("redaction.key", "session.key"):
        (home / name).write_text(f"the secret of {name}")
    (home / "policies" / "team").mkdir(parents=True)
    (home / "policies" / "team" / "owners.yaml").write_text("policies: []\n")
    return made


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_backup_has_everything_and_can_be_restored(settings: Settings, tmp_path: Path) -> None:
    target = tmp_path / "backups" / "one"
    with closing(Spool(settings.spool_path)) as running:
        manifest = back_up(settings, target)
        running.append([b"later"], received=5_000)
    assert (manifest.spool.position, manifest.spool.dead, manifest.missing) == (60, 1, [])
    assert manifest.spool.received == 1_059
    assert files(target) == {
        "manifest.json",
        "spool.db",
        "access.db",
        "redaction.key",
        "session.key",
        "settings.json",
        "policies/team/owners.yaml",
    }
    assert msgspec.json.decode((target / "settings.json").read_bytes()) == {
        "home": settings.home,
        "future_seconds": 90,
    }
    assert {path.stat().st_mode & 0o777 for path in target.rglob("*") if path.is_file()} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in target.rglob("*") if path.is_dir()} == {0o700}
    assert verify(target) == (manifest, [])
    home = Settings(home=str(tmp_path / "new"))
    assert restore(home, target).replaced == ()
    assert files(home.home_path) == files(target) - {"manifest.json", "settings.json"}
    for name in ("redaction.key", "policies/team/owners.yaml"):
        assert (home.home_path / name).read_bytes() == (settings.home_path / name).read_bytes()
    with closing(Spool(home.spool_path)) as spool:
        assert spool.id == manifest.spool.id
        assert [record.body for record in spool.read(0, events_max=99, bytes_max=2**20)] == BODIES
        assert [(letter.seq, letter.reason) for letter in spool.dead_letters()] == [(7, "no event")]
        assert spool.skipped_between(1, 60) == {9}
        assert spool.append([b"next"], received=6_000) == 61
    with closing(AccessStore(home.access_path)) as store:
        assert AccessLog(store).verify() == (1, 1, 1, None)
        assert Keys(store).list() == []


def test_a_folder_in_the_way_is_refused(settings: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("mine")
    with pytest.raises(BackupError, match="is not empty, and is no backup"):
        back_up(settings, other, overwrite=True)
    assert files(other) == {"letter.txt"}
    with pytest.raises(BackupError, match="is a file"):
        back_up(settings, other / "letter.txt")
    target = tmp_path / "one"
    target.mkdir()
    first = back_up(settings, target)
    with pytest.raises(BackupError, match="is a backup already"):
        back_up(settings, target)
    with closing(Spool(settings.spool_path)) as spool:
        spool.append([b"more"], received=2_000)
    assert back_up(settings, target, overwrite=True).spool.position == first.spool.position + 1
    assert verify(target)[1] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "one", "other"]


def test_a_mount_point_is_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: path == volume)
    with pytest.raises(BackupError, match="is a mount point") as caught:
        back_up(settings, volume)
    assert str(volume / "headwater") in caught.value.hint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "volume"]
    back_up(settings, volume / "headwater")


def test_a_name_that_is_not_utf8_is_refused(settings: Settings, tmp_path: Path) -> None:
    target = tmp_path / os.fsdecode(b"one\xff")
    for function in (lambda: back_up(settings, target), lambda: verify(target)):
        with pytest.raises(BackupError, match=r"one\\udcff' is not UTF-8"):
            function()
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_an_interrupted_backup_leaves_nothing(settings: Settings, tmp_path: Path) -> None:
    def interrupt(step: str, _done: int, _total: int) -> None:
        if step == "checksums":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(settings, tmp_path / "one", on_progress=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_killed_backup_leaves_nothing_that_looks_whole(
    settings: Settings, tmp_path: Path
) -> None:
    program = (
        "import os, sys; from pathlib import Path; from headwater.backups.backup import back_up; "
        "from headwater.settings import Settings\n"
        "def kill(step, done, total):\n"
        "    if step == 'checksums': os.kill(os.getpid(), 9)\n"
        "back_up(Settings(home=sys.argv[1]), Path(sys.argv[2]), on_progress=kill)"
    )
    target = tmp_path / "one"
    ended = subprocess.run([sys.executable, "-c", program, settings.home, str(target)], check=False)
    assert ended.returncode == -9
    assert not target.exists()
    (left,) = tmp_path.glob(".one*")
    with pytest.raises(BackupError, match="is no backup"):
        read_manifest(left)
    back_up(settings, target)
    assert verify(target)[1] == []
    assert not left.exists()


def test_a_run_that_is_killed_between_the_renames_loses_no_backup(
    settings: Settings, tmp_path: Path
) -> None:
    target = tmp_path / "one"
    first = back_up(settings, target)
    program = (
        "import os, sys; from pathlib import Path; from headwater.backups.backup import back_up; "
        "from headwater.settings import Settings\n"
        "rename = Path.rename\n"
        "def rename_and_die(path, new):\n"
        "    rename(path, new)\n"
        "    os.kill(os.getpid(), 9)\n"
        "Path.rename = rename_and_die\n"
        "back_up(Settings(home=sys.argv[1]), Path(sys.argv[2]), overwrite=True)"
    )
    ended = subprocess.run([sys.executable, "-c", program, settings.home, str(target)], check=False)
    assert ended.returncode == -9
    assert not target.exists()
    with pytest.raises(BackupError, match="was killed") as caught:
        verify(target)
    assert str(tmp_path / ".one.old") in caught.value.hint
    with pytest.raises(BackupError, match="is a backup already"):
        back_up(settings, target)
    assert verify(target) == (first, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "one"]


def test_two_backups_of_one_folder_take_turns(settings: Settings, tmp_path: Path) -> None:
    refused = []

    def try_another(step: str, _done: int, _total: int) -> None:
        if step == "checksums":
            with pytest.raises(BackupError, match="another process writes"):
                back_up(settings, tmp_path / "one")
            refused.append(step)

    back_up(settings, tmp_path / "one", on_progress=try_another)
    assert refused == ["checksums"]
    assert verify(tmp_path / "one")[1] == []


@pytest.mark.parametrize(
    ("field", "value", "error", "text"),
    [
        ("format", FORMAT + 1, NewerVersionError, "a newer Headwater wrote the backup"),
        ("format", 0, BackupError, "has the unknown format 0"),
        ("migration", "9999_later", NewerVersionError, "with the migration 9999_later"),
        ("files", "none", BackupError, "is malformed"),
    ],
)
def test_other_versions_are_refused(
    settings: Settings,
    tmp_path: Path,
    field: str,
    value: object,
    error: type[Exception],
    text: str,
) -> None:
    target = tmp_path / "one"
    back_up(settings, target)
    path = target / "manifest.json"
    manifest = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**manifest, field: value}))
    for refuse in (verify, lambda folder: restore(Settings(home=str(tmp_path / "n")), folder)):
        with pytest.raises(error, match=text):
            refuse(target)
    assert not (tmp_path / "n").exists()


def test_a_newer_spool_is_refused_and_an_older_one_is_upgraded(
    settings: Settings, tmp_path: Path
) -> None:
    change(settings.spool_path, "PRAGMA user_version = 99")
    with pytest.raises(NewerVersionError, match="version 99, this one reads up to 1"):
        back_up(settings, tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    # The released spool before this one had no version, and no table of skipped events.
    change(settings.spool_path, "PRAGMA user_version = 0")
    change(settings.spool_path, "DROP TABLE skipped")
    assert back_up(settings, tmp_path / "one").spool.version == 0
    home = Settings(home=str(tmp_path / "new"))
    restore(home, tmp_path / "one")
    with closing(Spool(home.spool_path)) as spool:
        assert spool.skipped_between(1, 60) == set()
        assert [record.body for record in spool.read(0, events_max=99, bytes_max=2**20)] == BODIES


def test_a_key_in_the_environment_is_named_as_missing(settings: Settings, tmp_path: Path) -> None:
    with_key = msgspec.structs.replace(settings, redaction_key="k" * 32)
    manifest = back_up(with_key, tmp_path / "one")
    assert manifest.missing == ["the key of redaction, which is in HEADWATER_REDACTION_KEY only"]
    assert "k" * 32 not in (tmp_path / "one" / "settings.json").read_text()


def archived(spool: Spool, lake: Lake, first: int, last: int) -> None:
    parts = write_part(SpoolReader(spool.path), lake, spool.id, first, last)
    lake.add(spool.id, ArchivedRange(first, last, parts))


def test_the_lake_of_cut_events_is_in_the_backup(settings: Settings, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        archived(spool, lake, 1, 20)
        archived(spool, lake, 21, 40)
        assert spool.cut(30, lake=lake.root, events_max=100) == 29, "event 7 is a dead letter"
        spool.append([b"{}"], received=9_000)

        def archive_more(step: str, done: int, total: int) -> None:
            if step == "events" and done == total:
                spool.append([b"{}"], received=9_001)
                archived(spool, lake, 41, 62)

        manifest = back_up(settings, tmp_path / "one", on_progress=archive_more)
        assert (manifest.spool.cut, manifest.spool.position) == (30, 61)
    assert verify(tmp_path / "one")[1] == []
    home = Settings(home=str(tmp_path / "new"))
    restore(home, tmp_path / "one")
    copy = Lake(str(home.home_path / "lake"))
    assert copy.archived(manifest.spool.id) == 40, "what came after the position is not in it"
    with closing(Spool(home.spool_path)) as spool:
        assert spool.cut_events() == (30, copy.root)


def test_a_backup_has_no_event_that_its_spool_has_lost(settings: Settings, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        archived(spool, lake, 1, 20)
        spool.cut(10, lake=lake.root, events_max=100)
        archived(spool, lake, 21, 60)
        # The spool has events with the numbers of the lake's last range.
        spool.append([b"{}"], received=9_000)
        back_up(settings, tmp_path / "one")
        assert [one.last for one in Lake(str(tmp_path / "one" / "lake")).ranges(spool.id)] == [20]


def test_a_lake_with_a_missing_file_is_no_backup(settings: Settings, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    with closing(Spool(settings.spool_path)) as spool:
        archived(spool, lake, 1, 20)
        spool.cut(10, lake=lake.root, events_max=100)
    next(Path(lake.root).rglob("*.parquet")).unlink()
    with pytest.raises(BackupError, match="are not all there"):
        back_up(settings, tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_a_backup_that_could_not_rebuild_is_refused(settings: Settings, tmp_path: Path) -> None:
    with closing(Spool(settings.spool_path)) as spool:
        spool.cut(30, lake="s3://bucket/lake", events_max=100)
    with pytest.raises(BackupError, match="are in another store") as caught:
        back_up(settings, tmp_path / "one")
    assert "--without-lake" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    manifest = back_up(settings, tmp_path / "one", without_lake=True)
    assert manifest.missing == ["events 1 to 30, which are in the lake s3://bucket/lake only"]
    change(settings.spool_path, f"UPDATE meta SET value = '{tmp_path}/none' WHERE name = 'lake'")
    with pytest.raises(BackupError, match="are not all there"):
        back_up(settings, tmp_path / "two")


def test_a_backup_is_complete_only_when_it_has_its_name(settings: Settings, tmp_path: Path) -> None:
    """Each file is readable by its owner alone from its first byte."""
    modes = []

    def look(_step: str, _done: int, _total: int) -> None:
        (folder,) = tmp_path.glob(".one.partial")
        modes.append(os.stat(folder).st_mode & 0o777)
        assert not (tmp_path / "one").exists()

    back_up(settings, tmp_path / "one", on_progress=look)
    assert set(modes) == {0o700}
