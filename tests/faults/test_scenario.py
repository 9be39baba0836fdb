"""`headwater scenario` and `headwater game-day` leave no process when a signal ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.client.address import API_FILE
from headwater.local.neo4j import LocalNeo4j

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(600)]

# A seed of the game day whose fault is a lagging stream.
LAGGING = "5"


def processes_of(home: Path) -> list[str]:
    """Return the commands of the processes that have a folder in their arguments or environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            known = command + (folder / "environ").read_bytes()
        except OSError:
            continue
        if command and os.fsencode(home) in known and int(folder.name) != os.getpid():
            found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found


def has_inbox(home: Path) -> bool:
    """Return True if the Alertmanager starts; without one on this machine, if the stack is up."""
    return (home / "inbox" / "alertmanager.log").exists() or is_up(home)


def is_up(home: Path) -> bool:
    return (home / API_FILE).exists()


def has_spark(home: Path) -> bool:
    """Return True if the driver of a Spark has started its JVM."""
    return any((home / "scenarios").glob("*/spark/*"))


@pytest.mark.parametrize(
    ("command", "number", "reached"),
    [
        (("scenario", "schema-change"), signal.SIGTERM, has_inbox),
        (("scenario", "schema-change"), signal.SIGINT, has_spark),
        (("game-day", "--seed", LAGGING), signal.SIGINT, is_up),
    ],
    ids=["terminated while it starts", "Ctrl-C while Spark runs", "Ctrl-C in a game day"],
)
def test_a_signal_ends_everything_that_was_started(
    tmp_path: Path,
    command: tuple[str, ...],
    number: signal.Signals,
    reached: Callable[[Path], bool],
) -> None:
    home = tmp_path / "home"
    log = tmp_path / "log"
    with log.open("wb") as output:
        playing = subprocess.Popen(
            [sys.executable, "-m", "headwater", *command, "--home", str(home)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        while not reached(home):
            assert playing.poll() is None, log.read_text()
            time.sleep(0.05)
        playing.send_signal(number)
        assert playing.wait() != 0
        assert processes_of(home) == []
    finally:
        playing.kill()
        playing.wait()
        LocalNeo4j(home).stop()
