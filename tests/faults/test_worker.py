"""The worker in this process with a failing disk, a slow Neo4j, or a failing listener."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database, Transaction
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import CommitReport, Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import canonical
from tests.conftest import Neo4jServer
from tests.faults.disks import FailingDisk
from tests.faults.history import counted, expected, history
from tests.faults.oracle import folded_at_once
from tests.faults.processes import wait_for
from tests.run_builders import RECEIVED
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

RUNS = 200


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    """Yield a spool with a run history and one malformed body in its middle."""
    with closing(Spool(tmp_path / "spool.db")) as spool:
        bodies = history(RUNS)
        spool.append([*bodies[:200], b"poison", *bodies[200:]], received=RECEIVED)
        yield spool


@contextmanager
def running(worker: Worker) -> Iterator[threading.Thread]:
    """Run the worker in a thread, as `headwater worker` does; pytest reports its exceptions."""
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield thread
    finally:
        worker.stop.set()
        thread.join(60)


def assert_complete(graph: Database, spool: Spool) -> None:
    checkpoint = read_checkpoint(graph, spool.id)
    assert (checkpoint.position, checkpoint.folded, checkpoint.dead) == (2 * RUNS + 1, 2 * RUNS, 1)
    assert [dead.seq for dead in spool.dead_letters()] == [201]
    assert counted(graph) == expected(RUNS)
    assert canonical(graph) == folded_at_once(graph, history(RUNS))


@pytest.mark.parametrize(
    "named", [pytest.param("sync-write", marks=in_torture_only), "read", "open-read-write"]
)
def test_the_disk_fails_while_poison_waits(graph: Database, spool: Spool, named: str) -> None:
    kinds = set(named.split("-"))
    disk = FailingDisk("failing-under-the-worker")
    with closing(Spool(spool.path, vfs=disk.vfs_name)) as own:
        worker = Worker(graph, own, events_max=50)
        disk.failing = frozenset(kinds)
        with running(worker) as thread:
            wait_for("the disk failed", lambda: disk.calls > 2, 30)
            assert thread.is_alive()
            disk.failing = frozenset()
            wait_for(
                "all folded", lambda: read_checkpoint(graph, spool.id).position == spool.last(), 30
            )
    disk.unregister()
    assert_complete(graph, spool)


class ImpatientDatabase(Database):
    """A database whose transactions time out while another holds the lock."""

    seconds_max = 1.0

    def begin(self, *, seconds: float = 60.0) -> Transaction:
        return super().begin(seconds=min(seconds, self.seconds_max))


def test_a_batch_that_takes_too_long_is_split(
    graph: Database, neo4j_server: Neo4jServer, spool: Spool
) -> None:
    sizes: list[int] = []
    impatient = ImpatientDatabase(neo4j_server.uri, neo4j_server.user, neo4j_server.password)
    with closing(impatient):
        worker = Worker(
            impatient,
            spool,
            events_max=400,
            on_commit=lambda folded: sizes.append(len(folded.received)),
        )
        with graph.write() as lock_holder:
            lock_holder.run("write/maintenance/lock_graph", holder="another")
            with running(worker):
                wait_for("it took too long", lambda: worker.batch_events < 400, 30)
        impatient.seconds_max = 60.0
        worker.stop.clear()
        with running(worker):
            wait_for(
                "all folded", lambda: read_checkpoint(graph, spool.id).position == spool.last(), 60
            )
            wait_for("as many at once again", lambda: worker.batch_events == 400, 30)
    print(f"batches of {sizes}")
    assert sizes[0] <= 200
    assert_complete(graph, spool)


def test_a_failing_listener_does_not_stop_the_worker(graph: Database, spool: Spool) -> None:
    def broken(_: CommitReport) -> None:
        raise OSError("no room for a measurement")

    worker = Worker(graph, spool, events_max=100, on_commit=broken)
    while worker.step():
        pass
    assert_complete(graph, spool)
