"""Erasure of the whole graph: interrupted, killed, and two at once with a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.cypher.maintenance import export
from headwater.cypher.maintenance.erase import TakenOverError, erase, reset_if_empty
from headwater.errors import UnavailableError
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.canonical import Graph, canonical
from tests.conftest import Neo4jServer
from tests.cypher.maintenance.test_export import STORY as EVENTS
from tests.run_builders import RECEIVED, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

PIECE = 12
# An erasure that sends a signal to itself within one of its pieces.
ERASURE = """
import os, sys
from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance import erase
erase.PIECE, signal_number, last = map(int, sys.argv[4:])
pieces = []
def on_piece(piece):
    pieces.append(piece)
    if len(pieces) == last:
        os.kill(os.getpid(), signal_number)
erase.erase(Database(*sys.argv[1:4]), holder="tests", on_piece=on_piece)
"""


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.cypher.maintenance.erase.PIECE", PIECE)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    events = [
        event
        for number in range(4)
        for event in run(f"r{number}", f"j{number}", [f"d{number}"], [f"d{number + 1}"])
    ]
    with closing(Spool(tmp_path / "spool.db")) as spool:
        spool.append([json.dumps(event).encode() for event in events], received=RECEIVED)
        yield spool


def fold(database: Database, spool: Spool) -> Graph:
    """Fold all events of the spool, and return the graph."""
    Worker(database, spool).run(until_done=True)
    assert read_checkpoint(database, spool.id).position == spool.last()
    return canonical(database)


def size(database: Database) -> int:
    counts = export.count(database).values()
    return sum(label.nodes + label.edges for label in counts)


def count_pieces(database: Database) -> int:
    """Return the number of pieces of an erasure of the graph, which is then empty."""
    pieces: list[int] = []
    erase(database, holder="tests", on_piece=pieces.append)
    assert max(pieces) == PIECE
    return len(pieces)


class PausedErasure:
    """An erasure in a thread that waits within one of its pieces."""

    def __init__(self, database: Database, last_piece: int) -> None:
        self._pieces: list[int] = []
        self._last_piece = last_piece
        self._is_paused, self._may_continue = Event(), Event()
        self._threads = ThreadPoolExecutor(max_workers=1)
        self._ended: Future[None] = self._threads.submit(
            erase, database, holder="tests", on_piece=self._on_piece
        )
        self._is_paused.wait()

    def finish(self) -> BaseException | None:
        """Let it continue to its end, and return its error."""
        self._may_continue.set()
        self._threads.shutdown()
        return self._ended.exception()

    def _on_piece(self, piece: int) -> None:
        self._pieces.append(piece)
        if len(self._pieces) == self._last_piece:
            self._is_paused.set()
            self._may_continue.wait()


def test_an_erasure_leaves_only_migrations_and_the_lock(database: Database) -> None:
    write_events(database, EVENTS)
    assert not reset_if_empty(database, holder="tests")
    assert count_pieces(database) > 1
    assert size(database) == 0
    left = database.ask("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label", {})
    assert {row["label"] for row in left} == {"Migration", "WriteLock"}


def test_an_interrupted_erasure_stops_every_writer_until_it_ends(database: Database) -> None:
    write_events(database, EVENTS)
    before_erasure = canonical(database)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        erase(database, holder="tests", on_piece=interrupt)
    assert not reset_if_empty(database, holder="tests")
    with pytest.raises(UnavailableError, match="being erased"):
        write_events(database, EVENTS)
    with pytest.raises(UnavailableError, match="being erased"), database.write() as transaction:
        acquire_write_lock(transaction, "tests")
    erase(database, holder="tests")
    write_events(database, EVENTS)
    assert canonical(database) == before_erasure


def test_only_the_checkpoints_of_an_empty_graph_are_deleted(
    database: Database, spool: Spool
) -> None:
    fold(database, spool)
    # Another command found an empty graph, and the worker has folded events since.
    assert not reset_if_empty(database, holder="tests")
    assert read_checkpoint(database, spool.id).position == spool.last()
    Worker(database, spool).run(until_done=True)
    with database.write() as transaction:
        acquire_write_lock(transaction, "tests")
        transaction.run(
            "write/maintenance/save_checkpoint",
            spool="of no events",
            position=3,
            folded=3,
            dead=0,
            settled=None,
            received=None,
        )
    erase(database, holder="tests")
    assert reset_if_empty(database, holder="tests")
    assert read_checkpoint(database, "of no events").position == 0


def test_an_erasure_that_goes_on_during_a_later_one_deletes_nothing(
    database: Database, spool: Spool
) -> None:
    whole = fold(database, spool)
    pieces = count_pieces(database)
    for paused_in in range(1, pieces + 1):
        fold(database, spool)
        sizes: list[int] = []
        earlier = PausedErasure(database, paused_in)

        def check_worker_and_finish(
            _: int, earlier: PausedErasure = earlier, sizes: list[int] = sizes
        ) -> None:
            with pytest.raises(UnavailableError, match="being erased"):
                Worker(database, spool).step()
            sizes.append(size(database))
            assert isinstance(earlier.finish(), TakenOverError)
            sizes.append(size(database))

        erase(database, holder="tests", on_piece=check_worker_and_finish)
        assert sizes[::2] == sizes[1::2]
        earlier.finish()
        assert size(database) == 0
        assert fold(database, spool) == whole


def test_an_erasure_that_goes_on_after_a_later_one_deletes_nothing(
    database: Database, spool: Spool
) -> None:
    whole = fold(database, spool)
    for paused_in in range(1, count_pieces(database) + 1):
        fold(database, spool)
        earlier = PausedErasure(database, paused_in)
        erase(database, holder="tests")
        assert fold(database, spool) == whole
        ended = earlier.finish()
        assert isinstance(ended, TakenOverError)
        assert "rebuild --erase" in ended.hint
        assert canonical(database) == whole
        assert read_checkpoint(database, spool.id).position == spool.last()


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_erasure_is_taken_over_from_one_that_was_killed_or_stopped(
    database: Database, neo4j_server: Neo4jServer, spool: Spool, signal_number: int
) -> None:
    whole = fold(database, spool)
    pieces = count_pieces(database)
    for last in sorted({1, pieces}):
        fold(database, spool)
        server = neo4j_server.uri, neo4j_server.user, neo4j_server.password
        numbers = str(PIECE), str(int(signal_number)), str(last)
        erasing = subprocess.Popen([sys.executable, "-c", ERASURE, *server, *numbers])
        os.waitid(os.P_PID, erasing.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
        with pytest.raises(UnavailableError, match="being erased"):
            Worker(database, spool).step()
        erase(database, holder="tests")
        assert fold(database, spool) == whole
        if signal_number == signal.SIGSTOP:
            erasing.send_signal(signal.SIGCONT)
        assert erasing.wait() in (1, -signal.SIGKILL)
        assert canonical(database) == whole
        assert not reset_if_empty(database, holder="tests")
