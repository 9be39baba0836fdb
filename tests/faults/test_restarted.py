"""F22: SIGTERM and a new start of the API, again and again, while clients post.

Each client sends an event again until it is acknowledged, so a restart delays events and loses
none. If a parent keeps the socket, as `headwater up` and systemd do, no connection is refused. The
test prints durations and asserts none. It needs no Neo4j.
"""

from __future__ import annotations

import signal
import socket
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from itertools import chain, cycle
from pathlib import Path

import pytest

from headwater.local.ports import bound_socket
from tests.conftest import Neo4jServer
from tests.faults.checker import compare, scaled
from tests.faults.history import endless, events_of
from tests.faults.load import Load, quantile
from tests.faults.processes import Installation, installation, slack, wait_for
from tests.torture import in_torture_only

pytestmark = pytest.mark.slow

NOWHERE = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "nobody")
# Each start takes 4 s of processor time.
RESTARTS = 3
ACCEPTED = 40
ACCEPTED_SECONDS_MAX = 60.0
BATCH_EVENTS = 10
# The runs of the requests that the signal interrupts; the clients do not get that far.
FIRST_INTERRUPTED = 100_000
# uvicorn ends by the signal itself once its requests are answered.
ENDED = (0, -signal.SIGTERM)
LAST_LINE = "Finished server process"
_SHARES = (("p50", 0.5), ("p90", 0.9), ("max", 1.0))


@dataclass(frozen=True)
class Restart:
    """The instants of one restart, by the monotonic clock."""

    terminated: float
    ended: float
    listens: float


@pytest.fixture(
    params=[
        pytest.param(True, id="the socket is kept"),
        pytest.param(False, id="the port is opened again", marks=in_torture_only),
    ]
)
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Installation]:
    with ExitStack() as opened:
        installed = opened.enter_context(installation(tmp_path / "home", NOWHERE))
        if request.param:
            kept = bound_socket(installed.port, "--port")
            installed.api.listener = opened.enter_context(kept)
        installed.start_api()
        yield installed


def groups() -> Iterator[list[bytes]]:
    """Yield four single events and a batch of ten, without end; each event comes once."""
    events = chain.from_iterable(endless())
    for size in cycle((1, 1, 1, 1, BATCH_EVENTS)):
        yield [next(events) for _ in range(size)]


def wait_accepted(load: Load) -> None:
    mark = load.acknowledged + ACCEPTED
    wait_for("more accepted", lambda: load.acknowledged >= mark, ACCEPTED_SECONDS_MAX)


class HalfSent:
    """A POST whose body is half sent, so that it is in flight when the signal comes."""

    def __init__(self, port: int, body: bytes) -> None:
        self._rest = body[len(body) // 2 :]
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60 * slack())
        head = (
            "POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._socket.sendall(head.encode() + body[: len(body) // 2])

    def finish(self) -> int:
        """Send the rest; return the status, or 0 if the connection was cut."""
        with closing(self._socket), suppress(OSError, HTTPException):
            self._socket.sendall(self._rest)
            response = HTTPResponse(self._socket)
            response.begin()
            return response.status
        return 0


def restart(home: Installation, body: bytes) -> tuple[Restart, int]:
    """Restart the API; return the instants, and the status of a request that was in flight."""
    half_sent = HalfSent(home.port, body)
    time.sleep(0.1)  # the API reads the head before the signal
    terminated = time.monotonic()
    home.api.signal(signal.SIGTERM)
    status = half_sent.finish()
    assert home.api.wait() in ENDED
    ended = time.monotonic()
    home.start_api()
    return Restart(terminated, ended, time.monotonic()), status


def without_acknowledgement(load: Load, restarts: list[Restart]) -> list[float]:
    """Return for each restart the seconds between the last acknowledgement and the next one."""
    instants = sorted(attempt.began + attempt.seconds for attempt in load.acked())
    following = [bisect_right(instants, one.ended) for one in restarts]
    return [instants[index] - instants[index - 1] for index in following]


def delayed(load: Load) -> list[float]:
    """Return the seconds from the first failed attempt of a request to its acknowledgement."""
    first: dict[bytes, float] = {}
    seconds: list[float] = []
    for attempt in sorted(load.attempts, key=lambda one: one.began):
        key = attempt.bodies[0]
        if not attempt.acknowledged:
            first.setdefault(key, attempt.began)
        elif key in first:
            seconds.append(attempt.began + attempt.seconds - first[key])
    return seconds


def distribution(subject: str, seconds: list[float]) -> str:
    """Return the number, the least and the quantiles of durations as one line."""
    ascending = sorted(seconds)
    if not ascending:
        return f"{subject}: 0"
    shares = ", ".join(f"{name} {quantile(ascending, share):.2f} s" for name, share in _SHARES)
    return f"{subject}: {len(ascending)}, min {ascending[0]:.2f} s, {shares}"


def test_no_acknowledged_event_is_lost_by_restarts(home: Installation) -> None:
    restarts: list[Restart] = []
    interrupted: dict[bytes, int] = {}
    with Load(home.port, groups(), clients=4, pause=0.02, seconds_max=1_500) as load:
        for number in range(scaled(RESTARTS)):
            wait_accepted(load)
            body = events_of(FIRST_INTERRUPTED + number)[0]
            instants, interrupted[body] = restart(home, body)
            restarts.append(instants)
        wait_accepted(load)
        load.stop()

    stored = home.records()
    verdict = compare(load.attempts, stored)
    print(verdict)
    print("statuses:", Counter(attempt.status for attempt in load.attempts))
    print("in flight at the signal:", Counter(interrupted.values()))
    print(distribution("signal to end", [one.ended - one.terminated for one in restarts]))
    print(distribution("end to next listener", [one.listens - one.ended for one in restarts]))
    print(distribution("no acknowledgement", without_acknowledgement(load, restarts)))
    print(distribution("requests that were sent again", delayed(load)))
    print(distribution("answers", load.slowest()))
    refused = sum(attempt.refused for attempt in load.attempts)
    print(f"refused connections: {refused}")

    assert verdict.lost == ()
    assert home.api.listener is None or refused == 0
    # A request was answered or cut, and never refused for good.
    assert {attempt.status for attempt in load.attempts} <= {200, 201, 0}
    assert set(interrupted.values()) <= {201, 0}
    copies = Counter(stored.values())
    assert all(copies[body] == 1 for body, status in interrupted.items() if status == 201)
    # Each client went on until its event was acknowledged, so every event is stored.
    sent = Counter(chain.from_iterable(attempt.bodies for attempt in load.attempts))
    assert copies.keys() - interrupted.keys() == sent.keys()
    # An event is stored again only if an earlier attempt was cut: the fold takes it once.
    assert [body for body in sent if copies[body] > sent[body]] == []
    answered = Counter(chain.from_iterable(attempt.bodies for attempt in load.acked()))
    assert set(answered.values()) == {1}
    assert home.api.output().count(LAST_LINE) == len(restarts)
    assert home.programs_with_tracebacks() == []
