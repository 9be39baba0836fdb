"""One stack for each home; the address answers only when the API is ready."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from headwater.cli import stack
from headwater.errors import HomeInUseError


class Ready(BaseHTTPRequestHandler):
    """Answers 200 at /ready and 503 elsewhere."""

    def do_GET(self) -> None:
        """Answer a request."""
        self.send_response(200 if self.path == "/ready" else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_a_home_has_one_stack(tmp_path: Path) -> None:
    lock = tmp_path / "up.lock"
    with (
        stack._alone(lock, tmp_path),
        pytest.raises(HomeInUseError, match="another `headwater up` runs"),
    ):
        stack._alone(lock, tmp_path).__enter__()
    with stack._alone(lock, tmp_path):
        pass


def test_only_200_counts_as_ready() -> None:
    server = HTTPServer(("127.0.0.1", 0), Ready)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    assert stack._answers(f"{address}/ready")
    assert not stack._answers(f"{address}/busy")
    server.shutdown()
    server.server_close()
    assert not stack._answers(f"{address}/ready")
