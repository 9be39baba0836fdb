"""What every command does with an error: plain lines and an exit code, never a stack trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater import cli
from headwater.errors import QueryError

COMMANDS = [
    "up",
    "serve",
    "worker",
    "demo",
    "detect",
    "neo4j",
    "keys list",
    "spool check",
    "scenario schema-change",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_home_that_cannot_be_a_folder_is_named(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEADWATER_")}
    done = subprocess.run(
        [sys.executable, "-m", "headwater", *command.split(), "--home", str(home)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode in (1, 3, 5, 6)
    assert "Traceback" not in done.stderr + done.stdout
    assert "headwater: " in done.stderr
    assert str(home) in done.stderr.replace("\n", "")


def test_an_error_commands_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise QueryError("it has \x1b[2J", hint="Remove \x9b from it.")

    monkeypatch.setattr(cli, "app", refuse)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == "headwater: it has \ufffd[2J\n  Remove \ufffd from it.\n"
