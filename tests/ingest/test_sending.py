"""A writer that prepares the next transaction during the commit of the previous one.

The graph is the same, with or without a failure of either.
"""

from __future__ import annotations

import json
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.ingest.fold import fold
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.ingest.write import cache as cache_module
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    PendingCommit,
    WriteRequest,
    read_checkpoint,
    send,
    write,
)
from headwater.schema.events import parse
from headwater.schema.naming import load_naming
from tests.canonical import Graph, canonical, empty
from tests.checkpoints import counts
from tests.event_builders import run_event, write_batch
from tests.run_builders import RECEIVED, SPOOL

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]
Event = dict[str, Any]
START = Checkpoint()


def begun(number: int) -> Event:
    return run_event(f"run-{number}", "START", 10 * number, inputs=["raw"], outputs=["mart"])


def done(number: int) -> Event:
    return run_event(f"run-{number}", "COMPLETE", 10 * number + 5, inputs=["raw"], outputs=["mart"])


def send_events(
    database: Database,
    before: Checkpoint,
    cache: WriteCache,
    *events: Event,
    after: Checkpoint | None = None,
) -> PendingCommit:
    """Send these events without a wait for the commit."""
    count = before.position + len(events)
    return send(
        database,
        WriteRequest(
            fold([parse(json.dumps(event).encode(), received=RECEIVED) for event in events]),
            spool=SPOOL,
            before=before,
            after=after or Checkpoint(count, count, 0),
            holder="t",
            naming=load_naming(),
        ),
        cache,
    )


def graph_of(database: Database, *events: Event) -> Graph:
    empty(database)
    write_batch(database, events)
    return canonical(database)


def test_a_transaction_is_sent_before_the_previous_one_is_committed(database: Database) -> None:
    cache = WriteCache()
    first = send_events(database, START, cache, begun(1))
    first.wait()
    second = send_events(database, first.after, cache, done(1), begun(2))
    third = send_events(database, second.after, cache, done(2), begun(3))
    assert second.wait() <= third.wait()
    assert read_checkpoint(database, SPOOL) == Checkpoint(5, 5, 0)
    graph = canonical(database)
    assert graph == graph_of(database, begun(1), done(1), begun(2), done(2), begun(3))


def test_transactions_after_a_failed_one_are_not_written(database: Database) -> None:
    cache = WriteCache()
    send_events(database, START, cache, begun(1)).wait()
    before = Checkpoint(1, 1, 0)
    # Neo4j refuses a number of this size.
    second = send_events(database, before, cache, done(1), after=Checkpoint(2, 2**70, 0))
    with pytest.raises(CheckpointMovedError):
        send_events(database, Checkpoint(2, 2**70, 0), cache, begun(2))
    with pytest.raises((QueryError, OverflowError)):
        second.wait()
    assert cache.next_revision() is None, "the cached facts were never written"
    assert read_checkpoint(database, SPOOL) == before
    graph = canonical(database)
    assert graph == graph_of(database, begun(1))


def test_another_writer_writes_between_two_transactions(database: Database) -> None:
    """The cached facts of run 1 are stale, and the writer does not use them."""
    cache = WriteCache()
    send_events(database, START, cache, begun(1)).wait()
    own = Checkpoint(1, 1, 0)
    foreign = fold([parse(json.dumps(done(1)).encode(), received=RECEIVED)])
    write(database, WriteRequest(foreign, spool="b", before=START, after=own, holder="b"))
    send_events(database, own, cache, begun(2)).wait()
    graph = canonical(database)
    assert graph == graph_of(database, begun(1), done(1), begun(2))


def test_a_run_is_evicted_during_its_commit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "RUNS_MAX", 1)
    cache = WriteCache()
    send_events(database, START, cache, begun(1), begun(2)).wait()
    second = send_events(database, Checkpoint(2, 2, 0), cache, done(1), begun(3), begun(4))
    third = send_events(
        database,
        second.after,
        cache,
        done(2),
        done(3),
        run_event("run-1", "OTHER", 18, outputs=["late"]),
    )
    second.wait()
    third.wait()
    assert len(cache.runs) > 1, "trimmed at the start of the next transaction"
    graph = canonical(database)
    late = run_event("run-1", "OTHER", 18, outputs=["late"])
    assert graph == graph_of(
        database, begun(1), begun(2), done(1), begun(3), begun(4), done(2), done(3), late
    )


class RefusingDatabase(Database):
    """A database that refuses statements about one job, as Neo4j refuses values it cannot store."""

    def begin(self, *, seconds: float = 60.0) -> Any:
        transaction = super().begin(seconds=seconds)
        run = transaction._run

        def refusing(text: str, parameters: dict[str, Any]) -> Any:
            if "etl:poison" in json.dumps(parameters, default=str):
                raise QueryError("Neo4j refuses this value")
            return run(text, parameters)

        transaction._run = refusing  # type: ignore[method-assign]
        return transaction


def test_a_worker_dead_letters_a_failed_batch_after_the_next_is_sent(
    database: Database, neo4j_server: Any, tmp_path: Path
) -> None:
    events = list(chain.from_iterable((begun(number), done(number)) for number in range(12)))
    poison = run_event("poison", "COMPLETE", 200, job="poison", inputs=["raw"])
    all_events = [*events[:10], poison, *events[10:]]
    with (
        closing(Spool(tmp_path / "spool")) as spool,
        closing(
            RefusingDatabase(neo4j_server.uri, neo4j_server.user, neo4j_server.password)
        ) as refusing,
    ):
        spool.append([json.dumps(event).encode() for event in all_events], received=RECEIVED)
        batch_sizes: list[int] = []
        worker = Worker(
            refusing,
            spool,
            events_max=4,
            on_commit=lambda folded: batch_sizes.append(len(folded.received)),
        )
        worker.run(until_done=True)
        checkpoint = read_checkpoint(database, spool.id)
        assert counts(checkpoint) == (len(all_events), len(events), 1)
        assert [dead.seq for dead in spool.dead_letters()] == [11]
        assert sum(batch_sizes) == len(all_events)
    graph = canonical(database)
    assert graph == graph_of(database, *events)
