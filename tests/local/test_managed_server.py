"""The common part of the managed servers, with a real process in place of a JVM."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from headwater.errors import ServerError
from headwater.local import process
from headwater.local.home import Home
from headwater.local.managed_server import ManagedServer


class Sleeper(ManagedServer[int]):
    """A server that only sleeps."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            Home(folder, program="Sleeper"), "test.home", cache=None, java=None, progress=None
        )
        self.pid = 0

    def start(self) -> int:
        self.home.create()
        if not self._is_running(self.pid):
            command = [sys.executable, "-c", "import time; time.sleep(60)", self._mark.strip(), ""]
            out = self.home.folder / "out"
            self.pid = process.start_detached(command, os.environ, out, self.home.jvm_log)
            self._is_own = True
        return self.pid

    def stop(self) -> None:
        self._terminate(self.pid, 5.0)
        self._require_ended(self.pid)
        self._is_own = False


def test_leaving_the_block_ends_only_an_own_server(tmp_path: Path) -> None:
    first = Sleeper(tmp_path / "home")
    with first as pid:
        second = Sleeper(tmp_path / "home")
        second.pid = pid
        with second:
            assert second.pid == pid
        assert first._is_running(pid)
        with pytest.raises(ServerError, match=f"Sleeper \\(pid {pid}\\) does not end"):
            first._require_ended(pid)
    assert not first._is_running(pid)


def test_errors_show_the_log(tmp_path: Path) -> None:
    server = Sleeper(tmp_path)
    server.home.create()
    server.home.jvm_log.write_text("out of luck\n")
    assert "ended while it started\nout of luck" in server._end_error().message
    assert "no progress for 60 s" in server._stall_error(60.0).message
