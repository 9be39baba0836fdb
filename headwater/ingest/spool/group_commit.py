"""Group commit: one thread writes the spool and syncs the events of many requests at once.

A request hands in its events and waits for a future. The events that gather during one sync go into
the next. So an answer still means "synced", and the number of syncs does not grow with the number
of clients. All requests of one sync are answered by one wake-up of their event loop: a wake-up
takes longer than an answer. While clients post side by side, the thread waits for as many requests
as came last time, or for two milliseconds: a sync costs as much processor time as ten events.

Batches wait behind single events: a single event goes into the next sync, however many batches
wait, and each sync takes about one batch. So a batch delays single events by the time that the disk
needs for one batch.

If the thread itself has no memory left, it ends the process. Its waiting requests would never be
answered, and a new process has every acknowledged event.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from headwater.errors import SpoolFullError
from headwater.ingest.spool.spool import Spool

WAITING_BYTES_MAX = 256 * 2**20
GROUP_BYTES_MAX = 4 * 2**20
GROUP_EVENTS_MAX = 5_000
# A larger request is a batch, and waits behind all smaller ones.
SMALL_BYTES_MAX = 64 * 2**10
# No request waits longer than this for others.
GATHER_SECONDS_MAX = 0.002
EXIT_WITHOUT_MEMORY = 5
_NO_MEMORY = b"Headwater ends: no memory is left to store events. Acknowledged events are stored.\n"


class _Request(NamedTuple):
    bodies: list[bytes]
    size: int
    done: asyncio.Future[int]


class GroupCommitter:
    """The thread that appends the events of all event loops to one spool.

    `close` writes the events already handed in, then closes the spool.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._small: deque[_Request] = deque()
        self._large: deque[_Request] = deque()
        self._waiting_bytes = 0
        # The number of small requests in the last group, and the number that ends a wait.
        self._last_group = 0
        self._expected = 1
        self._closing = False
        self._changed = threading.Condition(threading.Lock())
        self._thread = threading.Thread(target=self._run, name="group-committer", daemon=True)
        self._thread.start()

    def append(self, bodies: list[bytes]) -> asyncio.Future[int]:
        """Hand in events; return a future for the sequence number of the last.

        The future belongs to the running loop and is done once the events are synced. They are
        written even if it is cancelled. Raises SpoolFullError at once if more bytes wait than the
        disk keeps up with.
        """
        size = sum(map(len, bodies))
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._waiting_bytes + size > WAITING_BYTES_MAX and self._waiting_bytes:
                raise SpoolFullError(
                    "events arrive faster than the disk can store them", hint="Send again later."
                )
            self._waiting_bytes += size
            queue = self._small if size <= SMALL_BYTES_MAX else self._large
            queue.append(_Request(bodies, size, done))
            if self._has_expected():
                self._changed.notify()
        return done

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self._spool.close()

    def _run(self) -> None:
        try:
            while group := self._gather():
                self._commit(group)
        except MemoryError:
            os.write(2, _NO_MEMORY)
            os._exit(EXIT_WITHOUT_MEMORY)

    def _gather(self) -> list[_Request]:
        """Return the waiting requests, within bounds; an empty list once it is closed.

        Small requests come first. One batch is always included: batches would otherwise wait as
        long as single events arrive.
        """
        group: list[_Request] = []
        size = events = 0
        with self._changed:
            self._wait_for_requests()
            for queue, guaranteed in ((self._small, 0), (self._large, 1)):
                while queue and (
                    guaranteed or (size < GROUP_BYTES_MAX and events < GROUP_EVENTS_MAX)
                ):
                    request = queue.popleft()
                    group.append(request)
                    size += request.size
                    events += len(request.bodies)
                    guaranteed = 0
                if queue is self._small:
                    self._last_group = len(group)
        return group

    def _wait_for_requests(self) -> None:
        """Wait for a request and, for a moment, for as many as came last time."""
        self._expected = 1
        self._changed.wait_for(self._has_expected)
        if self._last_group > 1:
            self._expected = self._last_group
            self._changed.wait_for(self._has_expected, GATHER_SECONDS_MAX)

    def _has_expected(self) -> bool:
        return len(self._small) >= self._expected or bool(self._large) or self._closing

    def _commit(self, group: list[_Request]) -> None:
        result: int | Exception
        try:
            bodies = [body for request in group for body in request.bodies]
            result = self._spool.append(bodies, received=time.time_ns() // 1_000)
        except Exception as error:  # every waiting request must get an answer
            result = error
        with self._changed:
            self._waiting_bytes -= sum(request.size for request in group)
        _resolve(group, result)


def _resolve(group: list[_Request], result: int | Exception) -> None:
    """Resolve the futures of a group: each with its own sequence number, or all with the error."""
    error = result if isinstance(result, Exception) else None
    seq = 0
    if not isinstance(result, Exception):
        seq = result - sum(len(request.bodies) for request in group)
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[int], int]]] = {}
    for request in group:
        seq += len(request.bodies)
        loops.setdefault(request.done.get_loop(), []).append((request.done, seq))
    for loop, futures in loops.items():
        with suppress(RuntimeError):  # the loop is closed, and nothing awaits its futures
            loop.call_soon_threadsafe(_set_results, futures, error)


def _set_results(futures: list[tuple[asyncio.Future[int], int]], error: Exception | None) -> None:
    for done, seq in futures:
        if done.done():
            continue  # the client disconnected
        if error is None:
            done.set_result(seq)
        else:
            done.set_exception(error)
