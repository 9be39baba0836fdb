"""One Neo4j transaction for a GraphDelta and a checkpoint.

The transaction takes the write lock, runs the stages of `headwater.ingest.write.stages` and saves
the checkpoint. So an event takes effect once and never in part, even if a process stops. A commit
without an answer may have happened: the next attempt reads the checkpoint.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

import msgspec

from headwater.cypher.driver.database import (
    READ_SECONDS_MAX,
    WRITE_SECONDS_MAX,
    Database,
    Transaction,
)
from headwater.cypher.driver.write_lock import wait_for_write_lock
from headwater.errors import HeadwaterError
from headwater.ingest.producer_stats import ProducerStats
from headwater.ingest.producer_stats_writer import write_producer_stats
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.context import WriteContext
from headwater.ingest.write.last_seen import write_last_seen
from headwater.ingest.write.rows import decode_facts
from headwater.ingest.write.stages import write_delta
from headwater.schema.delta import GraphDelta
from headwater.schema.facts import RunFacts
from headwater.schema.naming import Naming, load_naming


class Checkpoint(msgspec.Struct, frozen=True):
    """How far a spool is folded, in events: position = folded + dead.

    `settled` is the position up to which the graph has all last-seen times. None means that no
    last-seen update is deferred, so that position is `position`.
    `received` is the time of receipt of the event at `position`, in microseconds since 1970; None
    if a pipeline moved the checkpoint to an event that has no receipt.
    """

    position: int = 0
    folded: int = 0
    dead: int = 0
    settled: int | None = None
    received: int | None = None

    @property
    def complete_position(self) -> int:
        """Return the position up to which the worker never reads an event again."""
        return self.position if self.settled is None else self.settled


class CheckpointMovedError(HeadwaterError):
    """Another worker folded this spool further. Nothing was written: read the checkpoint again."""


@dataclass(frozen=True)
class WriteRequest:
    """A delta to write, and the move of the checkpoint of `spool` from `before` to `after`.

    `naming` must be the one by which the delta was folded (default: the installed rules).
    `producer_stats` are added with the same checkpoint. Last-seen updates that were first deferred
    at or after the position `defer_before` may stay in the cache; None writes all of them.
    `refold`: the delta repeats the events from `before` to `after`, whose deferred updates were
    lost. The graph may have everything else of these events, so they are not counted again.
    `seconds_max` is the time limit of the transaction.
    `graph` is the id of the graph that has the earlier parts of this work; None if it has none.
    """

    delta: GraphDelta
    spool: str
    before: Checkpoint
    after: Checkpoint
    holder: str
    naming: Naming | None = None
    producer_stats: ProducerStats | None = None
    defer_before: int | None = None
    refold: bool = False
    seconds_max: float = WRITE_SECONDS_MAX
    graph: str | None = None


class PendingCommit:
    """A transaction that is sent completely; only Neo4j still works on it."""

    def __init__(self, after: Checkpoint, committed: Future[float], cache: WriteCache) -> None:
        self.after = after
        self._committed = committed
        self._cache = cache

    def wait(self) -> float:
        """Wait for the commit and return its time, in seconds since 1970.

        Raises the errors of `write`.
        """
        try:
            return self._committed.result()
        except BaseException:
            # The cached entries were not committed, or the commit is unknown.
            self._cache.clear()
            raise


class _OtherWriterError(Exception):
    """Another writer wrote since: the cache is stale, and nothing was written."""


def read_checkpoint(
    database: Database, spool: str, *, seconds: float = READ_SECONDS_MAX
) -> Checkpoint:
    """Return the checkpoint of a spool; the start if the graph has none."""
    rows = database.read("read/state/checkpoint", seconds=seconds, spool=spool)
    return Checkpoint(**rows[0]) if rows else Checkpoint()


def write(
    database: Database, request: WriteRequest, *, cache: WriteCache | None = None
) -> Checkpoint:
    """Write a delta and move the checkpoint, both or neither. Return the new checkpoint.

    `cache` saves reads and writes of entities from earlier deltas, and takes those of this one.

    Raises CheckpointMovedError, UnavailableError (try again) or QueryError (the delta cannot be
    written).
    """
    pending = send(database, request, cache if cache is not None else WriteCache())
    pending.wait()
    return pending.after


def send(database: Database, request: WriteRequest, cache: WriteCache) -> PendingCommit:
    """Send the transaction of `write` without waiting for its commit.

    The caller may then send the next delta with the same cache. Neo4j commits that delta only if it
    commits this one.

    Raises the errors of `write`.
    """
    try:
        return _send(database, request, cache)
    except _OtherWriterError:
        return _send(database, request, cache)


def _send(database: Database, request: WriteRequest, cache: WriteCache) -> PendingCommit:
    transaction = database.begin(seconds=request.seconds_max)
    try:
        start = _OpeningStatements(transaction, request)
        expected = cache.next_revision()
        if expected is None:
            cache.restart(start.revision())
        else:
            # Inside the transaction this read would wait for the end of the transaction before.
            _cache_runs(database, request.delta, cache)
        cache.trim()
        cache.position = request.before.position
        try:
            after = _write(transaction, request, cache)
        finally:
            # If the cache was stale, any error above may come from that and not from the delta.
            if expected is not None and start.revision() != expected:
                raise _OtherWriterError
    except BaseException:
        cache.clear()
        transaction.roll_back()
        raise
    return PendingCommit(after, transaction.commit(), cache)


def _write(transaction: Transaction, request: WriteRequest, cache: WriteCache) -> Checkpoint:
    """Run all statements of a request. Return the checkpoint that is saved with them."""
    if request.before.settled is not None and not cache.has_deferred and not request.refold:
        raise CheckpointMovedError("another writer wrote, and the deferred updates are lost")
    write_producer_stats(transaction, request.producer_stats or ProducerStats())
    naming = request.naming if request.naming is not None else load_naming()
    write_delta(WriteContext(transaction, cache, naming, request.delta, request.refold))
    may_defer = cache.follows_graph and not cache.is_overfull
    write_last_seen(transaction, cache, before=request.defer_before if may_defer else None)
    after = request.after
    if cache.has_deferred:
        after = msgspec.structs.replace(after, settled=cache.deferred_from)
    transaction.run(
        "write/maintenance/save_checkpoint", spool=request.spool, **msgspec.structs.asdict(after)
    )
    return after


class _OpeningStatements:
    """The first statements of a write transaction: take the write lock and read the checkpoint.

    Neo4j runs them when the transaction before has ended. Only `revision` waits for their results.
    """

    def __init__(self, transaction: Transaction, request: WriteRequest) -> None:
        self._before, self._graph = request.before, request.graph
        self._locked = transaction.submit("write/maintenance/lock_graph", holder=request.holder)
        self._checkpoint = transaction.submit("read/state/checkpoint", spool=request.spool)

    def revision(self) -> int:
        """Return the revision of the graph that this transaction makes.

        Raises CheckpointMovedError, GraphErasedError or UnavailableError.
        """
        revision = wait_for_write_lock(self._locked, graph=self._graph)
        rows = self._checkpoint.result()
        if (Checkpoint(**rows[0]) if rows else Checkpoint()) != self._before:
            raise CheckpointMovedError("another worker has folded this spool further")
        return revision


def _cache_runs(database: Database, delta: GraphDelta, cache: WriteCache) -> None:
    """Read the facts of runs that are not cached.

    They stay true as long as the cache does: it has all that the last transaction wrote, even if
    that is not committed yet.
    """
    unknown = sorted(urn for urn in delta.runs if urn not in cache.runs)
    rows = database.read("read/write_path/facts_of_runs", urns=unknown) if unknown else []
    cache.runs.update(dict.fromkeys(unknown))
    cache.runs.update(
        (row["urn"], decode_facts(row["facts"], RunFacts)) for row in rows if row["facts"]
    )
