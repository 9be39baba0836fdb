"""A TCP proxy on loopback that cuts, delays, slices and holds back the bytes of two programs.

A test assigns `faults` at any time from any thread; the next bytes see the new ones.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

CHUNK_BYTES = 2**16
HOLD_SECONDS = 0.01
JOIN_SECONDS_MAX = 30.0
# COMMIT as a chunk of the Bolt protocol: its length, a structure without fields, its tag, the end.
BOLT_COMMIT = b"\x00\x02\xb0\x12\x00\x00"


@dataclass(frozen=True)
class Faults:
    """The faults of every connection. The defaults pass them on unchanged.

    `refuse` resets new connections. `black_hole` holds all bytes back until it ends.
    `cut_after` resets a connection after so many bytes from the client. `cut_reply_to` resets
    it when the server answers a message with these bytes: the request arrives, the reply does not.
    With `once` the first cut ends the faults.
    """

    refuse: bool = False
    black_hole: bool = False
    delay_seconds: float = 0.0
    slice_bytes: int = 0
    bytes_per_second: int = 0
    cut_after: int = -1
    cut_reply_to: bytes = b""
    once: bool = False


NO_FAULTS = Faults()


class _Link:
    """One connection through the proxy: the streams of its two sides."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client = client
        self.server = server
        self.sent = 0
        self.tail = b""
        self.drops_reply = False

    def reset(self) -> None:
        """End both sides with RST, so that bytes on their way are lost."""
        for side in (self.client, self.server):
            abort(side)


def abort(side: asyncio.StreamWriter) -> None:
    """End one side with RST."""
    peer = side.get_extra_info("socket")
    if peer is not None:
        with suppress(OSError):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    side.transport.abort()


class FaultProxy:
    """A proxy to one port of this machine; `with FaultProxy(port) as proxy` runs it."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._links: set[_Link] = set()
        # Both sides of every connection, to close them in the end.
        self._sides: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.faults = NO_FAULTS
        self.port = 0
        # How many connections the faults have ended.
        self.cuts = 0

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        self._call(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self.faults = NO_FAULTS
        self._call(self._end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(JOIN_SECONDS_MAX)
        self._loop.close()

    @contextmanager
    def injecting(self, faults: Faults) -> Iterator[None]:
        """Apply faults within a block."""
        self.faults = faults
        try:
            yield
        finally:
            self.faults = NO_FAULTS

    def reset(self) -> int:
        """Reset every open connection; return their number."""
        return self._call(self._reset)

    def half_open(self) -> int:
        """End only the side of the server; the clients notice nothing. Return their number."""
        return self._call(self._half_open)

    def _call(self, action: Callable[[], object]) -> int:
        async def run() -> int:
            result = action()
            if asyncio.iscoroutine(result):
                result = await result
            return result if isinstance(result, int) else 0

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(JOIN_SECONDS_MAX)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        for side in self._sides:
            abort(side)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # The loop closes the sockets at its next turns.
        await asyncio.sleep(HOLD_SECONDS)

    def _reset(self) -> int:
        links, self._links = self._links, set()
        for link in links:
            link.reset()
        self.cuts += len(links)
        return len(links)

    def _half_open(self) -> int:
        links, self._links = self._links, set()
        for link in links:
            link.drops_reply = True
            abort(link.server)
        self.cuts += len(links)
        return len(links)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._sides.append(writer)
        if self.faults.refuse:
            self.cuts += 1
            abort(writer)
            return
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            abort(writer)
            return
        self._sides.append(server_writer)
        link = _Link(writer, server_writer)
        self._links.add(link)
        for task in (
            self._loop.create_task(self._from_client(link, reader)),
            self._loop.create_task(self._from_server(link, server_reader)),
        ):
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _from_client(self, link: _Link, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                faults = self.faults
                end = faults.cut_after
                if 0 <= end < link.sent + len(data):
                    await self._send(link.server, data[: max(end - link.sent, 0)])
                    self._cut(link)
                    return
                link.sent += len(data)
                self._notice_marker(link, faults.cut_reply_to, data)
                await self._send(link.server, data)
            link.server.write_eof()

    async def _from_server(self, link: _Link, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                if link.drops_reply:
                    self._cut(link)
                    return
                await self._send(link.client, data)
            if not link.drops_reply:
                link.client.write_eof()

    def _notice_marker(self, link: _Link, marker: bytes, data: bytes) -> None:
        """Remember that the next reply must not arrive if the client sent the marker."""
        if marker:
            window = link.tail + data
            link.drops_reply = link.drops_reply or marker in window
            link.tail = window[-(len(marker) - 1) :]

    def _cut(self, link: _Link) -> None:
        self._links.discard(link)
        self.cuts += 1
        if self.faults.once:
            self.faults = NO_FAULTS
        link.reset()

    async def _send(self, side: asyncio.StreamWriter, data: bytes) -> None:
        faults = self.faults
        if faults.delay_seconds:
            await asyncio.sleep(faults.delay_seconds)
        size = faults.slice_bytes or len(data)
        for start in range(0, len(data), size):
            while self.faults.black_hole:
                await asyncio.sleep(HOLD_SECONDS)
            piece = data[start : start + size]
            side.write(piece)
            await side.drain()
            if faults.bytes_per_second:
                await asyncio.sleep(len(piece) / faults.bytes_per_second)
