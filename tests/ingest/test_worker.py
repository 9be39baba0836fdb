"""The worker, step by step, on a real Neo4j; its failures are in tests/faults/test_worker.py."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import SpoolFullError
from headwater.ingest import gather
from headwater.ingest.spool.salvage_lock import lock_for_salvage
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import CommitReport, Worker
from headwater.ingest.write.transaction import read_checkpoint
from tests.checkpoints import counts
from tests.run_builders import RECEIVED

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def body(run: int) -> bytes:
    event = {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "COMPLETE",
        "producer": "https://example.com/p",
        "job": {"namespace": "etl", "name": "load"},
        "run": {"runId": f"r{run}"},
    }
    return json.dumps(event).encode()


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


def test_a_step_folds_one_batch_and_reports_it(database: Database, spool: Spool) -> None:
    spool.append([body(1), body(2), b"malformed", body(3)], received=RECEIVED)
    reports: list[CommitReport] = []
    worker = Worker(database, spool, events_max=3, max_in_flight=0, on_commit=reports.append)
    assert [worker.step(), worker.step(), worker.step()] == [3, 1, 0]
    assert [(report.received, report.dead) for report in reports] == [
        ((RECEIVED, RECEIVED + 1, RECEIVED + 2), 1),
        ((RECEIVED + 3,), 0),
    ]
    assert all(report.seconds >= 0 for report in reports)
    assert counts(read_checkpoint(database, spool.id)) == (4, 3, 1)
    assert [dead.seq for dead in spool.dead_letters()] == [3]


def test_a_run_until_done_folds_everything_and_ends(
    database: Database, spool: Spool, caplog: pytest.LogCaptureFixture
) -> None:
    spool.append([body(number) for number in range(10)], received=RECEIVED)
    with caplog.at_level(logging.INFO, "headwater.worker"):
        Worker(database, spool, events_max=4).run(until_done=True)
    assert read_checkpoint(database, spool.id).complete_position == 10
    assert f"worker_started spool={spool.path}" in caplog.text
    [row] = database.ask("MATCH (r:PipelineRun) RETURN count(r) AS runs", {})
    assert row["runs"] == 10


def test_a_worker_gathers_while_events_keep_coming(
    database: Database, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gather, "LULL_SECONDS", 3_600.0)
    monkeypatch.setattr(gather, "GATHER_SECONDS_MAX", 3_600.0)
    reports: list[CommitReport] = []
    worker = Worker(database, spool, events_max=3, max_in_flight=0, on_commit=reports.append)
    spool.append([body(0)], received=RECEIVED)
    assert worker.step(gather=True) == 1, "what waits when the worker starts is folded at once"
    for number in (1, 2):
        spool.append([body(number)], received=RECEIVED + number)
        assert worker.step(gather=True) == 0
    spool.append([body(3), body(4)], received=RECEIVED + 3)
    assert worker.step(gather=True) == 3, "a full batch does not wait"
    assert worker.step(gather=True) == 0
    assert worker.step() == 1, "a worker that must be done does not gather"
    received = [microseconds for report in reports for microseconds in report.received]
    assert received == [RECEIVED + number for number in range(5)]


def test_a_dead_letter_of_an_earlier_worker_is_revived(database: Database, spool: Spool) -> None:
    spool.append([body(1), body(2)], received=RECEIVED)
    spool.dead_letter([(1, "an earlier worker could not fold it")])
    Worker(database, spool).run(until_done=True)
    assert spool.dead_letters() == []
    assert counts(read_checkpoint(database, spool.id)) == (2, 2, 0)


def test_during_a_salvage_events_are_folded_and_dead_letters_wait(
    database: Database, spool: Spool
) -> None:
    spool.append([body(1), body(2), b"malformed"], received=RECEIVED)
    spool.dead_letter([(1, "an earlier worker could not fold it")])
    reports: list[CommitReport] = []
    worker = Worker(database, spool, events_max=2, max_in_flight=0, on_commit=reports.append)
    with lock_for_salvage(spool.path):
        with pytest.raises(SpoolFullError, match="while it is salvaged"):
            worker.step()  # it folds the first two, and cannot revive a dead letter
        assert [len(report.received) for report in reports] == [2]
        for _ in range(2):
            with pytest.raises(SpoolFullError, match="while it is salvaged"):
                worker.step()  # nor record another
        assert [dead.seq for dead in spool.dead_letters()] == [1]
    worker.run(until_done=True)
    assert [dead.seq for dead in spool.dead_letters()] == [3]
    assert counts(read_checkpoint(database, spool.id)) == (3, 2, 1)


def test_a_long_gap_of_the_spool_is_one_dead_letter(database: Database, spool: Spool) -> None:
    spool.append([body(1)], received=RECEIVED)
    with closing(apsw.Connection(str(spool.path))) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'event'", (2**30,))
    assert spool.append([body(2)], received=RECEIVED + 1) == 2**30 + 1
    Worker(database, spool).run(until_done=True)
    assert counts(read_checkpoint(database, spool.id)) == (2**30 + 1, 2, 1)
    [letter] = spool.dead_letters()
    assert (letter.seq, letter.reason) == (
        2**30,
        f"damaged: events 2 to {2**30} have no rows in the spool",
    )


def test_events_cut_from_the_spool_make_the_worker_wait(database: Database, spool: Spool) -> None:
    spool.append([body(1), body(2), body(3)], received=RECEIVED)
    spool.cut(2, lake="/lake", events_max=10)
    worker = Worker(database, spool)
    with pytest.raises(Exception, match="events 1 to 2 of the spool are in the lake only"):
        worker.step()
