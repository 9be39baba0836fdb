"""F02, F03 and F06: the worker is killed inside its transactions, alone or with the acceptor.

Events are accepted all the time: each kill is followed by an acknowledgement before the restart.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical
from tests.conftest import Neo4jServer
from tests.faults.checker import scaled, seeded
from tests.faults.history import history
from tests.faults.oracle import folded_at_once
from tests.faults.processes import wait_for
from tests.faults.spool_processes import accept_slowly, fold, kill, pipe, started

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(1800)]

KILLS = 30
BOTH = 10
WAITING_RUNS = 100
EVENTS_PER_BATCH = 20
PROGRESS_SECONDS_MAX = 120.0


class Acceptor:
    """A process that accepts events, with the acknowledgements that it has sent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process: BaseProcess | None = None
        self._reader: Connection | None = None
        self.acknowledged: dict[int, int] = {}

    def start(self) -> None:
        self._reader, writer = pipe()
        first = max(self.acknowledged.values(), default=WAITING_RUNS) + 100
        self._process = started(accept_slowly, self._path, first, writer)
        writer.close()

    def receive(self) -> int:
        """Read the acknowledgements that have come; return the number of all."""
        assert self._reader is not None
        with suppress(EOFError, OSError):
            while self._reader.poll():
                seq, run = self._reader.recv()
                self.acknowledged[seq] = run
        return len(self.acknowledged)

    def has_more_than(self, number: int) -> bool:
        return self.receive() > number

    def kill(self) -> None:
        assert self._process is not None
        assert self._reader is not None
        kill(self._process)
        self.receive()
        self._reader.close()


def folded(graph: Database, spool: Spool) -> int:
    return read_checkpoint(graph, spool.id).position


def has_folded(graph: Database, spool: Spool, mark: int) -> bool:
    return folded(graph, spool) >= mark


def progress(condition: str, is_true: Callable[[], object]) -> None:
    wait_for(condition, is_true, PROGRESS_SECONDS_MAX)


def kill_again_and_again(
    graph: Database, acceptor: Acceptor, start: Callable[[], BaseProcess], spool: Spool
) -> None:
    """Kill the worker each time that it has folded a little, and sometimes the acceptor too."""
    chance: random.Random = seeded(20261102)
    faults = ["worker"] * scaled(KILLS) + ["both"] * scaled(BOTH)
    chance.shuffle(faults)
    for fault in faults:
        worker = start()
        mark = folded(graph, spool) + chance.randint(1, 2 * EVENTS_PER_BATCH)
        progress(f"event {mark} folded", partial(has_folded, graph, spool, mark))
        time.sleep(chance.uniform(0, 0.05))
        kill(worker)
        if fault == "both":
            acceptor.kill()
            acceptor.start()
        before = acceptor.receive()
        progress("more accepted without a worker", partial(acceptor.has_more_than, before))
    print(f"{scaled(KILLS)} workers killed, and {scaled(BOTH)} with the acceptor")


def test_a_killed_worker_folds_each_event_once(
    graph: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    path, log = tmp_path / "spool.db", tmp_path / "worker.log"
    with closing(Spool(path)) as spool:
        # So many events wait that each worker is killed in the middle of its work.
        spool.append(history(WAITING_RUNS), received=time.time_ns() // 1_000)
        acceptor = Acceptor(path)
        acceptor.start()
        start = partial(started, fold, neo4j_server, path, EVENTS_PER_BATCH, log)
        kill_again_and_again(graph, acceptor, start, spool)
        acceptor.kill()
        worker = start()
        progress("all folded", lambda: folded(graph, spool) == spool.last())
        kill(worker)
        checkpoint = read_checkpoint(graph, spool.id)
        records = spool.read(0, events_max=10**6, bytes_max=2**40)
    stored = [record.body for record in records]
    for seq, run in acceptor.acknowledged.items():
        assert stored[seq - 2 : seq] == history(1, first=run), f"run {run} is lost"
    assert (checkpoint.position, checkpoint.folded, checkpoint.dead) == (
        len(stored),
        len(stored),
        0,
    )
    assert "Traceback" not in log.read_text(encoding="utf-8")
    print(f"{2 * len(acceptor.acknowledged)} acknowledged, {len(stored)} stored and folded")
    assert canonical(graph) == folded_at_once(graph, sorted(set(stored)))
