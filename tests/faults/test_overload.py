"""Many concurrent clients, and gzip bodies that unpack to hundreds of megabytes.

No response is 500, and the memory stays within its bound.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import canonical
from tests.faults.history import events_of, history
from tests.faults.load import Load, figures
from tests.faults.oracle import folded_at_once
from tests.faults.processes import Installation

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

CLIENTS = 64
MEMORY_KB_MAX = 64 * 1024
GZIP = {"Content-Encoding": "gzip"}


def peak_kb(pid: int) -> int:
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert peak
    return int(peak.group(1))


def test_64_clients_while_the_worker_works(home: Installation, graph: Database) -> None:
    bodies = history(1_000)
    work = [[body] for body in bodies[:1_000]] + [
        bodies[i : i + 20] for i in range(1_000, 2_000, 20)
    ]
    home.start_api()
    home.worker.start()
    with Load(home.port, work, clients=CLIENTS) as load:
        pass
    print(f"{CLIENTS} clients:", figures(load.slowest()))
    assert {attempt.status for attempt in load.attempts} == {200, 201}
    home.wait_folded(graph, 60)
    assert home.metric("headwater_events_folded_total") == len(bodies)
    assert canonical(graph) == folded_at_once(graph, bodies)
    assert home.programs_with_tracebacks() == []


def test_gzip_bombs(home: Installation) -> None:
    home.start_api()
    good = events_of(1)[0]
    assert home.ask("/api/v1/lineage", gzip.compress(good), headers=GZIP).status == 201
    before = peak_kb(home.api.pid)
    # 200 MB of spaces before an event, compressed 1000 to 1; and a thousand small members.
    bomb = gzip.compress(b" " * (200 << 20), compresslevel=9) + gzip.compress(good)
    members = gzip.compress(b" " * (1 << 20)) * 1_000
    nested = gzip.compress(gzip.compress(good))
    for path in ("/api/v1/lineage", "/api/v1/lineage/batch"):
        for body in (bomb, members):
            answer = home.ask(path, body, headers=GZIP)
            assert answer.status == 413, (path, answer.body[:200])
            assert answer.seconds < 10
    assert home.ask("/api/v1/lineage", nested, headers=GZIP).status == 400
    assert (
        home.ask("/api/v1/lineage/batch", nested, headers=GZIP).json["summary"]["successful"] == 0
    )
    grown = peak_kb(home.api.pid) - before
    print(f"the API's memory grew by {grown // 1024} MB")
    # The API reads at most the limit of a batch into memory.
    assert grown < 100 * 1024 + MEMORY_KB_MAX
    assert home.ask("/api/v1/lineage", good).status == 201
