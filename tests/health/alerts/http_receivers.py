"""A real HTTP receiver on loopback that records requests and answers as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def key(self) -> str:
        return self.headers["Idempotency-Key"]


@dataclass
class HttpReceiver:
    """Its address, what it received, and the statuses with headers of the next answers."""

    url: str = ""
    received: list[Received] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.received]


@contextmanager
def http_receiver() -> Iterator[HttpReceiver]:
    found = HttpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            text = self.rfile.read(length).decode()
            if len(text.encode()) < length:
                # The sender was killed between the headers and the end of the body: no message.
                self.close_connection = True
                return
            found.received.append(Received(self.path, dict(self.headers), text))
            status, headers = found.answers.pop(0) if found.answers else (200, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
