"""Group commit: one thread that owns the spool's writing end and syncs many requests' events at once.

A request hands in its events and waits for a future; whatever has gathered while the last sync ran goes into the
next one. So each answer still means "synced", and the number of syncs does not grow with the number of clients.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import Future
from typing import NamedTuple

from headwater.errors import SpoolFullError
from headwater.ingest.spool import Spool

WAITING_BYTES_MAX = 256 * 2**20
GROUP_BYTES_MAX = 16 * 2**20
GROUP_EVENTS_MAX = 5_000


class _Request(NamedTuple):
    bodies: list[bytes]
    size: int
    done: Future[int]


class Appender:
    """Appends events from any thread. `close` finishes what was handed in."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._requests: queue.Queue[_Request | None] = queue.Queue()
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="spool-appender", daemon=True)
        self._thread.start()

    def append(self, bodies: list[bytes]) -> Future[int]:
        """A future of the seq of the last of these events, done once they are synced.

        Raises SpoolFullError at once when more is waiting than the disk keeps up with.
        """
        size = sum(map(len, bodies))
        with self._lock:
            if self._waiting_bytes + size > WAITING_BYTES_MAX and self._waiting_bytes:
                raise SpoolFullError("events come in faster than the disk can keep them", mend="Send again later.")
            self._waiting_bytes += size
        request = _Request(bodies, size, Future())
        # What is handed in is written: whoever stops waiting for it (a client that went away) must not break it.
        request.done.set_running_or_notify_cancel()
        self._requests.put(request)
        return request.done

    def close(self) -> None:
        self._requests.put(None)
        self._thread.join()
        self._spool.close()

    def _run(self) -> None:
        while (first := self._requests.get()) is not None:
            group, last = self._gather(first)
            self._commit(group)
            if last:
                return

    def _gather(self, first: _Request) -> tuple[list[_Request], bool]:
        """Whatever is waiting by now, within bounds; and whether the end was among it."""
        group, size, events = [first], first.size, len(first.bodies)
        while size < GROUP_BYTES_MAX and events < GROUP_EVENTS_MAX:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                break
            if request is None:
                return group, True
            group.append(request)
            size += request.size
            events += len(request.bodies)
        return group, False

    def _commit(self, group: list[_Request]) -> None:
        bodies = [body for request in group for body in request.bodies]
        try:
            last = self._spool.append(bodies, received=time.time_ns() // 1_000)
        except Exception as error:  # whatever it is, those who wait must hear of it
            for request in group:
                request.done.set_exception(error)
        else:
            seq = last - len(bodies)
            for request in group:
                seq += len(request.bodies)
                request.done.set_result(seq)
        with self._lock:
            self._waiting_bytes -= sum(request.size for request in group)
