"""F21: one hot dataset in every event of eight partitions, each with a writer of its own.

Writers that lock the same nodes in different orders would deadlock. The write lock lets one write
at a time.
"""

from __future__ import annotations

import json
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical
from tests.conftest import Neo4jServer
from tests.faults.checker import scaled
from tests.faults.history import history
from tests.faults.oracle import folded_at_once
from tests.faults.processes import wait_for
from tests.faults.spool_processes import fold, kill, started
from tests.run_builders import RECEIVED

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900)]

WRITERS = 8
RUNS = 25
EVENTS_PER_BATCH = 20
FOLDED_SECONDS_MAX = 120.0


def hot_events(first: int, runs: int) -> list[bytes]:
    """Return a run history in which every run reads and writes one dataset, besides its own."""
    events = [json.loads(body) for body in history(runs, first=first)]
    for event in events:
        for side in ("inputs", "outputs"):
            event[side].append({"namespace": "db", "name": "hot"})
    return [json.dumps(event).encode() for event in events]


def test_eight_writers_of_one_dataset(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    runs = RUNS * scaled(1)
    parts = [hot_events(number * runs, runs) for number in range(WRITERS)]
    logs = [tmp_path / f"{number}.log" for number in range(WRITERS)]
    spools: list[Spool] = []
    for number, part in enumerate(parts):
        with closing(Spool(tmp_path / f"{number}.db")) as spool:
            spool.append(part, received=RECEIVED + number * 10**6)
            spools.append(spool)
    writers = [
        started(fold, neo4j_server, spool.path, EVENTS_PER_BATCH, log)
        for spool, log in zip(spools, logs, strict=True)
    ]

    def folded() -> int:
        return sum(read_checkpoint(graph, spool.id).folded for spool in spools)

    try:
        seconds = wait_for(
            "all folded", lambda: folded() == WRITERS * 2 * runs, FOLDED_SECONDS_MAX * scaled(1)
        )
        assert all(writer.is_alive() for writer in writers)
    finally:
        for writer in writers:
            kill(writer)
    print(f"{WRITERS * 2 * runs} events by {WRITERS} writers in {seconds:.1f} s")
    written = "".join(log.read_text() for log in logs)
    assert written.count("worker_started") == WRITERS
    assert "Deadlock" not in written, written
    assert [read_checkpoint(graph, spool.id).dead for spool in spools] == [0] * WRITERS
    assert canonical(graph) == folded_at_once(graph, chain.from_iterable(parts))
