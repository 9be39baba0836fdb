"""A writer that works out the next transaction while the one before is being committed: the same
graph, whatever becomes of either.
"""

from __future__ import annotations

import json
from contextlib import closing
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
from tests.event_builders import run_event, write_batch
from tests.run_builders import SPOOL

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]
Told = dict[str, Any]
START = Checkpoint()


def begun(number: int) -> Told:
    return run_event(f"run-{number}", "START", 10 * number, inputs=["raw"], outputs=["mart"])


def done(number: int) -> Told:
    return run_event(f"run-{number}", "COMPLETE", 10 * number + 5, inputs=["raw"], outputs=["mart"])


def on(
    database: Database,
    before: Checkpoint,
    cache: WriteCache,
    *events: Told,
    after: Checkpoint | None = None,
) -> PendingCommit:
    """Send these events and wait for nothing."""
    count = before.position + len(events)
    return send(
        database,
        WriteRequest(
            fold([parse(json.dumps(event).encode(), received=0) for event in events]),
            spool=SPOOL,
            before=before,
            after=after or Checkpoint(count, count, 0),
            holder="t",
            naming=load_naming(),
        ),
        cache,
    )


def at_once(database: Database, *events: Told) -> Graph:
    empty(database)
    write_batch(database, events)
    return canonical(database)


def test_a_transaction_is_sent_before_the_previous_one_is_committed(database: Database) -> None:
    cache = WriteCache()
    first = on(database, START, cache, begun(1))
    first.wait()
    second = on(database, first.after, cache, done(1), begun(2))
    third = on(database, second.after, cache, done(2), begun(3))
    assert second.wait() <= third.wait()
    assert read_checkpoint(database, SPOOL) == Checkpoint(5, 5, 0)
    graph = canonical(database)
    assert graph == at_once(database, begun(1), done(1), begun(2), done(2), begun(3))


def test_transactions_after_a_failed_one_are_not_written(database: Database) -> None:
    cache = WriteCache()
    on(database, START, cache, begun(1)).wait()
    before = Checkpoint(1, 1, 0)
    # Neo4j takes no number as large as this.
    second = on(database, before, cache, done(1), after=Checkpoint(2, 2**70, 0))
    with pytest.raises(CheckpointMovedError):
        on(database, Checkpoint(2, 2**70, 0), cache, begun(2))
    with pytest.raises((QueryError, OverflowError)):
        second.wait()
    assert cache.next_revision() is None, "what was learnt was never written"
    assert read_checkpoint(database, SPOOL) == before
    graph = canonical(database)
    assert graph == at_once(database, begun(1))


def test_another_writer_writes_between_two_transactions(database: Database) -> None:
    """What is remembered of run 1 does not hold any more, and is not built upon."""
    cache = WriteCache()
    on(database, START, cache, begun(1)).wait()
    own = Checkpoint(1, 1, 0)
    other = fold([parse(json.dumps(done(1)).encode(), received=0)])
    write(database, WriteRequest(other, spool="b", before=START, after=own, holder="b"))
    on(database, own, cache, begun(2)).wait()
    graph = canonical(database)
    assert graph == at_once(database, begun(1), done(1), begun(2))


def test_a_run_is_evicted_during_its_commit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "RUNS_MAX", 1)
    cache = WriteCache()
    on(database, START, cache, begun(1), begun(2)).wait()
    second = on(database, Checkpoint(2, 2, 0), cache, done(1), begun(3), begun(4))
    third = on(
        database,
        second.after,
        cache,
        done(2),
        done(3),
        run_event("run-1", "OTHER", 18, outputs=["late"]),
    )
    second.wait()
    third.wait()
    assert len(cache.runs) > 1, "cut back when the next begins"
    graph = canonical(database)
    late = run_event("run-1", "OTHER", 18, outputs=["late"])
    assert graph == at_once(
        database, begun(1), begun(2), done(1), begun(3), begun(4), done(2), done(3), late
    )


class Refusing(Database):
    """Commits nothing in which one job is named, and says so late: as a Neo4j that cannot hold
    it.
    """

    def begin(self, *, seconds: float = 60.0) -> Any:
        transaction = super().begin(seconds=seconds)
        run = transaction._run

        def refusing(text: str, parameters: dict[str, Any]) -> Any:
            if "etl:poison" in json.dumps(parameters, default=str):
                raise QueryError("this cannot be held")
            return run(text, parameters)

        transaction._run = refusing  # type: ignore[method-assign]
        return transaction


def test_a_worker_dead_letters_a_failed_batch_after_the_next_is_sent(
    database: Database, neo4j_server: Any, tmp_path: Path
) -> None:
    events = [event for number in range(12) for event in (begun(number), done(number))]
    poison = run_event("poison", "COMPLETE", 200, job="poison", inputs=["raw"])
    told_off = [*events[:10], poison, *events[10:]]
    with (
        closing(Spool(tmp_path / "spool")) as spool,
        closing(Refusing(neo4j_server.uri, neo4j_server.user, neo4j_server.password)) as refusing,
    ):
        spool.append([json.dumps(event).encode() for event in told_off], received=1)
        seen: list[int] = []
        worker = Worker(
            refusing,
            spool,
            events_max=4,
            on_commit=lambda folded: seen.append(len(folded.received)),
        )
        worker.run(until_done=True)
        checkpoint = read_checkpoint(database, spool.id)
        assert checkpoint == Checkpoint(len(told_off), len(events), 1)
        assert [dead.seq for dead in spool.dead_letters()] == [11]
        assert sum(seen) == len(told_off)
    graph = canonical(database)
    assert graph == at_once(database, *events)
