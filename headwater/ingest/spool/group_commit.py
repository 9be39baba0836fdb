"""Group commit: one thread that owns the spool's writing end and syncs many requests' events at once.

A request hands in its events and waits for a future; whatever has gathered while the last sync ran goes into the
next one. So each answer still means "synced", and the number of syncs does not grow with the number of clients. All who
waited for one sync are told at once: to wake an event loop takes longer than to answer.

Batches wait behind what is small: a single event goes into the next sync, however many batches are there before it, and
of those each sync takes about one. So batches cost single events no more than the time that the disk takes for one.
"""

from __future__ import annotations

import asyncio
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
# What is larger is a batch, and goes behind all that is not.
SMALL_BYTES_MAX = 64 * 2**10


class _Request(NamedTuple):
    bodies: list[bytes]
    size: int
    done: asyncio.Future[int]


class Appender:
    """Appends events for event loops. `close` finishes what was handed in."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._small: deque[_Request] = deque()
        self._large: deque[_Request] = deque()
        self._waiting_bytes = 0
        self._closing = False
        self._changed = threading.Condition(threading.Lock())
        self._thread = threading.Thread(target=self._run, name="spool-appender", daemon=True)
        self._thread.start()

    def append(self, bodies: list[bytes]) -> asyncio.Future[int]:
        """A future, of the loop that runs, of the seq of the last of these events, done once they are synced. They are
        written even when nobody waits for it any more.

        Raises SpoolFullError at once when more is waiting than the disk keeps up with.
        """
        size = sum(map(len, bodies))
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._waiting_bytes + size > WAITING_BYTES_MAX and self._waiting_bytes:
                raise SpoolFullError(
                    "events come in faster than the disk can keep them", hint="Send again later."
                )
            self._waiting_bytes += size
            (self._small if size <= SMALL_BYTES_MAX else self._large).append(
                _Request(bodies, size, done)
            )
            self._changed.notify()
        return done

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self._spool.close()

    def _run(self) -> None:
        while group := self._gather():
            self._commit(group)

    def _gather(self) -> list[_Request]:
        """Whatever is waiting, within bounds: what is small first, and one batch in any case, or batches would wait as
        long as single events come. Empty when it is closed."""
        group: list[_Request] = []
        size = events = 0
        with self._changed:
            while not (self._small or self._large or self._closing):
                self._changed.wait()
            for waiting, least in ((self._small, 0), (self._large, 1)):
                while waiting and (least or (size < GROUP_BYTES_MAX and events < GROUP_EVENTS_MAX)):
                    request = waiting.popleft()
                    group.append(request)
                    size += request.size
                    events += len(request.bodies)
                    least = 0
        return group

    def _commit(self, group: list[_Request]) -> None:
        bodies = [body for request in group for body in request.bodies]
        try:
            last: int | Exception = self._spool.append(bodies, received=time.time_ns() // 1_000)
        except Exception as error:  # whatever it is, those who wait must hear of it
            last = error
        with self._changed:
            self._waiting_bytes -= sum(request.size for request in group)
        _tell(group, last)


def _tell(group: list[_Request], last: int | Exception) -> None:
    """Tell everyone who waits: each their own seq, or what went wrong."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[int], int]]] = {}
    seq = 0 if isinstance(last, Exception) else last - sum(len(request.bodies) for request in group)
    for request in group:
        seq += len(request.bodies)
        loops.setdefault(request.done.get_loop(), []).append((request.done, seq))
    for loop, waiting in loops.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(_set, waiting, last if isinstance(last, Exception) else None)


def _set(waiting: list[tuple[asyncio.Future[int], int]], error: Exception | None) -> None:
    for done, seq in waiting:
        if done.done():
            continue  # whoever waited went away
        if error is None:
            done.set_result(seq)
        else:
            done.set_exception(error)
