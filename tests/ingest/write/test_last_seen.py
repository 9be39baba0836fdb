"""Last-seen updates may be written later, but are never lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import identify_graph
from headwater.ingest import worker as worker_module
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import CommitReport, Worker
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    WriteRequest,
    read_checkpoint,
    write,
)
from headwater.pipelines.chunk_writer import advance_checkpoint
from headwater.schema.delta import GraphDelta
from headwater.schema.events import Event, parse
from headwater.schema.naming import Naming
from tests.canonical import Graph, canonical, empty
from tests.checkpoints import counts
from tests.event_builders import (
    columns,
    dataset,
    dataset_event,
    edge,
    job_event,
    node,
    run_event,
    symlinks,
    write_batch,
)
from tests.run_builders import RECEIVED, SPOOL

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def _clean(database: Database) -> None:
    empty(database)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as opened:
        yield opened


def night(number: int) -> list[dict[str, Any]]:
    """Return one run of a job that runs every ten minutes."""
    return [
        run_event(f"run-{number}", state, 10 * number + minute, inputs=["raw"], outputs=["mart"])
        for state, minute in (("START", 0), ("COMPLETE", 5))
    ]


def minute(number: int) -> datetime:
    return datetime(2026, 1, 1, number // 60, number % 60, tzinfo=UTC)


def last_seen(database: Database) -> tuple[Any, ...]:
    """Return the last observations of the job, its input, its output and the edges between them."""
    nodes = [
        node(database, urn)["lastSeen"]
        for urn in ("job:etl:j", "dataset:db:raw", "dataset:db:mart")
    ]
    read = edge(database, "dataset:db:raw", "FEEDS", "job:etl:j")["lastSeen"]
    return (*nodes, read, edge(database, "job:etl:j", "PRODUCED", "dataset:db:mart")["lastSeen"])


def graph_of_one_batch(database: Database, *events: dict[str, Any]) -> Graph:
    empty(database)
    write_batch(database, events)
    return canonical(database)


def test_deferred_updates_wait_until_their_bound(database: Database) -> None:
    cache = WriteCache()
    write_batch(database, night(1), cache, defer=True)
    assert last_seen(database) == (minute(15),) * 5, "new facts are written at once"
    assert read_checkpoint(database, SPOOL) == Checkpoint(2, 2, 0)
    write_batch(database, night(2), cache, defer=True)
    write_batch(database, night(3), cache, defer=True)
    assert last_seen(database) == (minute(15),) * 5
    assert read_checkpoint(database, SPOOL) == Checkpoint(6, 6, 0, settled=2)
    assert {
        row["run"] for row in database.ask("MATCH (r:PipelineRun) RETURN r.runId AS run", {})
    } == {
        "run-1",
        "run-2",
        "run-3",
    }
    write_batch(database, [], cache)
    assert last_seen(database) == (minute(35),) * 5
    assert read_checkpoint(database, SPOOL) == Checkpoint(6, 6, 0)
    settled = canonical(database)
    assert settled == graph_of_one_batch(database, *night(1), *night(2), *night(3))


def test_the_oldest_deferred_updates_are_written_first(database: Database) -> None:
    cache = WriteCache()
    other = [
        run_event(f"other-{number}", "COMPLETE", number, job="k", outputs=["else"])
        for number in (1, 2)
    ]
    write_batch(database, [*night(1), other[0]], cache, defer=True)
    write_batch(database, night(2), cache, defer=True)
    write_batch(database, [other[1]], cache, defer=True)
    write_batch(database, night(3), cache, defer=True)
    before = read_checkpoint(database, SPOOL)
    assert (before.position, before.settled) == (8, 3)
    delta = fold(parse(json.dumps(event).encode(), received=RECEIVED) for event in night(4))
    after = Checkpoint(10, 10, 0)
    write(
        database,
        WriteRequest(delta, spool=SPOOL, before=before, after=after, holder="t", defer_before=4),
        cache=cache,
    )
    # The deferred update of the job at event 3 is written with its current value; that of event 6
    # waits.
    assert last_seen(database) == (minute(45),) * 5
    assert node(database, "job:etl:k")["lastSeen"] == minute(1)
    assert read_checkpoint(database, SPOOL) == Checkpoint(10, 10, 0, settled=5)
    write_batch(database, [], cache)
    settled = canonical(database)
    assert settled == graph_of_one_batch(
        database, *night(1), *other, *night(2), *night(3), *night(4)
    )


def test_a_new_fact_writes_the_deferred_update_too(database: Database) -> None:
    cache = WriteCache()
    write_batch(database, night(1), cache, defer=True)
    write_batch(database, night(2), cache, defer=True)
    more = run_event("run-3", "COMPLETE", 33, inputs=["raw", "other"], outputs=["mart"])
    write_batch(database, [more], cache, defer=True)
    write_batch(database, [], cache)
    settled = canonical(database)
    assert settled == graph_of_one_batch(database, *night(1), *night(2), more)


def test_names_are_merged_while_updates_wait(database: Database) -> None:
    cache = WriteCache()
    other = run_event("other", "COMPLETE", 1, inputs=["alias"])
    write_batch(database, [other, *night(1)], cache, defer=True)
    write_batch(database, night(2), cache, defer=True)
    joined = run_event(
        "run-3", "COMPLETE", 33, inputs=[dataset("raw", symlinks("alias"))], outputs=["mart"]
    )
    write_batch(database, [joined], cache, defer=True)
    assert read_checkpoint(database, SPOOL).settled is None, (
        "everything was forgotten, so nothing could wait"
    )
    settled = canonical(database)
    assert settled == graph_of_one_batch(database, other, *night(1), *night(2), joined)


def test_a_writer_without_its_deferred_updates_must_not_continue(database: Database) -> None:
    first, second = WriteCache(), WriteCache()
    write_batch(database, night(1), first, defer=True)
    write_batch(database, night(2), first, defer=True)
    with pytest.raises(CheckpointMovedError, match="deferred updates are lost"):
        write_batch(database, night(3), second)
    checkpoint = read_checkpoint(database, SPOOL)
    assert checkpoint == Checkpoint(4, 4, 0, settled=2)
    # Events from the last complete position are folded once more, and are not counted.
    delta = fold(parse(json.dumps(event).encode(), received=RECEIVED) for event in night(2))
    saved = write(
        database,
        WriteRequest(
            delta,
            spool=SPOOL,
            before=checkpoint,
            after=Checkpoint(4, 4, 0),
            holder="t",
            refold=True,
        ),
        cache=second,
    )
    assert saved == read_checkpoint(database, SPOOL) == Checkpoint(4, 4, 0)
    assert last_seen(database) == (minute(25),) * 5


_DOCUMENTED = {"documentation": {"description": "Raw orders."}}
_FROM_REPORT = columns(a=[("report", "a")])


@pytest.mark.parametrize(
    ("settled", "lost"),
    [
        # The second event adds a facet, so the facts are written at once; the edge is deferred.
        (dataset_event("raw", 0, _FROM_REPORT), dataset_event("raw", 9, _FROM_REPORT)),
        (
            dataset_event("raw", 0, _FROM_REPORT),
            dataset_event("raw", 9, {**_FROM_REPORT, **_DOCUMENTED}),
        ),
        (
            job_event("j", 0, inputs=["raw"], outputs=["mart"]),
            job_event("j", 9, inputs=["raw"], outputs=["mart"], facets=_DOCUMENTED),
        ),
        # The second event does not name the alias that its run read.
        (
            run_event("r", "START", 0, inputs=[dataset("raw", symlinks("t")), "t"]),
            run_event("r", "COMPLETE", 9),
        ),
        # The reported source of an edge is an alias that the second event does not name.
        (
            run_event("r", "COMPLETE", 0, inputs=[dataset("report", symlinks("t"))]),
            dataset_event("raw", 9, columns(a=[("t", "a")])),
        ),
    ],
)
def test_lost_updates_of_edges_are_written_by_a_second_fold(
    database: Database, settled: dict[str, Any], lost: dict[str, Any]
) -> None:
    cache = WriteCache()
    write_batch(database, [settled], cache, defer=True)
    write_batch(database, [lost], cache, defer=True)
    before = read_checkpoint(database, SPOOL)
    delta = fold([parse(json.dumps(lost).encode(), received=RECEIVED)])
    again = WriteRequest(
        delta, spool=SPOOL, before=before, after=Checkpoint(2, 2, 0), holder="t", refold=True
    )
    write(database, again, cache=WriteCache())
    assert canonical(database) == graph_of_one_batch(database, settled, lost)


def filled(spool: Spool, nights: int) -> list[dict[str, Any]]:
    events = list(chain.from_iterable(night(number) for number in range(1, nights + 1)))
    spool.append([json.dumps(event).encode() for event in events], received=RECEIVED)
    return events


def test_a_worker_defers_during_a_backlog_and_writes_all_at_its_end(
    database: Database, spool: Spool
) -> None:
    events = filled(spool, 5)
    worker = Worker(database, spool, events_max=3, max_in_flight=0)
    found = []
    while worker.step():
        checkpoint = read_checkpoint(database, spool.id)
        found.append((checkpoint.position, checkpoint.complete_position))
    assert found == [(3, 3), (6, 3), (9, 3), (10, 10)]
    assert canonical(database) == graph_of_one_batch(database, *events)


def test_a_worker_defers_only_for_a_bounded_time(
    database: Database, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "DEFER_EVENTS_MAX", 4)
    filled(spool, 5)
    worker = Worker(database, spool, events_max=2, max_in_flight=0)
    found = []
    while worker.step():
        found.append(read_checkpoint(database, spool.id).complete_position)
    assert found == [2, 2, 2, 8, 10]


def test_a_stopping_worker_writes_its_deferred_updates(database: Database, spool: Spool) -> None:
    filled(spool, 3)

    def halfway(_: CommitReport) -> None:
        if read_checkpoint(database, spool.id).position == 4:
            worker.stop.set()

    worker = Worker(database, spool, events_max=2, max_in_flight=0, on_commit=halfway)

    worker.run()
    assert counts(read_checkpoint(database, spool.id)) == (4, 4, 0)
    assert last_seen(database) == (minute(25),) * 5


def test_events_of_updates_deferred_by_a_killed_worker_are_folded_again(
    database: Database, spool: Spool
) -> None:
    events = filled(spool, 5)
    spool.append([b"{}"], received=RECEIVED)
    killed = Worker(database, spool, events_max=2, max_in_flight=0)
    for _ in range(4):
        killed.step()
    checkpoint = read_checkpoint(database, spool.id)
    assert (counts(checkpoint), checkpoint.settled) == ((8, 8, 0), 2)
    assert last_seen(database)[0] == minute(15)
    next_one = Worker(database, spool, events_max=4, max_in_flight=0)
    next_one.step()
    assert read_checkpoint(database, spool.id).position == 11
    while next_one.step():
        pass
    assert counts(read_checkpoint(database, spool.id)) == (11, 10, 1)
    assert canonical(database) == graph_of_one_batch(database, *events)


def test_an_event_that_fails_the_second_fold_does_not_stop_the_others(
    database: Database, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(spool, 5)
    killed = Worker(database, spool, events_max=2, max_in_flight=0)
    for _ in range(4):
        killed.step()

    def broken(events: Iterable[Event], naming: Naming) -> GraphDelta:
        batch = list(events)
        if any(event.run and event.run.run_id == "run-3" for event in batch):
            raise RuntimeError("broken")
        return fold(batch, naming)

    monkeypatch.setattr("headwater.ingest.fold.undated_events.fold", broken)
    Worker(database, spool, events_max=4, max_in_flight=0).step()
    assert counts(read_checkpoint(database, spool.id)) == (10, 10, 0)
    assert last_seen(database) == (minute(55),) * 5


def test_deferred_updates_may_come_from_a_backfill(database: Database) -> None:
    cache = WriteCache()
    write_batch(database, night(1), cache, defer=True)
    write_batch(database, night(2), cache, defer=True)
    before = read_checkpoint(database, SPOOL)
    assert before.complete_position == 2
    delta = fold(
        parse(json.dumps(event).encode(), received=RECEIVED) for event in (*night(1), *night(2))
    )
    one = Checkpoint(1, 1, 0)
    write(
        database,
        WriteRequest(
            delta, spool="backfill", before=Checkpoint(), after=one, holder="backfill", refold=True
        ),
    )
    graph = identify_graph(database, "tests")
    advance_checkpoint(
        database,
        SPOOL,
        before,
        4,
        received=None,
        dead=0,
        producer_stats=ProducerStats(),
        graph=graph,
    )
    assert read_checkpoint(database, SPOOL) == Checkpoint(4, 4, 0)
    assert last_seen(database) == (minute(25),) * 5
