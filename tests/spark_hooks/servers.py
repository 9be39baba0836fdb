"""Small HTTP servers for the far end of `spark_hooks`: they record events, or misbehave on
purpose.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Recorder(ThreadingHTTPServer):
    """A server that keeps every event and answers with the statuses in turn, the last one for
    ever.
    """

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, *statuses: int, delay_seconds: float = 0.0, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.statuses = list(statuses or (201,))
        self.delay_seconds = delay_seconds
        self.events: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.paths: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that disconnected before its answer: the tests provoke that."""


class _Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.events.append(json.loads(body))
        self.server.keys.add(self.headers["Authorization"])
        self.server.paths.add(self.path)
        time.sleep(self.server.delay_seconds)
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the output of a test is for its failures."""


@contextmanager
def recorder(*statuses: int, delay_seconds: float = 0.0, port: int = 0) -> Iterator[Recorder]:
    server = Recorder(*statuses, delay_seconds=delay_seconds, port=port)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.socket.close()


@contextmanager
def silent_server() -> Iterator[str]:
    """Yield the address of a server whose connections the kernel accepts and nobody answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=500) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    return f"http://127.0.0.1:{port}"
