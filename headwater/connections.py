"""Bounds on the connections of the API: sizes and times of headers, times of bodies, and a cap.

uvicorn's own protocol waits for headers and bodies without end and keeps headers of any size. So a
client that sends nothing, or sends slowly, would hold a connection for ever, and enough of them
would shut everyone out.

- Headers larger than 32 KiB get 431. Headers that are not complete after 10 s get 408.
- A body may take 30 s, and a second more for each 4 KiB that came. Then it gets 408. The time in
  which the server itself does not read does not count.
- A client may take 30 s to read what is ready for it, and a second more for each 4 KiB that it
  read. Then its connection is cut, because closing it would wait for the client again.
- At the cap, the connection that has waited longest for its next headers makes room for a new one,
  or else the one whose client has not read for the longest time, or else the one whose body has not
  gone on for the longest time. If all of them have a request, only the health checks are answered;
  others get 503 with Retry-After.
- With TLS, a connection counts from its first packet on. A handshake has the time of headers, and
  a connection in its handshake makes room like one that waits for its headers.
- With TLS, a client answers the end of its connection. One that waits for this makes room as well.
- Connections that the server has closed count until they are lost. If there are more than the cap
  and its spare ones, the one that was closed first is cut.
- An invalid handshake of a WebSocket gets 400. A WebSocket counts until it is lost. A client that
  does not read its answers for 30 s is cut.
"""

from __future__ import annotations

import asyncio
import resource
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias, cast

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from headwater.access.principal import CLIENT_CERTIFICATE
from headwater.http_protocol import HttpProtocol
from headwater.refusals import (
    HEADER_BYTES_MAX,
    HEADERS_TOO_LARGE,
    LATE,
    NO_HANDSHAKE,
    NO_MEMORY,
    refuse_headers,
    refuse_request,
)
from headwater.websocket_protocol import WebSocketProtocol

HEADER_SECONDS_MAX = 10.0
BODY_SECONDS_MAX = 30.0
BODY_BYTES_PER_SECOND_MIN = 4 * 2**10
READ_SECONDS_MAX = 30.0
READ_BYTES_PER_SECOND_MIN = 4 * 2**10
# A closed connection whose client does not take the last bytes is cut after this time.
CLOSE_SECONDS_MAX = 5.0
# A body that has not gone on for this time makes room for a new connection.
STALLED_SECONDS = 1.0
# Files that the process needs besides its connections.
OTHER_FILES = 128
CONNECTIONS_MIN = 32
# Connections above the cap, for the health checks.
SPARE_CONNECTIONS = 16
_SWEEP_SECONDS = 1.0
_HEALTH_PATHS = frozenset({b"/healthz", b"/readyz", b"/metrics"})


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


class ConnectionPool:
    """The open connections of a server."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.open: set[Connection] = set()
        # Those that wait for their next headers, in the order in which they began to wait.
        self.waiting: dict[Connection, None] = {}
        # Those that the server has closed, until the client has taken the last bytes.
        self.closing: dict[Connection, float] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    def add(self, connection: Connection) -> None:
        """Add a new connection; at the cap, end the one that has waited longest."""
        if self._sweeper is None:
            self._sweep(connection.loop)
        self.open.add(connection)
        if len(self.open) > self.cap:
            self._make_room(connection)
        if self.closing and len(self.open) + len(self.closing) > self.cap + SPARE_CONNECTIONS:
            next(iter(self.closing)).cut()

    def _make_room(self, connection: Connection) -> None:
        if self.waiting:
            next(iter(self.waiting)).end(LATE)
        elif (unread := self._longest_unread()) is not None:
            unread.cut()
        elif (stalled := self._longest_stalled(connection.loop.time())) is not None:
            stalled.end(LATE)
        elif len(self.open) > self.cap + SPARE_CONNECTIONS:
            connection.end(b"")

    def close(self, connection: Connection) -> None:
        """Count a connection as closed by the server until it is lost."""
        self.remove(connection)
        self.closing[connection] = connection.loop.time()

    def remove(self, connection: Connection) -> None:
        """Remove a connection that is lost, or that another protocol takes over."""
        self.open.discard(connection)
        self.waiting.pop(connection, None)
        self.closing.pop(connection, None)

    @property
    def is_full(self) -> bool:
        """Return True above the cap."""
        return len(self.open) > self.cap

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the connections whose time is up, again and again."""
        now = loop.time()
        for connection in [one for one in self.open if one.is_late(now)]:
            connection.end(LATE)
        unread = [one for one in self.open if one.is_unread(now)]
        stuck = [one for one, since in self.closing.items() if now - since > CLOSE_SECONDS_MAX]
        for connection in [*unread, *stuck]:
            connection.cut()
        self._sweeper = loop.call_later(_SWEEP_SECONDS, self._sweep, loop)

    def _longest_unread(self) -> Connection | None:
        """Return the connection whose client has not read for the longest time, if there is one."""
        times = {one: one.unread_since for one in self.open if one.unread_since is not None}
        return min(times, key=times.__getitem__, default=None)

    def _longest_stalled(self, now: float) -> BoundedProtocol | None:
        """Return the connection whose body has stalled for the longest time, if there is one."""
        stalled = [
            one
            for one in self.open
            if isinstance(one, BoundedProtocol)
            and one.body_waits_since is not None
            and now - one.body_waits_since > STALLED_SECONDS
        ]
        return min(stalled, key=lambda one: one.body_waits_since or 0.0, default=None)


