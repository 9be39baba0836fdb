"""Clients that post events, record every attempt, and retry until the status is 2xx."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from tests.faults.processes import slack

ATTEMPT_SECONDS_MAX = 20.0
RETRY_SECONDS = 0.05


@dataclass(frozen=True)
class Attempt:
    """One POST of an event or a batch, with its result.

    Status 0 means no response: the connection was refused, or else cut or too slow.
    """

    bodies: tuple[bytes, ...]
    began: float
    seconds: float
    status: int
    sequence: int
    refused: bool = False

    @property
    def acknowledged(self) -> bool:
        return 200 <= self.status < 300


class Load:
    """Clients in threads that post all groups; the end of the block waits for the responses.

    Each client waits `pause` seconds between two groups. `stop()` ends the clients after their
    current groups. A client fails if nothing was acknowledged for `seconds_max` seconds, on an idle
    machine.
    """

    def __init__(
        self,
        port: int,
        groups: Iterable[Sequence[bytes]],
        *,
        clients: int = 6,
        pause: float = 0.0,
        seconds_max: float = 120.0,
    ) -> None:
        self._port = port
        self._groups: Iterator[Sequence[bytes]] = iter(groups)
        self._pause = pause
        self._seconds_max = seconds_max
        self._acknowledged_at = time.monotonic()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._client, daemon=True) for _ in range(clients)]
        self._errors: list[BaseException] = []
        self.attempts: list[Attempt] = []
        self.acknowledged = 0

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._stop.set()
            self._seconds_max = 0.0
        for thread in self._threads:
            thread.join()
        if kind is None and self._errors:
            raise self._errors[0]

    @property
    def busy(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def stop(self) -> None:
        self._stop.set()

    def acked(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.acknowledged]

    def slowest(self, since: float = 0.0, until: float = float("inf")) -> list[float]:
        """Return the seconds of all answered POSTs that began in a span of time, ascending."""
        return sorted(a.seconds for a in self.attempts if a.status and since <= a.began <= until)

    def _client(self) -> None:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self._port, timeout=ATTEMPT_SECONDS_MAX
        )
        try:
            while not self._stop.is_set():
                with self._lock:
                    group = next(self._groups, None)
                if group is None:
                    return
                while not self._post(connection, tuple(group)):
                    waited = time.monotonic() - self._acknowledged_at
                    assert waited < self._seconds_max * slack(), "not acknowledged in time"
                    time.sleep(RETRY_SECONDS)
                time.sleep(self._pause)
        except BaseException as error:  # raised again by __exit__
            self._errors.append(error)
        finally:
            connection.close()

    def _post(self, connection: http.client.HTTPConnection, bodies: tuple[bytes, ...]) -> bool:
        is_single = len(bodies) == 1
        path = "/api/v1/lineage" if is_single else "/api/v1/lineage/batch"
        content = bodies[0] if is_single else b"[" + b",".join(bodies) + b"]"
        began, status, sequence, refused = time.monotonic(), 0, 0, False
        try:
            connection.request("POST", path, content, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            response = answer.read()
            status = answer.status
            if status == 201:
                sequence = int(msgspec.json.decode(response)["sequence"])
            elif status == 200:
                assert msgspec.json.decode(response)["summary"]["successful"] == len(bodies), (
                    response
                )
        except (OSError, http.client.HTTPException) as error:
            connection.close()  # the next request opens a new one
            refused = isinstance(error, ConnectionRefusedError)
        attempt = Attempt(bodies, began, time.monotonic() - began, status, sequence, refused)
        with self._lock:
            self.attempts.append(attempt)
            if attempt.acknowledged:
                self.acknowledged += len(bodies)
                self._acknowledged_at = time.monotonic()
        return attempt.acknowledged


def quantile(ascending: Sequence[float], share: float) -> float:
    return ascending[min(int(len(ascending) * share), len(ascending) - 1)]


def figures(seconds: Sequence[float]) -> str:
    """Return the durations of responses as one line."""
    p50, p99 = quantile(seconds, 0.5), quantile(seconds, 0.99)
    return (
        f"{len(seconds)} POSTs, p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, max "
        f"{seconds[-1] * 1000:.0f} ms"
    )
