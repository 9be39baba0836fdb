"""The write cache saves reads, and is cleared when another writer wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database, Transaction
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.ingest.fold import fold
from headwater.ingest.write import cache as cache_module
from headwater.ingest.write.cache import (
    RUNS_BYTES_MAX,
    Bounded,
    BoundedByBytes,
    CachedEdge,
    WriteCache,
)
from headwater.ingest.write.transaction import Checkpoint, CheckpointMovedError, WriteRequest, write
from headwater.schema.events import parse
from headwater.schema.facts import DatasetFacts, JobFacts, LwwRegister, Name, RunFacts, Span
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


def test_facts_are_bounded_by_their_bytes() -> None:
    runs: BoundedByBytes[str, RunFacts | None] = BoundedByBytes(1_000, 20_000)
    runs.update({"missing": None})
    empty_bytes = runs.bytes
    for number in range(10):
        runs[f"run:{number}"] = RunFacts(f"{number}", facets={"plan": facet("x" * 5_000)})
    assert runs.is_overfull
    runs.trim()
    assert list(runs) == ["run:7", "run:8", "run:9"], "three of 5.2 kB fit, a fourth does not"
    assert 15_000 < runs.bytes <= 20_000
    runs["run:8"] = RunFacts("8")
    assert 10_000 < runs.bytes < 11_500, "a smaller value replaces the larger one"
    assert runs.take("run:9") == RunFacts("9", facets={"plan": facet("x" * 5_000)})
    assert runs.take("run:9") is None
    del runs["run:7"]
    runs["run:8"] = None
    assert runs.bytes == empty_bytes


def test_a_value_beyond_the_bound_leaves_with_the_next_trim() -> None:
    runs: BoundedByBytes[str, RunFacts] = BoundedByBytes(1_000, 20_000)
    runs["run:large"] = RunFacts("large", facets={"plan": facet("x" * 30_000)})
    assert runs["run:large"].run_id == "large"
    runs.trim()
    assert (len(runs), runs.bytes) == (0, 0)


def facet(text: str) -> LwwRegister:
    return LwwRegister(1, 0, text)


def test_unique_facets_do_not_make_the_memory_grow() -> None:
    """1,200 runs with 160 kB of facets each are parsed, folded, projected and cached."""
    done = subprocess.run(
        [sys.executable, "-c", _UNIQUE_FACETS], check=True, capture_output=True, text=True
    )
    half, whole, cached = map(int, done.stdout.split())
    print(f"{half >> 10} MB after 96 MB of facets, {whole >> 10} MB after 192 MB")
    assert cached <= 2 * RUNS_BYTES_MAX
    assert whole - half < 40 * 1024, "packed facts keep no more room than they need"


_UNIQUE_FACETS = """
import json
from pathlib import Path
from headwater.ingest.fold import fold
from headwater.ingest.project import run_view
from headwater.ingest.write.cache import WriteCache
from headwater.schema.events import parse

cache = WriteCache()

def feed(first):
    for number in range(first, first + 600):
        facet = {"_producer": "p", "_schemaURL": "s", "text": f"{number:06} " * 570}
        event = {
            "eventTime": "2026-01-01T00:00:00Z", "eventType": "COMPLETE", "producer": "p",
            "run": {"runId": f"r{number}", "facets": {f"my_{i}": facet for i in range(40)}},
            "job": {"namespace": "n", "name": "j"},
        }
        for urn, facts in fold([parse(json.dumps(event).encode(), received=1)]).runs.items():
            cache.runs[urn] = facts
            cache.run_views[urn] = run_view(facts, {})
        if number % 20 == 0:
            cache.trim()
    cache.trim()
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

print(feed(0), feed(600), cache.runs.bytes + cache.run_views.bytes)
"""