class BoundedProtocol(HttpProtocol):
    """The protocol of one connection, with the bounds of this module."""

    def __init__(self, *args: Any, pool: ConnectionPool, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pool = pool
        # When the server began to wait for headers or a body; None while it waits for neither.
        self._waits_since: float | None = None
        self._has_headers = False
        # Received for the headers; behind them, since the last piece of the body.
        self._head_bytes = 0
        self._body_bytes = 0
        # When the last bytes of a request came that is not complete.
        self._received_at = 0.0
        # Since when bytes are ready that the client has not read, as the sweeps find it.
        self.unread_since: float | None = None
        self._unread_bytes = 0
        self._read_bytes = 0
        # The request in work; `cycle` is the last one that was received.
        self._running: RequestResponseCycle | None = None

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
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        self.unread_since = None
        super().resume_writing()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        is_sent = not self.transport.is_closing() or not self.transport.get_write_buffer_size()
        if self in self._pool.open and is_sent and self.cycle.response_complete:
            # It waits for its next request, for the rest of a body that nobody reads, or with TLS
            # for the client's end.
            self._pool.waiting[self] = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def data_received(self, data: bytes) -> None:
        if self._waits_since is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_headers()
        self._head_bytes += len(data)
        self._received_at = self.loop.time()
        super().data_received(data)
        if self._head_bytes > HEADER_BYTES_MAX and self._waits_since is not None:
            self.end(HEADERS_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        # With TLS and a client's certificate; the handshake has verified it.
        if self.transport.get_extra_info("peercert"):
            cast("dict[str, Any]", self.scope)[CLIENT_CERTIFICATE] = True

    def on_headers_complete(self) -> None:
        self._pool.waiting.pop(self, None)
        self._waits_since, self._has_headers = self.loop.time(), True
        self._head_bytes = self._body_bytes = 0
        app = self.app
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEADER_BYTES_MAX:
            self.app = refuse_headers
        elif self._pool.is_full and self.url.partition(b"?")[0] not in _HEALTH_PATHS:
            self.app = refuse_request
        try:
            super().on_headers_complete()
        finally:
            self.app = app

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._waits_since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request. A lack of memory passes, and a client must send again."""
        error = sys.exception()
        if error is not None and isinstance(error.__context__, MemoryError):
            self.end(NO_MEMORY)
        else:
            super().send_400_response(msg)

    def handle_websocket_upgrade(self) -> None:
        self._pool.remove(self)
        self._waits_since = None
        super().handle_websocket_upgrade()
        protocol = self.transport.get_protocol()
        if isinstance(protocol, BoundedWebSocket):
            protocol.join(self._pool)

    @property
    def body_waits_since(self) -> float | None:
        """Return since when the server waits for more of a body; None if it does not wait."""
        is_waiting = self._has_headers and self._waits_since is not None
        return self._received_at if is_waiting and not self.flow.read_paused else None

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

    def is_unread(self, now: float) -> bool:
        """Return True if the client has used up the time to read what is ready for it.

        Each sweep asks, and counts what the client has read since the last one.
        """
        size = self.transport.get_write_buffer_size()
        if not size:
            self.unread_since = None
            return False
        if self.unread_since is None:
            self.unread_since, self._read_bytes = now, 0
        else:
            self._read_bytes += max(0, self._unread_bytes - size)
        self._unread_bytes = size
        allowed = READ_SECONDS_MAX + self._read_bytes / READ_BYTES_PER_SECOND_MIN
        return now - self.unread_since > allowed

    def end(self, answer: bytes) -> None:
        """Close the connection, with an answer if the client waits for one."""
        self._pool.remove(self)
        cycle = self.cycle
        has_begun = cycle is not None and cycle.response_started and not cycle.response_complete
        if answer and not has_begun and self._waits_since is not None:
            self.transport.write(answer)
        self._waits_since = None
        self._pool.close(self)
        self.transport.close()

    def cut(self) -> None:
        """End the connection without waiting for its client."""
        self._pool.remove(self)
        self._waits_since = None
        self.transport.abort()

    def _wait_for_headers(self) -> None:
        self._waits_since = self.loop.time()
        self._has_headers, self._head_bytes = False, 0
        self._pool.waiting[self] = None


class BoundedWebSocket(WebSocketProtocol):
    """The protocol of one WebSocket, which ends what is no handshake and counts in the pool.

    uvicorn's own waits without end after a handshake that cannot be read: with a body, with a
    method other than GET, or with more headers than its library reads.
    """

    _pool: ConnectionPool | None = None
    # Since when the client has not read what is ready for it.
    unread_since: float | None = None

    def join(self, pool: ConnectionPool) -> None:
        """Count in a pool until the connection is lost."""
        if not self.disconnected:
            self._pool = pool
            pool.add(self)
            if self.transport.is_closing():
                pool.close(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._pool is not None:
            self._pool.remove(self)
            self._pool = None
        super().connection_lost(exc)

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        super().on_task_complete(task)
        # The client may not answer the close frame, nor read what is ready for it.
        if self._pool is not None:
            self._pool.close(self)

    def is_late(self, _: float) -> bool:
        """Return False: the GraphQL endpoint bounds the times of its messages."""
        return False

    def is_unread(self, now: float) -> bool:
        """Return True if the client has used up the time to read what is ready for it."""
        return self.unread_since is not None and now - self.unread_since > READ_SECONDS_MAX

    def end(self, _: bytes) -> None:
        """End the connection; an answer of HTTP would be no frame."""
        self.cut()

    def cut(self) -> None:
        """End the connection without waiting for its client."""
        if self._pool is not None:
            self._pool.remove(self)
            self._pool = None
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread_since = self.loop.time()

    def resume_writing(self) -> None:
        self.unread_since = None
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():
            self.transport.write(NO_HANDSHAKE)
            self.transport.close()


class TlsHandshake(asyncio.Protocol):
    """The protocol of a connection until its TLS handshake is complete.

    It counts in the pool like a connection that waits for its headers. If the server had the
    context, asyncio would show a connection only after its handshake. The handshake begins with
    the first bytes, so a silent client costs a file and little else.
    """

    def __init__(self, *, context: ssl.SSLContext, pool: ConnectionPool, **options: Any) -> None:
        self.loop = asyncio.get_running_loop()
        self.unread_since: float | None = None
        self._context = context
        self._pool = pool
        self._options = options
        self._connections: set[Any] = options["server_state"].connections
        # Bytes of the client: encrypted ones before the handshake, readable ones after it.
        self._received = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._since = self.loop.time()
        self._connections.add(self)
        self._pool.add(self)
        if not transport.is_closing():
            self._pool.waiting[self] = None

    def connection_lost(self, _: Exception | None) -> None:
        self._leave()

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._task is None:
            self._task = self.loop.create_task(self._shake_hands())

    async def _shake_hands(self) -> None:
        tls: asyncio.Transport | None = None
        try:
            tls = await self._start_tls()
        except OSError:
            pass  # the client has another protocol or certificate, or it is gone
        finally:
            self._leave()
            if tls is None or tls.is_closing():
                self._transport.abort()
            else:
                self._hand_over(tls)

    async def _start_tls(self) -> asyncio.Transport | None:
        if self._transport.is_closing() or len(self._received) > HEADER_BYTES_MAX:
            return None
        hello, self._received = self._received, b""
        # `start_tls` sets its protocol before anything else runs.
        self.loop.call_soon(self._feed, hello)
        return await self.loop.start_tls(self._transport, self, self._context, server_side=True)

    def _feed(self, hello: bytes) -> None:
        """Pass the bytes that came before the handshake to the protocol of `start_tls`."""
        protocol = cast("asyncio.BufferedProtocol", self._transport.get_protocol())
        memoryview(protocol.get_buffer(len(hello)))[: len(hello)] = hello
        protocol.buffer_updated(len(hello))

    def _hand_over(self, tls: asyncio.Transport) -> None:
        protocol = BoundedProtocol(pool=self._pool, **self._options)
        tls.set_protocol(protocol)
        protocol.connection_made(tls)
        if self._received and not tls.is_closing():
            protocol.data_received(self._received)

    def _leave(self) -> None:
        self._pool.remove(self)
        self._connections.discard(self)

    def is_late(self, now: float) -> bool:
        """Return True if the client has used up the time for its handshake."""
        return now - self._since > HEADER_SECONDS_MAX

    def is_unread(self, _: float) -> bool:
        """Return False: a handshake fits into the buffers of the system."""
        return False

    def end(self, _: bytes) -> None:
        """End the connection; no answer can be read before the handshake is complete."""
        self.cut()

    def cut(self) -> None:
        """End the connection without waiting for its client."""
        self._pool.remove(self)
        self._transport.abort()

    def shutdown(self) -> None:
        """End the connection because the server ends."""
        self.cut()


Connection: TypeAlias = BoundedProtocol | BoundedWebSocket | TlsHandshake


def bounded_protocol(
    wanted: int, context: ssl.SSLContext | None = None
) -> Callable[..., BoundedProtocol | TlsHandshake]:
    """Return the maker of protocols for uvicorn, which share a cap of connections.

    With a context, the connections speak TLS.
    """
    pool = ConnectionPool(connections_max(wanted))
    if context is None:
        return partial(BoundedProtocol, pool=pool)
    return partial(TlsHandshake, context=context, pool=pool)
