"""The worker: spool -> fold -> one transaction -> checkpoint, for ever.

What may go wrong, and what happens then:

- Neo4j is away, slow or restarting, or the spool's disk fails: wait (0.1 s, doubling to 5 s, with jitter) and try
  again with half as many events, since it may be that there were too many for the time a transaction has. Batches
  that go well soon make them as many again.
- An event cannot be folded, or Neo4j refuses what it says: the batch is halved until that event is alone, then it is
  set aside with the reason, and its neighbours go on.
- Nothing is heard of a run for too long: it is marked as abandoned, until there is news of it.
- An event was set aside by an earlier worker, and this graph is made anew: it is tried like any other, and is dead no
  longer when it can be folded now.
- The worker is killed: the next one reads the checkpoint, which was saved with the last batch or not at all. What was
  put off while events waited, when things were last seen, it folds once more from the spool.
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
from headwater.cypher.driver.warmup import folds, warm
from headwater.cypher.migrate import migrate
from headwater.errors import HeadwaterError, SpoolFullError, UnavailableError
from headwater.ingest.batches import Batch, Judged, batch_of, judge
from headwater.ingest.fold import fold
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.containment import sweep
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    Sent,
    read_checkpoint,
    send,
    write,
)
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import Naming, load_naming

BATCH_BYTES_MAX = 32 * 2**20
POLL_SECONDS = 0.05
BACKOFF_SECONDS_MIN = 0.1
BACKOFF_SECONDS_MAX = 5.0
REASON_LENGTH_MAX = 1_000
# How often runs that have fallen silent are looked for.
SWEEP_SECONDS = 60.0
# For how long, and for how many events, it may be put off to tell the graph what was only seen again.
LATER_SECONDS_MAX = 10.0
LATER_EVENTS_MAX = 30_000

# What is tried again as it is.
_PASSING = (UnavailableError, SpoolFullError, CheckpointMovedError)

log = logging.getLogger("headwater.worker")


class Folded(msgspec.Struct, frozen=True):
    """What one committed transaction did: when its events were received (microseconds since 1970), how many were set
    aside, how long it took (seconds), and when it was committed (seconds since 1970)."""

    received: tuple[int, ...]
    dead: int
    seconds: float
    at: float


class Worker:
    """Folds one spool into one graph. `run` until `stop` is set; `on_folded` hears of every commit.

    Up to `ahead` transactions are on their way to being committed while the next is worked out.
    """

    def __init__(
        self,
        database: Database,
        spool: Spool,
        *,
        events_max: int = 1_000,
        ahead: int = 1,
        naming: Naming | None = None,
        future_tolerance_seconds: int = 60,
        heartbeat_timeout_seconds: int = 86_400,
        on_folded: Callable[[Folded], object] = id,
    ) -> None:
        self._database = database
        self._spool = spool
        self._events_max = events_max
        self.events_at_once = events_max
        self._ahead = ahead
        self._naming = naming or load_naming()
        self._future_tolerance_seconds = future_tolerance_seconds
        self._heartbeat_timeout_seconds = heartbeat_timeout_seconds
        self._sweep_at = 0.0
        self._on_folded = on_folded
        self._holder = f"worker {os.getpid()}@{socket.gethostname()}"
        self._checkpoint: Checkpoint | None = None
        self._memory = Memory()
        # When the last batches were begun, and behind which position.
        self._begun: deque[tuple[float, int]] = deque()
        self._dead_before: set[int] = set()
        self._cold = False
        # What Neo4j has not committed yet, while what comes after it is worked out.
        self._on_the_way: deque[_Sent] = deque()
        self.stop = threading.Event()

    def run(self, *, until_done: bool = False) -> None:
        """Fold until told to stop, or until all that was received is folded. Ends only between transactions."""
        log.info("folding %s into %s", self._spool.path, self._database.uri)
        self._cold = True
        try:
            self._run(until_done=until_done)
        finally:
            self._settle_at_the_end()

    def _run(self, *, until_done: bool) -> None:
        failures = 0
        while not self.stop.is_set():
            try:
                if not self.step():
                    if until_done:
                        return
                    self.stop.wait(POLL_SECONDS)
                # Of a history that is folded anew, nothing was heard for long.
                if not until_done:
                    self._sweep()
                failures = 0
                self.events_at_once = min(self.events_at_once * 8, self._events_max)
            except (UnavailableError, SpoolFullError) as error:
                failures += 1
                self._forget()  # an interrupted commit may have happened
                self.events_at_once = max(self.events_at_once // 2, 1)
                pause = min(BACKOFF_SECONDS_MIN * 2 ** min(failures, 10), BACKOFF_SECONDS_MAX)
                log.warning("waiting up to %.1f s: %s", pause, error.message)
                self.stop.wait(random.uniform(pause / 2, pause))

    def step(self) -> int:
        """Fold the next batch; returns how many events it took. Raises UnavailableError or SpoolFullError."""
        try:
            if self._checkpoint is None:
                self._checkpoint = self._begin()
            batch = self._read(self._checkpoint.position, self.events_at_once)
            if batch.judged:
                self._fold(batch)
            else:
                self._finish()
                self._settle()
            return len(batch.judged)
        except CheckpointMovedError as error:
            log.warning("beginning again: %s", error.message)
            self._forget()
            return 1

    def _forget(self) -> None:
        """How far the graph is, is not known any more. What is on its way is waited for, however it ends."""
        self._checkpoint = None
        while self._on_the_way:
            with suppress(Exception):
                self._on_the_way.popleft().transaction.wait()

    def _begin(self) -> Checkpoint:
        applied = migrate(self._database)
        if applied:
            log.info("applied %s", ", ".join(applied))
        checkpoint = self._where_to_go_on()
        if self._cold:
            # Events that wait need few of the statements, and need them now.
            warm(self._database, folds, stop=lambda: self._has_work(checkpoint))
            self._cold = False
        self._memory = Memory()  # it may be another graph than before
        self._dead_before = self._spool.dead_after(checkpoint.position)
        return self._caught_up(checkpoint)

    def _caught_up(self, checkpoint: Checkpoint) -> Checkpoint:
        """Fold once more, without counting them, the events of which a part was put off and forgotten."""
        passed_over, size = self._spool.dead_after(checkpoint.whole), self.events_at_once
        while (done := checkpoint.settled) is not None:
            some = self._spool.read(done, events_max=size, bytes_max=BATCH_BYTES_MAX)
            records = [record for record in some if record.seq <= checkpoint.position]
            last = records[-1].seq if records else checkpoint.position
            events = (judge(record).event for record in records if record.seq not in passed_over)
            try:
                delta = fold((event for event in events if event is not None), self._naming)
                checkpoint = self._settled(checkpoint, last, delta)
            except _PASSING:
                raise
            except Exception:  # whatever an event breaks must not stop the others
                size = max(len(records) // 2, 1)
                if len(records) <= 1:
                    log.exception("when what event %s tells of was seen is not known", last)
                    passed_over.add(last)
        return checkpoint

    def _settle(self) -> None:
        """Write what was put off, if anything was. Raises UnavailableError or CheckpointMovedError."""
        before = self._checkpoint
        if before is not None and before.settled is not None:
            self._checkpoint = self._settled(before, before.position)

    def _settled(
        self, before: Checkpoint, settled: int, delta: GraphDelta | None = None
    ) -> Checkpoint:
        """Write what was put off up to some event: what is remembered, or else a delta of it."""
        return write(
            self._database,
            delta or GraphDelta(),
            spool=self._spool.id,
            before=before,
            after=msgspec.structs.replace(
                before, settled=settled if settled < before.position else None
            ),
            holder=self._holder,
            memory=self._memory,
            naming=self._naming,
            again=delta is not None,
        )

    def _settle_at_the_end(self) -> None:
        try:
            self._finish()
            self._settle()
        except HeadwaterError as error:
            log.warning("the next worker folds the last events once more: %s", error.message)

    def _may_wait(self, batch: Batch, before: Checkpoint) -> int | None:
        """The position behind which what is only seen again may wait: while more events do, and for so long."""
        last, now = batch.judged[-1].record.seq, time.monotonic()
        if self.stop.is_set() or self._spool.last() <= last:
            return None
        self._begun.append((now, before.position))
        while self._begun[0][0] < now - LATER_SECONDS_MAX:
            self._begun.popleft()
        return max(self._begun[0][1], last - LATER_EVENTS_MAX)

    def _has_work(self, checkpoint: Checkpoint) -> bool:
        """Whether an event waits, or it is time to end."""
        return self.stop.is_set() or self._spool.last() > checkpoint.position

    def _where_to_go_on(self) -> Checkpoint:
        """The checkpoint. Raises UnavailableError when events after it were cut from the spool: the graph must have
        them first, or it would be one of half the history."""
        checkpoint = read_checkpoint(self._database, self._spool.id)
        gone, lake = self._spool.gone()
        if checkpoint.whole < gone:
            raise UnavailableError(
                f"events {checkpoint.whole + 1} to {gone} of the spool are in the lake only: "
                f"`headwater pipeline backfill {lake}`"
            )
        return checkpoint

    def _read(self, position: int, events_max: int) -> Batch:
        """Read and fold the events after a position. Raises SpoolFullError."""
        records = self._spool.read(position, events_max=events_max, bytes_max=BATCH_BYTES_MAX)
        return self._said([judge(record) for record in records])

    def _said(self, events: list[Judged]) -> Batch:
        return batch_of(
            events, self._naming, future_tolerance_seconds=self._future_tolerance_seconds
        )

    def _fold(self, batch: Batch) -> None:
        """Send a batch while Neo4j commits the one before, and wait for that one then."""
        try:
            self._on_the_way.append(self._send(batch))
        except Exception as error:  # whatever an event breaks must not stop the others
            if self._finish():
                self._fold_apart(batch, error)
        else:
            self._finish(but=self._ahead)

    def _finish(self, *, but: int = 0) -> bool:
        """Wait for what is on its way, but for so many. False when a batch could not be written as it was: then it is
        written, and what was sent after it was not."""
        while len(self._on_the_way) > but:
            sent = self._on_the_way[0]
            try:
                at = sent.transaction.wait()
            except _PASSING:
                raise
            except Exception as error:  # as above
                self._forget()
                self._checkpoint = sent.before
                self._fold_apart(sent.batch, error)
                return False
            self._on_the_way.popleft()
            self._committed(sent, at)
        return True

    def _fold_apart(self, batch: Batch, error: Exception) -> None:
        """Fold half by half what cannot be folded together, and set aside the event that cannot be folded alone."""
        judged = batch.judged
        if isinstance(error, _PASSING) or (judged[0].event is None and len(judged) == 1):
            raise error
        if len(judged) > 1:
            middle = len(judged) // 2
            self._fold_now(self._said(judged[:middle]))
            self._fold_now(self._said(judged[middle:]))
            return
        record = judged[0].record
        log.error("event %s is set aside", record.seq, exc_info=error)
        self._fold_now(self._said([Judged(record, None, f"{type(error).__name__}: {error}")]))

    def _fold_now(self, batch: Batch) -> None:
        before = self._checkpoint
        try:
            sent = self._send(batch)
            at = sent.transaction.wait()
        except Exception as error:  # as above
            self._checkpoint = before
            self._fold_apart(batch, error)
        else:
            self._committed(sent, at)

    def _send(self, batch: Batch) -> _Sent:
        if batch.error is not None:
            raise batch.error
        assert self._checkpoint is not None
        began, before, judged = time.time(), self._checkpoint, batch.judged
        dead = batch.dead
        if dead:
            self._spool.set_aside((seq, reason[:REASON_LENGTH_MAX]) for seq, reason in dead)
        after = Checkpoint(
            position=judged[-1].record.seq,
            folded=before.folded + len(judged) - len(dead),
            dead=before.dead + len(dead),
        )
        transaction = send(
            self._database,
            batch.delta,
            spool=self._spool.id,
            before=before,
            after=after,
            holder=self._holder,
            memory=self._memory,
            naming=self._naming,
            tallies=batch.tallies,
            later=self._may_wait(batch, before),
        )
        self._checkpoint = transaction.after
        return _Sent(batch, before, transaction, began)

    def _committed(self, sent: _Sent, at: float) -> None:
        judged = sent.batch.judged
        self._revive(
            {one.record.seq for one in judged if one.event is not None} & self._dead_before
        )
        received = tuple(one.record.received for one in judged)
        try:
            self._on_folded(Folded(received, len(sent.batch.dead), max(at - sent.began, 0.0), at))
        except Exception:  # it is committed: whatever this is, it is no reason to fold it again
            log.exception("a commit could not be measured")

    def _revive(self, seqs: set[int]) -> None:
        if not seqs:
            return
        self._spool.revive(seqs)
        self._dead_before -= seqs
        log.info("%d events that were set aside once are folded", len(seqs))

    def _sweep(self) -> None:
        """Once a minute, mark the runs that have fallen silent."""
        if time.monotonic() < self._sweep_at:
            return
        self._sweep_at = time.monotonic() + SWEEP_SECONDS
        now = datetime.now(UTC)
        silent = sweep(
            self._database,
            now=now,
            heartbeat_timeout_seconds=self._heartbeat_timeout_seconds,
            holder=self._holder,
        )
        if silent:
            log.info(
                "%d runs of which nothing was heard for %d s are abandoned",
                silent,
                self._heartbeat_timeout_seconds,
            )


class _Sent(NamedTuple):
    """A batch that is on its way, how far the graph was before it, and since when (seconds since 1970)."""

    batch: Batch
    before: Checkpoint
    transaction: Sent
    began: float
