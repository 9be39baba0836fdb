"""The folder of a managed server: private files, the lock, and the address of the server."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from headwater.errors import HomeInUseError, ServerError
from headwater.local.home import Home, Server


def test_password_and_server_are_stored_privately(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    assert (home.password(), home.server(), home.is_new) == (None, None, True)
    password = home.new_password()
    assert len(password) >= 24
    assert Home(tmp_path / "home").password() == password
    home.save_server(Server(7, 7687, "o1"))
    assert Home(tmp_path / "home").server() == Server(7, 7687, "o1")
    for file in home.folder.iterdir():
        assert file.is_dir() or file.stat().st_mode & 0o077 == 0
    home.clear_server()
    assert home.server() is None


def test_the_gateway_prints_port_and_token(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.gateway() is None
    home.gateway_out.write_text("25333\n")
    assert home.gateway() == (25333, "")
    home.gateway_out.write_text("25333\nsecret\n")
    assert home.gateway() == (25333, "secret")


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ServerError, match="cannot be a home"):
        Home(tmp_path / "file").create()


def test_a_second_process_waits_and_is_then_refused(tmp_path: Path) -> None:
    home = Home(tmp_path, program="Kafka")
    home.create()
    with (tmp_path / "server.lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        with (
            pytest.raises(HomeInUseError, match="starting or stopping the Kafka"),
            home.locked(0.2),
        ):
            pass
    with home.locked(0.2):
        pass


def test_the_end_of_the_log_is_shown(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    assert home.log_tail() == ""
    (tmp_path / "logs" / "debug.log").write_text("Neo4j's own\n")
    assert home.log_tail() == "Neo4j's own"
    home.jvm_log.write_text("".join(f"line {number}\n" for number in range(40)))
    assert home.log_tail().splitlines() == [f"line {number}" for number in range(25, 40)]


def test_links_in_the_place_of_the_lock_and_of_partial_files_are_not_followed(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    home.create()
    victim = tmp_path / "victim"
    victim.write_text("stays")
    (home.folder / "server.lock").symlink_to(victim)
    with pytest.raises(ServerError, match=r"server\.lock cannot be opened"), home.locked(0.2):
        pass
    (home.folder / f".password-{os.getpid()}").symlink_to(victim)
    password = home.new_password()
    assert (home.password(), victim.read_text()) == (password, "stays")
    assert not (home.folder / "password").is_symlink()
