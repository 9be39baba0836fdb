"""One `headwater up` has a home, or one command that rewrites it."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli import app, up_lock
from headwater.cli.stack import Stack
from headwater.client.address import is_up
from headwater.errors import HomeInUseError
from headwater.ingest.spool.spool import Spool
from headwater.local.home import Home, Server
from headwater.local.neo4j import LocalNeo4j
from headwater.settings import Settings


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up_lock, "LOCK_SECONDS_MAX", 0.1)


def test_a_home_has_one_up(tmp_path: Path) -> None:
    with (
        up_lock.up_lock(tmp_path),
        pytest.raises(HomeInUseError, match=r"`headwater up` runs in .* already"),
    ):
        up_lock.up_lock(tmp_path).__enter__()
    with up_lock.up_lock(tmp_path):
        pass


def test_neither_up_nor_neo4j_starts_while_a_command_has_the_home(tmp_path: Path) -> None:
    with up_lock.home_without_servers(tmp_path, "forget"):
        with pytest.raises(HomeInUseError, match=r"`headwater forget` runs in .* already"):
            Stack(Settings(home=str(tmp_path), port=0), bolt_port=0).__enter__()
        with pytest.raises(HomeInUseError, match="starting or stopping"):
            LocalNeo4j(tmp_path, wait_seconds_max=0.1).start()
        assert not is_up(tmp_path)
    with up_lock.up_lock(tmp_path):
        assert is_up(tmp_path)


def test_the_lock_of_up_stays_free_while_neo4j_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Home(tmp_path).save_server(Server(os.getpid(), 7687))
    monkeypatch.setattr(LocalNeo4j, "_is_running", lambda *_: True)
    with pytest.raises(HomeInUseError, match="Neo4j runs in"):
        up_lock.home_without_servers(tmp_path, "forget").__enter__()
    assert not (tmp_path / "up.lock").exists(), "the guard of a killed `up` can take it"


@pytest.mark.parametrize("step", ["confirm", "restore"])
def test_forget_and_restore_keep_up_out_until_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    home = tmp_path / "home"
    refused: list[HomeInUseError] = []
    with closing(Spool(home / "spool.db")) as spool:
        spool.append([b"{}"], received=1_000)
    assert (
        CliRunner().invoke(app, ["backup", str(tmp_path / "one"), "--home", str(home)]).exit_code
        == 0
    )

    def start_up(*_: object, **__: object) -> None:
        with pytest.raises(HomeInUseError, match=f"`headwater {command[0]}` runs") as caught:
            Stack(Settings(home=str(home), port=0), bolt_port=0).__enter__()
        refused.append(caught.value)
        raise KeyboardInterrupt

    if step == "confirm":
        command = ["forget", "zoltan", "--home", str(home)]
        monkeypatch.setattr("typer.confirm", start_up)
    else:
        command = ["restore", str(tmp_path / "one"), "--home", str(home), "--replace"]
        monkeypatch.setattr("headwater.backups.restore._write_beside", start_up)
    CliRunner().invoke(app, command)
    assert len(refused) == 1
