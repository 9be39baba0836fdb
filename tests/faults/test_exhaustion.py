"""F16: the API runs out of file descriptors or of memory, or holds 500 sockets that hardly send.

Clients that are connected go on, the others are refused, nothing acknowledged is lost, and the API
recovers by itself. It needs no Neo4j for that.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.conftest import Neo4jServer
from tests.faults.checker import compare, scaled
from tests.faults.history import endless, events_of
from tests.faults.load import Load, figures
from tests.faults.processes import Installation, installation, slack, wait_for
from tests.torture import in_torture_only

pytestmark = pytest.mark.slow

NOWHERE = Neo4jServer("bolt://127.0.0.1:1", "neo4j", "nobody")
POST_SECONDS_MAX = 2.0
BACK_SECONDS_MAX = 10.0
ACCEPTED = 100
# Room for three more files than are open.
SPARE_FILES = 3
REFUSED_CONNECTIONS = 50
# A cap that leaves so much to the API beyond its memory at rest; a body of 10 MB needs several.
ROOM_BYTES = 64 * 2**20
LARGE_BYTES = 9 * 2**20
LARGE_BODIES = 24
# The run of the first large event; the load does not get that far.
FIRST_LARGE = 1_000_000
LORIS_SOCKETS = 500
LORIS_PAUSE_SECONDS = 0.5


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Installation]:
    with installation(tmp_path / "home", NOWHERE) as installed:
        installed.start_api()
        yield installed


def wait_accepted(load: Load, number: int = ACCEPTED) -> None:
    mark = load.acknowledged + number
    wait_for("more accepted", lambda: load.acknowledged >= mark, 60)


def assert_kept(home: Installation, load: Load) -> None:
    """Assert that every event was accepted at once and is stored, and that the API goes on."""
    verdict = compare(load.attempts, home.records())
    print(verdict, figures(load.slowest()))
    assert verdict.lost == ()
    assert {attempt.status for attempt in load.attempts} == {201}
    assert load.slowest()[-1] < POST_SECONDS_MAX * slack()
    assert home.api.running


def is_alive_again(home: Installation) -> None:
    wait_for("a new connection is answered", home.alive, BACK_SECONDS_MAX)


def test_no_file_descriptors(home: Installation) -> None:
    with Load(home.port, endless(), clients=2, pause=0.01) as load:
        wait_accepted(load)
        for _ in range(scaled(1)):
            files = len(os.listdir(f"/proc/{home.api.pid}/fd"))
            before = resource.prlimit(home.api.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(home.api.pid, resource.RLIMIT_NOFILE, (files + SPARE_FILES, before[1]))
            with ExitStack() as idle:
                for _ in range(REFUSED_CONNECTIONS):
                    waiting = socket.create_connection(("127.0.0.1", home.port), timeout=5)
                    idle.enter_context(closing(waiting))
                wait_accepted(load)
                wait_for("new connections are refused", lambda: not home.alive(), 10)
            resource.prlimit(home.api.pid, resource.RLIMIT_NOFILE, before)
            is_alive_again(home)
            wait_accepted(load)
        load.stop()
    assert_kept(home, load)
    assert home.programs_with_tracebacks() == []


def large_event(number: int) -> bytes:
    event = json.loads(events_of(number)[0])
    event["job"]["facets"] = {
        "documentation": {
            "_producer": "https://example.com/p",
            "_schemaURL": "https://example.com/s",
            "description": "x" * LARGE_BYTES,
        }
    }
    return json.dumps(event).encode()


def data_bytes(pid: int) -> int:
    """Return the private writable memory of a process."""
    found = re.search(r"VmData:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


def status_of(port: int, body: bytes) -> int:
    """Return the status of a POST; 0 if the connection ends without one."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection, suppress(OSError):
        connection.request("POST", "/api/v1/lineage", body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    return 0


@in_torture_only
def test_large_bodies_with_little_memory(home: Installation) -> None:
    large = [large_event(FIRST_LARGE + number) for number in range(LARGE_BODIES)]
    with Load(home.port, endless(), clients=1, pause=0.02) as load:
        wait_accepted(load)
        assert status_of(home.port, large_event(FIRST_LARGE - 1)) == 201
        for _ in range(scaled(1)):
            before = resource.prlimit(home.api.pid, resource.RLIMIT_DATA)
            cap = data_bytes(home.api.pid) + ROOM_BYTES
            resource.prlimit(home.api.pid, resource.RLIMIT_DATA, (cap, before[1]))
            with ThreadPoolExecutor(LARGE_BODIES) as pool:
                statuses = list(pool.map(lambda body: status_of(home.port, body), large))
            print("large bodies:", sorted(statuses))
            # A client that gets no answer sends again, as after 503.
            assert set(statuses) <= {201, 503, 0}
            assert set(statuses) != {201}, "the cap was never met"
            resource.prlimit(home.api.pid, resource.RLIMIT_DATA, before)
        wait_accepted(load)
        load.stop()
    is_alive_again(home)
    stored = set(home.records().values())
    accepted = [body for body, status in zip(large, statuses, strict=True) if status == 201]
    assert stored.issuperset(chain(accepted, *(attempt.bodies for attempt in load.acked())))
    assert {attempt.status for attempt in load.attempts} <= {201, 503, 0}
    assert home.programs_with_tracebacks() == []


def test_500_sockets_that_hardly_send(home: Installation) -> None:
    ended = Event()
    with ExitStack() as opened, Load(home.port, endless(), clients=2, pause=0.02) as load:
        wait_accepted(load)
        sockets = []
        for _ in range(LORIS_SOCKETS):
            loris = socket.create_connection(("127.0.0.1", home.port), timeout=5)
            sockets.append(opened.enter_context(closing(loris)))
            loris.sendall(b"POST /api/v1/lineage HTTP/1.1\r\nHost: a\r\n")
        dripping = Thread(target=drip, args=(sockets, ended))
        dripping.start()
        try:
            wait_accepted(load)
            assert home.ask("/healthz").status == 200
            # Their headers never end: each gets 408 although its bytes keep coming.
            for loris in sockets:
                loris.settimeout(60 * slack())
                assert loris.recv(100).startswith(b"HTTP/1.1 408")
        finally:
            ended.set()
            dripping.join()
        wait_accepted(load)
        load.stop()
    assert_kept(home, load)
    assert home.programs_with_tracebacks() == []


def drip(sockets: list[socket.socket], ended: Event) -> None:
    """Send a byte over each socket now and then, until the test ends."""
    while not ended.wait(LORIS_PAUSE_SECONDS):
        for loris in sockets:
            with suppress(OSError):
                loris.sendall(b"X")
