"""`headwater backup`, `backup verify` and `restore`: what they print, and their exit codes."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.backups.manifest import BackupError
from headwater.cli import app
from headwater.errors import NotFoundError
from headwater.ingest.spool.spool import Spool


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with closing(Spool(tmp_path / "home" / "spool.db")) as spool:
        spool.append([b"{}"] * 3, received=1_000)
    return tmp_path / "home"


def test_a_backup_is_written_verified_and_restored(home: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "one")
    done = CliRunner().invoke(app, ["backup", target, "--home", str(home)])
    assert done.exit_code == 0
    assert "events     up to 3 of the spool" in done.stdout
    assert "graph      rebuilt from the events" in done.stdout
    again = CliRunner().invoke(app, ["backup", "--home", str(home), "--json", target])
    assert isinstance(again.exception, BackupError)
    done = CliRunner().invoke(
        app, ["backup", "create", target, "--home", str(home), "--overwrite", "--json"]
    )
    facts = json.loads(done.stdout)
    assert (facts["position"], facts["cut"], facts["missing"], facts["files"]) == (3, 0, [], 3)
    done = CliRunner().invoke(app, ["backup", "verify", target, "--json"])
    assert (done.exit_code, json.loads(done.stdout)["whole"]) == (0, True)
    new = tmp_path / "new"
    done = CliRunner().invoke(app, ["restore", target, "--home", str(new)])
    assert done.exit_code == 0
    assert f"next       headwater rebuild --erase --home {new}" in done.stdout
    done = CliRunner().invoke(app, ["restore", target, "--home", str(new), "--replace", "--json"])
    facts = json.loads(done.stdout)
    [replaced] = facts["replaced"]
    assert Path(replaced, "spool.db").is_file()
    assert facts["next"] == f"headwater rebuild --erase --home {new}"


def test_a_damaged_backup_ends_with_1(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "one"
    CliRunner().invoke(app, ["backup", str(target), "--home", str(home)])
    (target / "settings.json").write_text("{}")
    done = CliRunner().invoke(app, ["backup", "verify", str(target)])
    assert done.exit_code == 1
    assert "damaged    settings.json has changed: 2 bytes" in done.stdout
    done = CliRunner().invoke(app, ["restore", str(target), "--home", str(tmp_path / "new")])
    assert isinstance(done.exception, BackupError)
    assert done.exit_code == 1


def test_a_home_without_a_spool_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["backup", str(tmp_path / "b"), "--home", str(tmp_path)])
    assert isinstance(done.exception, NotFoundError)
    assert not (tmp_path / "b").exists()
