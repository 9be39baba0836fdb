"""The write cache saves reads, and is cleared when another writer wrote."""

from __future__ import annotations

import json
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Transaction
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.fold import fold
from headwater.ingest.write import cache as cache_module
from headwater.ingest.write.cache import Bounded, CachedEdge, WriteCache
from headwater.ingest.write.transaction import Checkpoint, CheckpointMovedError, WriteRequest, write
from headwater.schema.events import parse
from headwater.schema.facts import DatasetFacts, JobFacts, Name, Span
from tests.canonical import canonical, empty
from tests.event_builders import edge, run_event, write_batch
from tests.run_builders import SPOOL


def test_the_oldest_entries_are_evicted_first() -> None:
    entries: Bounded[str, int] = Bounded(2)
    for name in "abc":
        entries[name] = ord(name)
    entries.trim()
    assert entries == {"b": 98, "c": 99}
    entries.trim()
    assert list(entries) == ["b", "c"]


def test_entries_with_deferred_updates_are_not_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "JOBS_MAX", 1)
    cache = WriteCache()
    cache.jobs.update({"job:a:a": JobFacts(Name("a", "a")), "job:a:b": JobFacts(Name("a", "b"))})
    cache.deferred.jobs["job:a:a"] = 0
    cache.trim()
    assert list(cache.jobs) == ["job:a:a", "job:a:b"]
    assert cache.is_overfull
    cache.deferred.jobs.clear()
    cache.trim()
    assert list(cache.jobs) == ["job:a:b"]


def test_a_cache_is_valid_for_successive_revisions_until_it_is_cleared() -> None:
    cache = WriteCache()
    assert cache.next_revision() is None
    cache.restart(7)
    assert cache.follows_graph
    assert (cache.next_revision(), cache.next_revision()) == (8, 9)
    cache.clear()
    assert cache.next_revision() is None
    assert not cache.follows_graph
    # Later facts of the same transaction are not valid in the next one.
    cache.put_dataset("dataset:a:b", {"dataset:a:b": DatasetFacts(Name("a", "b"))})
    cache.restart(10)
    assert cache.canonical_urn("dataset:a:b") is None


def test_last_reads_of_very_many_datasets_are_cached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache_module, "DATASETS_MAX", 2)
    first, second, third, fourth = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3, 4))
    cache = WriteCache()
    cache.newest_consumer_start = first
    for dataset, start in (("a", second), ("b", third)):
        cache.put_consumer_start(dataset, start)
    assert not cache.may_be_read_since("a", third)
    cache.put_consumer_start("c", second)
    assert cache.may_be_read_since("a", third)
    assert not cache.may_be_read_since("b", fourth)


def test_an_edge_covers_an_observation_that_only_has_a_later_time() -> None:
    edge = CachedEdge("5:x:1", Span(10, 20), {"declared": True})
    assert edge.covers(Span(10, 30), {"declared": True})
    assert edge.covers(None, {})
    assert not edge.covers(Span(9, 9), {})
    assert not edge.covers(Span(10, 10), {"declared": False})
    assert not edge.covers(Span(10, 10), {"assertedByDataset": False})
    assert not edge.extend(Span(10, 20))
    assert edge.extend(Span(25, 25))
    assert edge.span == Span(10, 25)


def night(number: int) -> list[dict[str, Any]]:
    """Return one run of a job that runs every ten minutes."""
    return [
        run_event(f"run-{number}", state, 10 * number + minute, inputs=["raw"], outputs=["mart"])
        for state, minute in (("START", 0), ("COMPLETE", 5))
    ]


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_a_later_run_of_a_job_reads_only_the_existence_of_the_run(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = WriteCache()
    write_batch(database, night(1), cache)
    write_batch(database, night(2), cache)
    queries: list[str] = []
    submit = Transaction.submit

    def listening(
        self: Transaction, name: str, /, **parameters: Any
    ) -> Future[list[dict[str, Any]]]:
        queries.append(name)
        return submit(self, name, **parameters)

    monkeypatch.setattr(Transaction, "submit", listening)
    write_batch(database, night(3), cache)
    # The existence of the run is read outside the transaction.
    assert set(queries) == {
        "write/maintenance/lock_graph",
        "read/state/checkpoint",
        "write/maintenance/save_checkpoint",
        "write/datasets/datasets",
        "write/lineage/jobs",
        "write/lineage/last_seen",
        "write/runs/create_runs",
        "write/versions/create_run_inputs",
    }


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_a_failed_transaction_leaves_nothing_in_the_cache(database: Database) -> None:
    cache = WriteCache()
    write_batch(database, night(1), cache)
    with pytest.raises(CheckpointMovedError):
        write(
            database,
            WriteRequest(
                fold([parse(json.dumps(event).encode(), received=0) for event in night(2)]),
                spool=SPOOL,
                before=Checkpoint(77, 77, 0),
                after=Checkpoint(79, 79, 0),
                holder="test",
            ),
            cache=cache,
        )
    assert not cache.runs
    assert not cache.jobs
    write_batch(database, night(2), cache)
    remembered = canonical(database)
    empty(database)
    write_batch(database, [*night(1), *night(2)], WriteCache())
    assert canonical(database) == remembered


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_facts_of_another_writer_are_read(database: Database) -> None:
    first, second = WriteCache(), WriteCache()
    write_batch(database, night(1), first)
    write_batch(database, night(2), second)
    write_batch(database, night(3), first)
    both = canonical(database)
    empty(database)
    write_batch(database, [*night(1), *night(2), *night(3)], WriteCache())
    assert canonical(database) == both


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_a_stale_cache_does_not_move_last_seen_backwards(
    database: Database,
) -> None:
    write_batch(database, night(9), WriteCache())
    another = WriteCache()
    write_batch(database, night(1), another)
    write_batch(database, night(5), another)
    assert edge(database, "dataset:db:raw", "FEEDS", "job:etl:j")["lastSeen"] == datetime(
        2026, 1, 1, 1, 35, tzinfo=UTC
    )


@pytest.mark.neo4j
@pytest.mark.usefixtures("clean_graph")
def test_every_transaction_under_the_lock_is_one_revision(database: Database) -> None:
    found = []
    for _ in range(3):
        with database.write() as transaction:
            found.append(acquire_write_lock(transaction, "test"))
    assert found == [found[0], found[0] + 1, found[0] + 2]
