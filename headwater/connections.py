"""Bounds on the connections of the API: sizes and times of headers, times of bodies, and a cap.

uvicorn's own protocol waits for headers and bodies without end and keeps headers of any size. So a
client that sends nothing, or sends slowly, would hold a connection for ever, and enough of them
would shut everyone out.

- Headers larger than 32 KiB get 431. Headers that are not complete after 10 s get 408.
- A body may take 30 s, and a second more for each 4 KiB that came. Then it gets 408. The time in
  which the server itself does not read does not count.
- At the cap, the connection that has waited longest for its headers makes room for a new one. If
  all of them have a request, only the health checks are answered; others get 503 with Retry-After.
- A request for which the process has no memory gets 503 as well.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headwater.access.principal import CLIENT_CERTIFICATE
from headwater.errors import HeadwaterError, UnavailableError
from headwater.web import error_response

HEADER_BYTES_MAX = 32 * 2**10
HEADER_SECONDS_MAX = 10.0
BODY_SECONDS_MAX = 30.0
BODY_BYTES_PER_SECOND_MIN = 4 * 2**10
# Files that the process needs besides its connections.
OTHER_FILES = 128
CONNECTIONS_MIN = 32
# Connections above the cap, for the health checks.
SPARE_CONNECTIONS = 16
_SWEEP_SECONDS = 1.0
_HEALTH_PATHS = frozenset({b"/healthz", b"/readyz", b"/metrics"})
_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_NO_MEMORY = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)
_HEADERS_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
    b"content-length: 0\r\n\r\n"
)


def connections_max(wanted: int) -> int:
    """Return the cap of connections: as many as wanted, but fewer than the process may open files.

    It first asks the system for as many files as it may have.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE_CONNECTIONS + OTHER_FILES
    if soft < needed:
        with suppress(ValueError, OSError):
            allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
            soft = max(soft, allowed)
    return max(min(wanted, soft - SPARE_CONNECTIONS - OTHER_FILES), CONNECTIONS_MIN)


class _TooLargeError(HeadwaterError):
    status = 431


async def _refuse_headers(scope: Scope, receive: Receive, send: Send) -> None:
    error = _TooLargeError(
        f"the request line and the headers are larger than {HEADER_BYTES_MAX} bytes",
        hint="Send fewer cookies, or the query in the body.",
    )
    await _close_after(error, scope, receive, send)


async def _refuse_request(scope: Scope, receive: Receive, send: Send) -> None:
    error = UnavailableError("too many connections are open", hint="Send again later.")
    await _close_after(error, scope, receive, send)


async def _close_after(error: HeadwaterError, scope: Scope, receive: Receive, send: Send) -> None:
    response = error_response(error)
    response.headers["connection"] = "close"
    await response(scope, receive, send)


class ConnectionPool:
    """The open connections of a server."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.open: set[BoundedProtocol] = set()
        # Those that wait for headers, in the order in which they began to wait.
        self.waiting: dict[BoundedProtocol, None] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    def add(self, connection: BoundedProtocol) -> None:
        """Add a new connection; at the cap, end the one that has waited longest."""
        if self._sweeper is None:
            self._sweep(connection.loop)
        self.open.add(connection)
        if len(self.open) <= self.cap:
            return
        if self.waiting:
            next(iter(self.waiting)).end(_LATE)
        elif len(self.open) > self.cap + SPARE_CONNECTIONS:
            connection.end(b"")

    def remove(self, connection: BoundedProtocol) -> None:
        """Remove a connection that is lost, or that another protocol takes over."""
        self.open.discard(connection)
        self.waiting.pop(connection, None)

    @property
    def is_full(self) -> bool:
        """Return True above the cap."""
        return len(self.open) > self.cap

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the connections whose time is up, again and again."""
        now = loop.time()
        for connection in [one for one in self.open if one.is_late(now)]:
            connection.end(_LATE)
        self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep, loop)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol for one connection, with the bounds of this module."""

    def __init__(self, *args: Any, pool: ConnectionPool, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pool = pool
        # When the server began to wait for headers or a body; None while it waits for neither.
        self._waits_since: float | None = None
        self._has_headers = False
        self._head_bytes = 0
        self._body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_headers()
        self._pool.waiting.pop(self)  # a new connection is not the one to end
        self._pool.add(self)
        if not transport.is_closing():
            self._pool.waiting[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.remove(self)
        self._waits_since = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._waits_since is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_headers()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > HEADER_BYTES_MAX and self in self._pool.waiting:
            self.end(_HEADERS_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        # With TLS and a client's certificate; the handshake has verified it.
        if self.transport.get_extra_info("peercert"):
            cast("dict[str, Any]", self.scope)[CLIENT_CERTIFICATE] = True

    def on_headers_complete(self) -> None:
        self._pool.waiting.pop(self, None)
        self._waits_since, self._has_headers, self._body_bytes = self.loop.time(), True, 0
        app = self.app
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEADER_BYTES_MAX:
            self.app = _refuse_headers
        elif self._pool.is_full and self.url.partition(b"?")[0] not in _HEALTH_PATHS:
            self.app = _refuse_request
        try:
            super().on_headers_complete()
        finally:
            self.app = app

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._waits_since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request. A lack of memory passes, and a client must send again."""
        error = sys.exception()
        if error is not None and isinstance(error.__context__, MemoryError):
            self.end(_NO_MEMORY)
        else:
            super().send_400_response(msg)

    def handle_websocket_upgrade(self) -> None:
        self._pool.remove(self)
        self._waits_since = None
        super().handle_websocket_upgrade()

    def is_late(self, now: float) -> bool:
        """Return True if the client has used up the time for its headers or its body."""
        if self._waits_since is None:
            return False
        if not self._has_headers:
            return now - self._waits_since > HEADER_SECONDS_MAX
        if self.flow.read_paused:
            self._waits_since += _SWEEP_SECONDS
        allowed = BODY_SECONDS_MAX + self._body_bytes / BODY_BYTES_PER_SECOND_MIN
        return now - self._waits_since > allowed

    def end(self, answer: bytes) -> None:
        """Close the connection, with an answer unless one has begun."""
        self._pool.remove(self)
        self._waits_since = None
        cycle = self.cycle
        has_begun = cycle is not None and cycle.response_started and not cycle.response_complete
        if answer and not has_begun:
            self.transport.write(answer)
        self.transport.close()

    def _wait_for_headers(self) -> None:
        self._waits_since = self.loop.time()
        self._has_headers, self._head_bytes = False, 0
        self._pool.waiting[self] = None


def bounded_protocol(wanted: int) -> Callable[..., BoundedProtocol]:
    """Return the maker of protocols for uvicorn, which share a cap of connections."""
    return partial(BoundedProtocol, pool=ConnectionPool(connections_max(wanted)))
