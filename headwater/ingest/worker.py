"""The worker: it folds the spool batch by batch, each in one transaction with the checkpoint.

While single events keep coming, it gathers them for a moment (`headwater.ingest.gather`). A large
event is a batch of its own (`headwater.ingest.batches`).

Failures and their handling:

- Neo4j is unreachable, slow or restarting, or the spool fails or is salvaged: wait (0.1 s, doubling
  to 5 s, with jitter) and try again with half as many events, since the batch may have exceeded the
  time limit of a transaction. Successful batches soon restore the batch size.
- A transaction times out although Neo4j writes: halve its batch, and set an event aside that times
  out alone (`headwater.ingest.slow_events`).
- An event cannot be folded, or Neo4j refuses its facts: halve the batch until that event is alone,
  dead-letter it with the reason, and fold the others.
- A run has no event for too long: mark it as abandoned until its next event.
- An earlier worker dead-lettered an event, and this graph is built again: try it like any other. If
  it folds now, it is no dead letter any longer.
- The spool is older than the graph: fold nothing until an operator decides
  (`headwater.ingest.continuity`).
- The worker is killed: the next one reads the checkpoint, which was saved with the last batch or
  not at all. It folds the events with deferred last-seen updates once more from the spool.
- Two workers run: the write lock and the checkpoint make one of them start its batch again.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import is_fold_query, warm_up
from headwater.cypher.driver.write_lock import acquire_write_lock
from headwater.cypher.migrate import migrate
from headwater.errors import HeadwaterError, SpoolFullError, TimedOutError, UnavailableError
from headwater.ingest.batches import Batch, ParsedRecord, fold_batch, next_batch, parse_record
from headwater.ingest.continuity import check_continuity
from headwater.ingest.gather import SpoolObservation, observe, should_gather
from headwater.ingest.slow_events import SlowEvents
from headwater.ingest.spool.spool import Spool
from headwater.ingest.time_limits import DEFAULTS, TimeLimits
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.containment import abandon_lost_heartbeats
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    PendingCommit,
    WriteRequest,
    read_checkpoint,
    send,
    write,
)
from headwater.ingest.write.undated_events import read_future_instants
from headwater.schema.delta import GraphDelta
from headwater.schema.naming import Naming, load_naming

BATCH_BYTES_MAX = 32 * 2**20
# The interval at which the worker looks for further events.
POLL_SECONDS = 0.02
BACKOFF_SECONDS_MIN = 0.1
BACKOFF_SECONDS_MAX = 5.0
REASON_LENGTH_MAX = 1_000
SKIPPED = "skipped by an operator"
# The time limit of a transaction that only finds out whether Neo4j writes.
PROBE_SECONDS_MAX = 10.0
# The interval at which the worker looks for runs without a heartbeat.
SWEEP_SECONDS = 60.0
# Last-seen updates are deferred for at most this time and this number of events.
DEFER_SECONDS_MAX = 10.0
DEFER_EVENTS_MAX = 30_000

# Errors after which the same batch is tried again.
_RETRIABLE = (UnavailableError, SpoolFullError, CheckpointMovedError)

log = logging.getLogger("headwater.worker")


class CommitReport(msgspec.Struct, frozen=True):
    """The result of one committed transaction.

    received: the times of receipt of its events, in microseconds since 1970.
    dead: the number of events that were dead-lettered.
    seconds: the duration from the start of folding to the commit.
    committed_at: the time of the commit, in seconds since 1970.
    """

    received: tuple[int, ...]
    dead: int
    seconds: float
    committed_at: float


class _PendingBatch(NamedTuple):
    """A batch that Neo4j has not committed yet, with the checkpoint before it.

    `started` is in seconds since 1970.
    """

    batch: Batch
    before: Checkpoint
    transaction: PendingCommit
    started: float


class Worker:
    """The process that folds one spool into one graph.

    `run` returns once `stop` is set. `on_commit` gets a report of every commit. Up to
    `max_in_flight` transactions await their commit while the worker prepares the next.
    """

    def __init__(
        self,
        database: Database,
        spool: Spool,
        *,
        events_max: int = 1_000,
        max_in_flight: int = 1,
        naming: Naming | None = None,
        limits: TimeLimits = DEFAULTS,
        on_commit: Callable[[CommitReport], object] = lambda _: None,
    ) -> None:
        self._database = database
        self._spool = spool
        self._events_max = events_max
        self.batch_events = events_max
        self._max_in_flight = max_in_flight
        self._naming = naming or load_naming()
        self._limits = limits
        self._next_sweep = 0.0
        self._on_commit = on_commit
        self._holder = f"worker {os.getpid()}@{socket.gethostname()}"
        self._checkpoint: Checkpoint | None = None
        self._observed = SpoolObservation()
        self._cache = WriteCache()
        # The start times of the recent batches, with the positions before them.
        self._batch_starts: deque[tuple[float, int]] = deque()
        self._slow = SlowEvents(limits.slow_event_seconds)
        # The seqs of the batch that failed last.
        self._failed: list[int] = []
        # The events after the checkpoint that an earlier worker dead-lettered, and the folded ones.
        self._earlier_dead, self._folded_dead = set[int](), set[int]()
        # The times of events that were dated in the future when they came.
        self._future_instants: set[int] = set()
        self._needs_warm_up = False
        self._pending: deque[_PendingBatch] = deque()
        self.stop = threading.Event()

    def run(self, *, until_done: bool = False) -> None:
        """Fold until `stop` is set; with `until_done`, until every received event is folded.

        Return only between transactions.
        """
        log.info("worker_started spool=%s graph=%s", self._spool.path, self._database.uri)
        self._needs_warm_up = True
        try:
            self._run(until_done=until_done)
        finally:
            self._finish()

    def _run(self, *, until_done: bool) -> None:
        failures = 0
        while not self.stop.is_set():
            try:
                if not self.step(gather=not until_done):
                    if until_done:
                        return
                    self.stop.wait(POLL_SECONDS)
                # All runs of a rebuilt history lack recent heartbeats.
                if not until_done:
                    self._sweep()
                failures = 0
                self.batch_events = min(self.batch_events * 8, self._events_max)
            except (UnavailableError, SpoolFullError) as error:
                failures += 1
                self._forget_checkpoint()  # an interrupted commit may have happened
                failed, self._failed = self._failed, []
                if isinstance(error, TimedOutError) and failed and self._can_write():
                    self._slow.add(failed)
                    continue
                self.batch_events = max(self.batch_events // 2, 1)
                pause = min(BACKOFF_SECONDS_MIN * 2 ** min(failures, 10), BACKOFF_SECONDS_MAX)
                log.warning("waiting_to_retry seconds_max=%.1f error=%s", pause, error.message)
                self.stop.wait(random.uniform(pause / 2, pause))

    def step(self, *, gather: bool = False) -> int:
        """Fold the next batch; return its number of events.

        With `gather`, return 0 if the worker should wait for further events first.
        Raises UnavailableError or SpoolFullError.
        """
        try:
            if self._checkpoint is None:
                self._checkpoint = self._start()
            if gather and self._should_gather(self._checkpoint.position):
                self._await_pending()
                return 0
            batch = self._read_batch(self._checkpoint.position)
            if batch.records:
                self._write_batch(batch)
            else:
                self._await_pending()
                self._write_deferred()
            self._revive()
            return len(batch.records)
        except CheckpointMovedError as error:
            log.warning("batch_restarted error=%s", error.message)
            self._forget_checkpoint()
            self._failed = []
            return 1

    def _should_gather(self, position: int) -> bool:
        """Return True if the events after a position should wait for further ones."""
        self._observed = observe(
            self._observed, at=time.monotonic(), newest=self._spool.last(), position=position
        )
        return should_gather(self._observed, batch_events=self.batch_events)

    def _forget_checkpoint(self) -> None:
        """Drop the checkpoint, which may be wrong, and wait for pending transactions to end."""
        self._checkpoint = None
        while self._pending:
            with suppress(Exception):
                self._pending.popleft().transaction.wait()

    def _start(self) -> Checkpoint:
        """Prepare the graph; return the checkpoint from which to fold."""
        applied = migrate(self._database)
        if applied:
            log.info("migrations_applied names=%s", ",".join(applied))
        checkpoint = read_checkpoint(self._database, self._spool.id)
        check_continuity(self._spool, checkpoint)
        if self._needs_warm_up:
            # Waiting events need few of the statements, and need them now.
            warm_up(self._database, is_fold_query, stop=lambda: self._has_work(checkpoint))
            self._needs_warm_up = False
        self._cache = WriteCache()  # the graph may be another one than before
        self._earlier_dead = self._spool.dead_after(checkpoint.position)
        self._future_instants = read_future_instants(self._database)
        return self._refold_deferred(checkpoint)

    def _refold_deferred(self, checkpoint: Checkpoint) -> Checkpoint:
        """Fold the events whose last-seen updates were deferred and lost, without counting them."""
        skipped, size = self._spool.dead_after(checkpoint.complete_position), self.batch_events
        while (done := checkpoint.settled) is not None:
            read = self._spool.read(done, events_max=size, bytes_max=BATCH_BYTES_MAX)
            records = [record for record in read if record.seq <= checkpoint.position]
            last = records[-1].seq if records else checkpoint.position
            try:
                batch = self._fold(
                    [parse_record(record) for record in records if record.seq not in skipped]
                )
                if batch.error is not None:
                    raise batch.error
                checkpoint = self._save_deferred(checkpoint, last, batch.delta)
            except _RETRIABLE:
                raise
            except Exception:  # any event may break it; the others must still be folded
                size = max(len(records) // 2, 1)
                if len(records) <= 1:
                    log.exception("last_seen_lost seq=%s", last)
                    skipped.add(last)
        return checkpoint

    def _write_deferred(self) -> None:
        """Write the deferred last-seen updates.

        Raises UnavailableError or CheckpointMovedError.
        """
        before = self._checkpoint
        if before is not None and before.settled is not None:
            self._checkpoint = self._save_deferred(before, before.position)

    def _save_deferred(
        self, before: Checkpoint, position: int, delta: GraphDelta | None = None
    ) -> Checkpoint:
        """Write the deferred updates of the events up to `position`; return the new checkpoint.

        The updates come from the write cache, or from `delta` if the cache has lost them.
        """
        return write(
            self._database,
            WriteRequest(
                delta or GraphDelta(),
                spool=self._spool.id,
                before=before,
                after=msgspec.structs.replace(
                    before, settled=position if position < before.position else None
                ),
                holder=self._holder,
                naming=self._naming,
                refold=delta is not None,
            ),
            cache=self._cache,
        )

    def _finish(self) -> None:
        try:
            self._await_pending()
            self._write_deferred()
        except HeadwaterError as error:
            log.warning("deferred_updates_left error=%s", error.message)

    def _defer_before(self, batch: Batch, before: Checkpoint) -> int | None:
        """Return the position after which last-seen updates may be deferred, or None.

        Updates are deferred only while further events wait.
        """
        last, now = batch.records[-1].record.seq, time.monotonic()
        if self.stop.is_set() or self._spool.last() <= last:
            return None
        self._batch_starts.append((now, before.position))
        while self._batch_starts[0][0] < now - DEFER_SECONDS_MAX:
            self._batch_starts.popleft()
        return max(self._batch_starts[0][1], last - DEFER_EVENTS_MAX)

    def _has_work(self, checkpoint: Checkpoint) -> bool:
        """Return True if an event waits, or the worker must stop."""
        return self.stop.is_set() or self._spool.last() > checkpoint.position

    def _read_batch(self, position: int) -> Batch:
        """Read and fold the events after a position. Raises SpoolFullError."""
        read = self._spool.read(position, events_max=self.batch_events, bytes_max=BATCH_BYTES_MAX)
        records = self._slow.next_part(next_batch(read))
        last = records[-1].seq if records else position
        skipped = self._spool.skipped_between(position + 1, last)
        parsed = [
            ParsedRecord(record, None, SKIPPED) if record.seq in skipped else parse_record(record)
            for record in records
        ]
        if damaged := [record for record in records if not record.intact]:
            count, first = sum(record.count for record in damaged), damaged[0].first
            log.error("events_damaged count=%d first=%d last=%d", count, first, damaged[-1].seq)
        if len(parsed) == 1 and (reason := self._slow.dead_reason(parsed[0].record.seq)):
            log.error("event_set_aside seq=%d reason=%s", parsed[0].record.seq, reason)
            parsed = [ParsedRecord(parsed[0].record, None, reason)]
        return self._fold(parsed)

    def _can_write(self) -> bool:
        """Return True if Neo4j commits a small transaction now."""
        try:
            with self._database.write(seconds=PROBE_SECONDS_MAX) as transaction:
                acquire_write_lock(transaction, self._holder)
        except HeadwaterError:
            return False
        return True

    def _fold(self, records: list[ParsedRecord]) -> Batch:
        batch = fold_batch(
            records,
            self._naming,
            future_seconds=self._limits.future_seconds,
            future_instants=self._future_instants,
        )
        for event in batch.delta.undated.values():
            if event.event_instant is not None:
                self._future_instants.add(event.event_instant)
        return batch

    def _write_batch(self, batch: Batch) -> None:
        """Send a batch while Neo4j commits earlier ones, then wait for the earliest of those."""
        try:
            self._pending.append(self._send(batch))
        except Exception as error:  # any event may break it; the others must still be folded
            if self._await_pending():
                self._write_halves(batch, error)
        else:
            # The time limit of a part must not include that of the transaction before it.
            self._await_pending(leaving=0 if self._slow.has_parts else self._max_in_flight)

    def _await_pending(self, *, leaving: int = 0) -> bool:
        """Wait for pending batches until at most `leaving` remain.

        Return False if a batch could not be written in one piece: its parts are then written, and
        the batches sent after it are not.
        """
        while len(self._pending) > leaving:
            pending = self._pending[0]
            try:
                committed_at = pending.transaction.wait()
            except _RETRIABLE:
                self._failed = [parsed.record.seq for parsed in pending.batch.records]
                raise
            except Exception as error:  # as above
                self._forget_checkpoint()
                self._checkpoint = pending.before
                self._write_halves(pending.batch, error)
                return False
            self._pending.popleft()
            self._report(pending, committed_at)
        return True

    def _write_halves(self, batch: Batch, error: Exception) -> None:
        """Write the halves of a failed batch; dead-letter an event that fails alone."""
        records = batch.records
        if isinstance(error, _RETRIABLE) or (records[0].event is None and len(records) == 1):
            self._failed = [parsed.record.seq for parsed in records]
            raise error
        if len(records) > 1:
            middle = len(records) // 2
            self._write_now(self._fold(records[:middle]))
            self._write_now(self._fold(records[middle:]))
            return
        record = records[0].record
        log.error("event_dead_lettered seq=%s", record.seq, exc_info=error)
        reason = f"{type(error).__name__}: {error}"
        self._write_now(self._fold([ParsedRecord(record, None, reason)]))

    def _write_now(self, batch: Batch) -> None:
        """Write a batch and wait for its commit."""
        before = self._checkpoint
        try:
            pending = self._send(batch)
            committed_at = pending.transaction.wait()
        except Exception as error:  # as above
            self._checkpoint = before
            self._write_halves(batch, error)
        else:
            self._report(pending, committed_at)

    def _send(self, batch: Batch) -> _PendingBatch:
        if batch.error is not None:
            raise batch.error
        assert self._checkpoint is not None
        started, before, records = time.time(), self._checkpoint, batch.records
        dead = batch.dead
        if dead:
            self._spool.dead_letter((seq, reason[:REASON_LENGTH_MAX]) for seq, reason in dead)
        after = Checkpoint(
            position=records[-1].record.seq,
            folded=before.folded + len(records) - len(dead),
            dead=before.dead + len(dead),
            received=records[-1].record.received,
        )
        transaction = send(
            self._database,
            WriteRequest(
                batch.delta,
                spool=self._spool.id,
                before=before,
                after=after,
                holder=self._holder,
                naming=self._naming,
                producer_stats=batch.producer_stats,
                defer_before=self._defer_before(batch, before),
                seconds_max=self._slow.seconds_max([parsed.record.seq for parsed in records]),
            ),
            self._cache,
        )
        self._checkpoint = transaction.after
        return _PendingBatch(batch, before, transaction, started)

    def _report(self, pending: _PendingBatch, committed_at: float) -> None:
        """Report a commit, and collect its events that were dead letters before."""
        records = pending.batch.records
        folded = {parsed.record.seq for parsed in records if parsed.event is not None}
        self._folded_dead |= folded & self._earlier_dead
        report = CommitReport(
            received=tuple(parsed.record.received for parsed in records),
            dead=len(pending.batch.dead),
            seconds=max(committed_at - pending.started, 0.0),
            committed_at=committed_at,
        )
        self._slow.remove([parsed.record.seq for parsed in records], report.seconds)
        try:
            self._on_commit(report)
        except Exception:  # the batch is committed and must not be folded again
            log.exception("commit_report_failed")

    def _revive(self) -> None:
        if self._folded_dead:
            self._spool.revive(self._folded_dead)
            log.info("dead_letters_revived count=%d", len(self._folded_dead))
            self._folded_dead.clear()

    def _sweep(self) -> None:
        """Mark the runs without a recent heartbeat as abandoned, once a minute."""
        if time.monotonic() < self._next_sweep:
            return
        self._next_sweep = time.monotonic() + SWEEP_SECONDS
        seconds = self._limits.heartbeat_timeout_seconds
        abandoned = abandon_lost_heartbeats(
            self._database,
            now=datetime.now(UTC),
            heartbeat_timeout_seconds=seconds,
            holder=self._holder,
        )
        if abandoned:
            log.info("runs_abandoned count=%d seconds=%d", abandoned, seconds)
