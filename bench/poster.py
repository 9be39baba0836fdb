"""Post events and print the time of each answer; `bench.post` runs it.

Without a rate, each connection sends its next request when the answer comes. With a rate, requests
are due on a schedule, and the time of an answer counts from then: a late answer delays others.

It is a process of its own that uses little CPU, because it shares the machine with the measured
server. It has one thread, raw sockets, and requests built in advance. It prints "ready", begins
when a line comes in, and prints its result as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import sys
import time
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from bench.events import interleaved

# More than this machine accepts in a second, so the prepared requests last.
_PACKED_EVENTS_PER_SECOND = 12_000
_READ_BYTES = 65_536
_GOOD = (b"HTTP/1.1 200", b"HTTP/1.1 201")
SINGLE, BATCH, GZIP = "single", "batch", "gzip"


@dataclass
class _Connection:
    """One keep-alive connection: the rest of its request, and the received part of the answer."""

    socket: socket.socket
    began: float = 0.0
    rest: memoryview = field(default_factory=lambda: memoryview(b""))
    answer: bytes = b""
    events: int = 0


def requests(mode: str, size: int, jobs: int, first: int, apart: int) -> Iterator[bytes]:
    """Yield requests without end, of `size` events each, from run number `first`; no event
    repeats.
    """
    bodies_without_end = interleaved(jobs, apart, first=first)
    while bodies := list(islice(bodies_without_end, size)):
        if mode == SINGLE:
            yield from (_request("", body) for body in bodies)
        elif mode == BATCH:
            yield _request("/batch", b"[" + b",".join(bodies) + b"]")
        else:
            yield _request(
                "/batch", _packed(b"[" + b",".join(bodies) + b"]"), "Content-Encoding: gzip\r\n"
            )


def _request(path: str, body: bytes, header: str = "") -> bytes:
    head = (
        f"POST /api/v1/lineage{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
        f"application/json\r\n"
        f"{header}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _packed(body: bytes) -> bytes:
    packing = zlib.compressobj(1, wbits=31)
    return packing.compress(body) + packing.flush()


class Poster:
    """Several connections, each with one request in flight. An answer outside 2xx is an error and
    ends it. `rate` is in requests a second.
    """

    def __init__(
        self,
        port: int,
        connections: int,
        size: int,
        prepared: Iterator[bytes],
        *,
        rate: float | None = None,
    ) -> None:
        self._selector = selectors.DefaultSelector()
        self._prepared = prepared
        self._size = size
        self._interval = 1 / rate if rate else 0.0
        self._due = self._ended = 0.0
        self._idle: deque[_Connection] = deque()
        self.seconds: list[float] = []
        for _ in range(connections):
            opened = socket.create_connection(("127.0.0.1", port))
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setblocking(False)
            connection = _Connection(opened)
            self._selector.register(opened, selectors.EVENT_READ, connection)
            self._idle.append(connection)

    def run(self, seconds: float) -> dict[str, object]:
        """Post for so long or until the requests run out, and wait for the requests in flight."""
        began = self._due = time.perf_counter()
        cpu = time.process_time()
        self._ended = began + seconds
        connections = len(self._idle)
        while (is_open := self._begin_requests()) or len(self._idle) < connections:
            wait = max(self._due - time.perf_counter(), 0.0) if is_open and self._idle else 30.0
            for key, ready in self._selector.select(wait):
                connection = key.data
                if ready & selectors.EVENT_WRITE:
                    self._send(connection)
                if ready & selectors.EVENT_READ and self._answered(connection):
                    self._idle.append(connection)
        return {
            "events": len(self.seconds) * self._size,
            "took": time.perf_counter() - began,
            "cpu": time.process_time() - cpu,
            "seconds": self.seconds,
        }

    def _begin_requests(self) -> bool:
        """Begin every request that is due; return False when the time or the requests are over."""
        while self._idle:
            now = time.perf_counter()
            begins = self._due if self._interval else now
            if begins > now:
                return True
            if begins >= self._ended or (request := next(self._prepared, None)) is None:
                return False
            connection = self._idle.popleft()
            connection.began = begins
            connection.answer = b""
            connection.rest = memoryview(request)
            self._due += self._interval
            self._send(connection)
        return True

    def _send(self, connection: _Connection) -> None:
        with suppress(BlockingIOError):
            connection.rest = connection.rest[connection.socket.send(connection.rest) :]
        interest = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.rest else 0)
        if self._selector.get_key(connection.socket).events != interest:
            self._selector.modify(connection.socket, interest, connection)

    def _answered(self, connection: _Connection) -> bool:
        received = connection.socket.recv(_READ_BYTES)
        connection.answer += received
        head, _, body = connection.answer.partition(b"\r\n\r\n")
        if received and len(body) < _length(head):
            return False
        taken = connection.answer.startswith(_GOOD) and b"partial_success" not in body
        if not taken:
            raise RuntimeError(f"answered {connection.answer[:500]!r}")
        self.seconds.append(time.perf_counter() - connection.began)
        return True


def _length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0]) if found else sys.maxsize


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("port", type=int)
    options.add_argument("--mode", choices=(SINGLE, BATCH, GZIP), required=True)
    options.add_argument("--seconds", type=float, required=True)
    options.add_argument("--connections", type=int, required=True)
    options.add_argument("--size", type=int, required=True, help="Events in a request.")
    options.add_argument("--jobs", type=int, required=True)
    options.add_argument("--first", type=int, required=True, help="The number of the first run.")
    options.add_argument("--apart", type=int, required=True)
    options.add_argument("--rate", type=float, default=0.0, help="Requests a second.")
    chosen = options.parse_args()
    prepared = requests(chosen.mode, chosen.size, chosen.jobs, chosen.first, chosen.apart)
    if chosen.mode == GZIP:  # packing costs more than posting
        enough = int(chosen.seconds * _PACKED_EVENTS_PER_SECOND / chosen.size) + chosen.connections
        prepared = iter(list(islice(prepared, enough)))
    poster = Poster(
        chosen.port, chosen.connections, chosen.size, prepared, rate=chosen.rate or None
    )
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(poster.run(chosen.seconds)), flush=True)


if __name__ == "__main__":
    main()
