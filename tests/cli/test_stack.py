"""The address of a stack answers only when the API is ready."""

from __future__ import annotations

import json
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from headwater.cli import stack
from headwater.errors import ServerError
from headwater.settings import load


class Probe(BaseHTTPRequestHandler):
    """Answers 200 at /ready, and 503 elsewhere, at /busy as /readyz does."""

    def do_GET(self) -> None:
        """Answer a request."""
        self.send_response(200 if self.path == "/ready" else 503)
        self.end_headers()
        if self.path == "/busy":
            checks = {
                "neo4j": {"ok": True},
                "migrations": {"ok": False, "reason": "7 of 16 are applied"},
                "spool": {"ok": False, "reason": "the disk is full"},
            }
            self.wfile.write(json.dumps({"ready": False, "checks": checks}).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_obstacle_names_the_failed_checks() -> None:
    server = HTTPServer(("127.0.0.1", 0), Probe)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    assert stack._obstacle(f"{address}/ready") == ""
    assert (
        stack._obstacle(f"{address}/busy")
        == "migrations: 7 of 16 are applied; spool: the disk is full"
    )
    assert stack._obstacle(f"{address}/proxy") == "the API answers 503"
    server.shutdown()
    server.server_close()
    assert stack._obstacle(f"{address}/ready") == "the API does not answer yet"


def test_steps_are_printed_unless_a_terminal_shows_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load({"HEADWATER_HOME": str(tmp_path)})
    for is_terminal in (True, False):
        console = Console(force_terminal=is_terminal)
        stack.Stack(settings, bolt_port=0, console=console)._print_step("starting Neo4j")
    assert capsys.readouterr().err == "starting Neo4j\n"


class StartingStack(stack.Stack):
    """A stack of shells instead of the API, the worker and the detector; it never gets ready."""

    def __init__(self, home: Path) -> None:
        super().__init__(load({"HEADWATER_HOME": str(home)}), bolt_port=0)
        self._supervisor: Any = SimpleNamespace(is_starting=False, problem="")
        self.spawned: list[str] = []
        for name in ("serve", "worker", "detect"):
            self._spawn(name)

    def _spawn(self, name: str) -> None:
        self._log(name).touch()
        self.spawned.append(name)
        self._processes[name] = subprocess.Popen(["cat"], stdin=subprocess.PIPE)

    def replace(self, name: str, script: str) -> None:
        """Replace a process by one that ends as the script does."""
        ended = subprocess.Popen(["sh", "-c", script])
        ended.wait()
        self._processes[name].communicate()
        self._processes[name] = ended

    def wait(self, *, has_api: bool) -> list[str]:
        """Wait until a process is restarted; return the names of those that were."""
        before = len(self.spawned)
        self._wait("http://127.0.0.1:1/", lambda: len(self.spawned) > before, has_api=has_api)
        return self.spawned[before:]

    def end(self) -> None:
        for process in self._processes.values():
            process.communicate()


@pytest.mark.parametrize(
    ("name", "script", "has_api"),
    [
        ("serve", "exit 1", True),
        ("serve", "kill -9 $$", True),
        ("serve", "kill -9 $$", False),
        ("worker", "kill -TERM $$", True),
        ("worker", "exit 0", True),
        ("detect", "kill -HUP $$", True),
    ],
)
def test_a_process_that_is_ended_during_the_start_is_restarted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, script: str, has_api: bool
) -> None:
    monkeypatch.setattr(stack, "RESTART_SECONDS", 0.0)
    starting = StartingStack(tmp_path)
    starting.replace(name, script)
    assert starting.wait(has_api=has_api) == [name]
    starting.end()


@pytest.mark.parametrize(
    ("name", "script", "has_api"),
    [("serve", "exit 2", False), ("worker", "exit 2", True), ("detect", "kill -ABRT $$", True)],
)
def test_a_process_that_fails_ends_the_start(
    tmp_path: Path, name: str, script: str, has_api: bool
) -> None:
    starting = StartingStack(tmp_path)
    starting.replace(name, script)
    with pytest.raises(ServerError, match=f"{name} ended with"):
        starting.wait(has_api=has_api)
    starting.end()
