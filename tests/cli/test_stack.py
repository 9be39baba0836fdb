"""The address of a stack answers only when the API is ready."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console

from headwater.cli import stack
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
