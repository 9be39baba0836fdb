"""The worker: spool -> fold -> one transaction -> checkpoint, for ever.

What may go wrong, and what happens then:

- Neo4j is away, slow or restarting, or the spool's disk fails: wait (0.1 s, doubling to 5 s, with jitter) and try
  again with half as many events, since it may be that there were too many for the time a transaction has. Batches
  that go well soon make them as many again.
- An event cannot be folded, or Neo4j refuses what it says: the batch is halved until that event is alone, then it is
  set aside with the reason, and its neighbours go on.
- The worker is killed: the next one reads the checkpoint, which was saved with the last batch or not at all.
- Two workers run: the write lock and the checkpoint make one of them start its batch again.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable

import msgspec

from headwater.cypher.database import Database
from headwater.cypher.migrate import migrate
from headwater.cypher.warm import warm, writes_rows
from headwater.errors import EventError, SpoolFullError, UnavailableError
from headwater.ingest.fold import fold
from headwater.ingest.spool import Record, Spool
from headwater.ingest.writer import Checkpoint, CheckpointMovedError, Known, read_checkpoint, write
from headwater.schema.events import Event, parse

BATCH_BYTES_MAX = 32 * 2**20
POLL_SECONDS = 0.05
BACKOFF_SECONDS_MIN = 0.1
BACKOFF_SECONDS_MAX = 5.0
REASON_LENGTH_MAX = 1_000

log = logging.getLogger("headwater.worker")


class Folded(msgspec.Struct, frozen=True):
    """What one committed transaction did: when its events were received, how many were set aside, how long it took."""

    received: tuple[int, ...]
    dead: int
    seconds: float


class Worker:
    """Folds one spool into one graph. `run` until `stop` is set; `on_folded` hears of every commit."""

    def __init__(
        self,
        database: Database,
        spool: Spool,
        *,
        events_max: int = 1_000,
        on_folded: Callable[[Folded], object] = id,
    ) -> None:
        self._database = database
        self._spool = spool
        self._events_max = events_max
        self.events_at_once = events_max
        self._on_folded = on_folded
        self._holder = f"worker {os.getpid()}@{socket.gethostname()}"
        self._checkpoint: Checkpoint | None = None
        self._known = Known()
        self._cold = False
        self.stop = threading.Event()

    def run(self) -> None:
        """Fold until told to stop. Ends only between transactions."""
        log.info("folding %s into %s", self._spool.path, self._database.uri)
        failures = 0
        self._cold = True
        while not self.stop.is_set():
            try:
                if not self.step():
                    self.stop.wait(POLL_SECONDS)
                failures = 0
                self.events_at_once = min(self.events_at_once * 8, self._events_max)
            except (UnavailableError, SpoolFullError) as error:
                failures += 1
                self._checkpoint = None  # an interrupted commit may have happened
                self.events_at_once = max(self.events_at_once // 2, 1)
                pause = min(BACKOFF_SECONDS_MIN * 2 ** min(failures, 10), BACKOFF_SECONDS_MAX)
                log.warning("waiting up to %.1f s: %s", pause, error.message)
                self.stop.wait(random.uniform(pause / 2, pause))

    def step(self) -> int:
        """Fold the next batch; returns how many events it took. Raises UnavailableError or SpoolFullError."""
        if self._checkpoint is None:
            applied = migrate(self._database)
            if applied:
                log.info("applied %s", ", ".join(applied))
            if self._cold:
                warm(self._database, writes_rows, stop=self.stop.is_set)
                self._cold = False
            self._checkpoint = read_checkpoint(self._database, self._spool.id)
            self._known = Known()  # it may be another graph than before
        records = self._spool.read(self._checkpoint.position, events_max=self.events_at_once, bytes_max=BATCH_BYTES_MAX)
        if records:
            try:
                self._fold(records)
            except CheckpointMovedError:
                log.warning("another worker folds this spool too")
                self._checkpoint = None
        return len(records)

    def _fold(self, records: list[Record]) -> None:
        """Fold these, halving them around any that cannot be."""
        events, dead = _parsed(records)
        try:
            self._commit(records, events, dead)
        except (UnavailableError, SpoolFullError, CheckpointMovedError):
            raise
        except Exception as error:  # whatever an event breaks must not stop the others
            if len(records) > 1:
                middle = len(records) // 2
                self._fold(records[:middle])
                self._fold(records[middle:])
                return
            log.exception("event %s is set aside", records[0].seq)
            self._commit(records, [], [(records[0].seq, f"{type(error).__name__}: {error}")])

    def _commit(self, records: list[Record], events: list[Event], dead: list[tuple[int, str]]) -> None:
        assert self._checkpoint is not None
        began = time.monotonic()
        if dead:
            self._spool.set_aside((seq, reason[:REASON_LENGTH_MAX]) for seq, reason in dead)
        before = self._checkpoint
        after = Checkpoint(
            position=records[-1].seq,
            folded=before.folded + len(records) - len(dead),
            dead=before.dead + len(dead),
        )
        write(
            self._database,
            fold(events),
            spool=self._spool.id,
            before=before,
            after=after,
            holder=self._holder,
            known=self._known,
        )
        self._checkpoint = after
        received = tuple(record.received for record in records)
        try:
            self._on_folded(Folded(received, len(dead), time.monotonic() - began))
        except Exception:  # it is committed: whatever this is, it is no reason to fold it again
            log.exception("a commit could not be measured")


def _parsed(records: list[Record]) -> tuple[list[Event], list[tuple[int, str]]]:
    events: list[Event] = []
    dead: list[tuple[int, str]] = []
    for record in records:
        if not record.intact:
            dead.append((record.seq, "damaged: the bytes on disk are not those that were accepted"))
            continue
        try:
            events.append(parse(record.body, received=record.received))
        except EventError as error:
            dead.append((record.seq, f"{error.field}: {error.message}" if error.field else error.message))
    return events, dead
