"""The address to which the listener of a story's Spark sends its events.

The jobs of a story run now, and its nights are days ago. So each event gets a time in the night
that is played: a second after the event before it. Nothing else in an event is changed. The
order of the events is real; their distances are not.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from headwater.local.ports import HOST

_TICK = timedelta(seconds=1)
Event = dict[str, Any]


class Relay:
    """The events that arrived since `begin`, with times of the night."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._events: list[Event] = []
        self._next = datetime.now(UTC)
        self._lock = threading.Lock()

    def begin(self, when: datetime) -> None:
        """Give the next events times from an instant on."""
        with self._lock:
            self._next = when

    def add(self, event: Event) -> None:
        """Keep an event, a second after the one before it."""
        with self._lock:
            time = self._next.isoformat().replace("+00:00", "Z")
            self._events.append({**event, "eventTime": time})
            self._next += _TICK

    def take(self) -> list[Event]:
        """Return the events that arrived since the last call."""
        with self._lock:
            taken, self._events = self._events, []
        return taken


@contextmanager
def open_relay() -> Iterator[Relay]:
    """Receive events until the end of the block."""
    server = ThreadingHTTPServer((HOST, 0), _Handler)
    relay = Relay(f"http://{HOST}:{server.server_address[1]}")
    server.relay = relay  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=[0.1], daemon=True)
    thread.start()
    try:
        yield relay
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.relay.add(json.loads(body))  # type: ignore[attr-defined]
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""
