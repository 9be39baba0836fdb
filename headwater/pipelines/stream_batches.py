"""One micro-batch of the stream: folded by Spark's tasks, written from here, exactly once in effect.

Spark writes down what a batch consists of before it is begun, and plans no other batch of that number however often it
is started again. The graph keeps the number of the next batch, as the checkpoint of a spool whose id is that of the
query; it moves in the same transaction in which the tallies of a batch are counted. So, whatever dies in between:

| the graph's position | what it means | what is done |
|---|---|---|
| the number of this batch | not committed; some of its facts may be there | it is folded; they change nothing |
| one more | committed, and Spark was killed before it knew | nothing |
| anything else | another graph, or an old copy of Spark's checkpoint | the stream ends: going on would lose events |

A batch is one transaction as long as it is small enough, not too much of it is new, and Neo4j takes it. One that is not
is written in several, none of which moves the checkpoint; then a last one does. An event that Neo4j refuses is found by
halving and set aside. What is set aside is safe at the source's place for the dead before the checkpoint moves; a batch
that is begun again may set the same message aside once more.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import folds, warm
from headwater.cypher.migrate import migrate
from headwater.errors import HeadwaterError, UnavailableError
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats, absorb
from headwater.ingest.worker import BACKOFF_SECONDS_MAX, BACKOFF_SECONDS_MIN, CommitReport
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    read_checkpoint,
    write,
)
from headwater.pipelines.stream_chunks import (
    CHUNK_SCHEMA,
    Chunk,
    DeadMessage,
    Message,
    MessageRules,
    chunk_messages,
    read_messages,
    select_chunk,
)
from headwater.pipelines.stream_sources import Source
from headwater.schema import facts
from headwater.schema.events import Event
from headwater.schema.facts import GraphDelta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("headwater.stream")
T = TypeVar("T")
_START_SECONDS_MAX = 60.0
# So many runs and new edges are written in one transaction: Neo4j holds all of it in memory until it is committed, and
# by its own measure a transaction may take 256 MB, which 40,000 new column edges do.
NEW_FACTS_MAX = 10_000


class StreamStoppedError(HeadwaterError):
    """The stream was told to end while a batch waited; it is taken up again when the stream is."""


class OtherGraphError(HeadwaterError):
    """Going on would leave out events: this graph was not told what Spark's checkpoint says was done."""

    exit_code = 2


class TaskChunk(msgspec.Struct):
    """A chunk, and where it came from: the how many-th of which of Spark's tasks."""

    task: int
    number: int
    chunk: Chunk


class Observer(Protocol):
    """Who hears of what is in the graph."""

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """So far the graph had come when the stream asked."""

    def on_commit(self, checkpoint: Checkpoint, folded: CommitReport) -> None:
        """A batch was committed; so far the graph has come with it."""


class BatchWriter:
    """Called by Spark with every micro-batch, one after the other."""

    def __init__(
        self,
        database: Database,
        source: Source,
        rules: MessageRules,
        *,
        events_max: int,
        observer: Observer,
    ) -> None:
        """`events_max` is how many events one transaction takes."""
        self.stop = threading.Event()
        self.failure: HeadwaterError | None = None
        self.holder = f"stream {os.getpid()}@{socket.gethostname()}"
        self._database = database
        self.source = source
        self._rules = rules
        self._events_max = self._events_at_once = events_max
        self._observer = observer
        self._memory = Memory()
        self._migrated = False
        self._id = ""
        self._checkpoint_folder = ""
        self._identified = threading.Event()
        self._busy = threading.Lock()

    def identify(self, query: str, checkpoint: str) -> None:
        """Which query these are the batches of, and where Spark keeps its checkpoint: known once it has started."""
        self._id, self._checkpoint_folder = f"stream:{query}", checkpoint
        self._identified.set()

    def end(self) -> None:
        """Wait for the batch that is being written; none is begun afterwards."""
        self.stop.set()
        with self._busy:
            pass

    def __call__(self, frame: DataFrame, number: int) -> None:
        with self._busy:
            self._identified.wait(_START_SECONDS_MAX)
            try:
                self._take(frame, number)
            except HeadwaterError as error:
                # Spark would wrap it into an exception of its own.
                self.failure = error
                raise
            except Exception as error:
                log.exception("batch %d", number)
                self.failure = UnavailableError(
                    f"batch {number} failed: {type(error).__name__}: {_line(error)}"
                )
                raise

    def _take(self, frame: DataFrame, number: int) -> None:
        checkpoint = self._insist(self._checkpoint)
        self._observer.on_checkpoint(checkpoint)
        if self._is_done(checkpoint, number):
            log.info("batch %d is in the graph already", number)
            return
        sync_plan(self._checkpoint_folder, number)
        batch = _Batch(frame, number, self._rules)
        self._insist(lambda: self._write(batch))
        if not batch.events:
            # So begins a stream that is told what comes from now on: its first event must not wait for Neo4j to plan.
            self._insist(lambda: warm(self._database, folds, stop=self.stop.is_set))

    def _checkpoint(self) -> Checkpoint:
        if not self._migrated:
            migrate(self._database)
            self._migrated = True
        return read_checkpoint(self._database, self._id)

    def _is_done(self, checkpoint: Checkpoint, number: int) -> bool:
        if checkpoint.position not in (number, number + 1):
            raise OtherGraphError(
                f"the graph has {checkpoint.position} batches of this stream, and Spark's checkpoint {number}",
                hint="With another graph, or an older copy of the checkpoint folder, begin anew: name a new folder "
                "with --checkpoint. What the graph knows already changes nothing.",
            )
        return checkpoint.position > number

    def _insist(self, work: Callable[[], T]) -> T:
        """Until Neo4j, and where the dead go, let it be done; raises StreamStoppedError when told to end meanwhile."""
        failures = 0
        while not self.stop.is_set():
            try:
                done = work()
            except (UnavailableError, CheckpointMovedError) as error:
                failures += 1
                self._memory = Memory()  # it may be another graph than before
                self._events_at_once = max(self._events_at_once // 2, 1)
                pause = min(BACKOFF_SECONDS_MIN * 2 ** min(failures, 10), BACKOFF_SECONDS_MAX)
                log.warning("waiting up to %.1f s: %s", pause, _line(error))
                self.stop.wait(random.uniform(pause / 2, pause))
            else:
                self._events_at_once = min(self._events_at_once * 8, self._events_max)
                return done
        raise StreamStoppedError("told to end")

    def _write(self, batch: _Batch) -> None:
        checkpoint = self._checkpoint()
        if self._is_done(checkpoint, batch.number):  # an interrupted commit had happened
            self._observer.on_checkpoint(checkpoint)
            return
        whole = not batch.refused and len(self._piece(batch.parts)) == len(batch.parts)
        if not (whole and self._commit_whole(batch, checkpoint)):
            waiting = batch.parts
            while waiting:
                piece = self._piece(waiting)
                self._write_apart(piece, batch, checkpoint)
                waiting = waiting[len(piece) :]
            self._commit(batch, GraphDelta(), checkpoint)

    def _piece(self, parts: Sequence[TaskChunk]) -> Sequence[TaskChunk]:
        return fitting_chunks(parts, self._memory, events_max=self._events_at_once)

    def _commit_whole(self, batch: _Batch, checkpoint: Checkpoint) -> bool:
        try:
            self._commit(batch, _joined(part.chunk.delta for part in batch.parts), checkpoint)
        except (UnavailableError, CheckpointMovedError):
            raise
        except Exception:  # whatever an event breaks must not stop the others
            log.exception("batch %d is written in pieces", batch.number)
            batch.refused = True
            return False
        return True

    def _write_apart(
        self, parts: Sequence[TaskChunk], batch: _Batch, checkpoint: Checkpoint
    ) -> None:
        """Write what these say without moving the checkpoint, halving them around whatever cannot be written."""
        try:
            self._write_facts(_joined(part.chunk.delta for part in parts), checkpoint)
        except (UnavailableError, CheckpointMovedError):
            raise
        except Exception:  # whatever an event breaks must not stop the others
            if len(parts) > 1:
                middle = len(parts) // 2
                self._write_apart(parts[:middle], batch, checkpoint)
                self._write_apart(parts[middle:], batch, checkpoint)
                return
            batch.refuse(parts[0], self._refused(batch.events_of(parts[0]), checkpoint))

    def _refused(
        self, events: Sequence[tuple[int, Event]], checkpoint: Checkpoint
    ) -> dict[int, str]:
        """Write what these messages of a part say, and find, by index, those of which Neo4j takes nothing."""
        try:
            self._write_facts(fold((event for _, event in events), self._rules.naming), checkpoint)
        except (UnavailableError, CheckpointMovedError):
            raise
        except Exception as error:  # whatever an event breaks must not stop the others
            if len(events) == 1:
                log.exception("an event is set aside")
                return {events[0][0]: f"{type(error).__name__}: {error}"}
            middle = len(events) // 2
            return self._refused(events[:middle], checkpoint) | self._refused(
                events[middle:], checkpoint
            )
        return {}

    def _write_facts(self, delta: GraphDelta, checkpoint: Checkpoint) -> None:
        self._save(delta, ProducerStats(), checkpoint, checkpoint)

    def _commit(self, batch: _Batch, delta: GraphDelta, checkpoint: Checkpoint) -> None:
        """The transaction by which the batch counts as done."""
        self._set_aside(batch)
        dead = len(batch.dead)
        after = Checkpoint(
            position=batch.number + 1,
            folded=checkpoint.folded + batch.events - dead,
            dead=checkpoint.dead + dead,
        )
        self._save(delta, batch.producer_stats(), checkpoint, after)
        received = tuple(at for part in batch.parts for at in part.chunk.received)
        self._observer.on_commit(
            after, CommitReport(received, dead, time.monotonic() - batch.began, time.time())
        )

    def _set_aside(self, batch: _Batch) -> None:
        dead = batch.dead
        if len(dead) == batch.set_aside:
            return
        try:
            self.source.send_dead_letters(batch.frame.sparkSession, batch.number, dead)
        except (
            Exception
        ) as error:  # Kafka's come as Spark's, a disk's as Python's; all of them may pass
            raise UnavailableError(
                f"what cannot be folded cannot be set aside: {_line(error)}"
            ) from error
        batch.set_aside = len(dead)
        log.warning(
            "batch %d: %d set aside, the first: %s", batch.number, len(dead), dead[0].reason
        )

    def _save(
        self,
        delta: GraphDelta,
        producer_stats: ProducerStats,
        before: Checkpoint,
        after: Checkpoint,
    ) -> None:
        write(
            self._database,
            delta,
            spool=self._id,
            before=before,
            after=after,
            holder=self.holder,
            memory=self._memory,
            naming=self._rules.naming,
            producer_stats=producer_stats,
        )


class _Batch:
    """A micro-batch on its way into the graph. Spark folds it once, however often it has to be written."""

    def __init__(self, frame: DataFrame, number: int, rules: MessageRules) -> None:
        self.frame = frame
        self.number = number
        self.refused = False
        self.set_aside = 0
        self.began = time.monotonic()
        self._rules = rules
        rows = frame.mapInArrow(chunk_messages(rules), CHUNK_SCHEMA).collect()
        decode = msgspec.msgpack.Decoder(Chunk).decode
        parts = [TaskChunk(row.task, row.number, decode(row.chunk)) for row in rows]
        self.parts = sorted(parts, key=lambda part: (part.task, part.number))
        self.events = sum(part.chunk.events for part in parts)

    @property
    def dead(self) -> list[DeadMessage]:
        return [dead for part in self.parts for dead in part.chunk.dead]

    def producer_stats(self) -> ProducerStats:
        producer_stats = ProducerStats()
        for part in self.parts:
            absorb(producer_stats, part.chunk.producer_stats)
        return producer_stats

    def events_of(self, part: TaskChunk) -> list[tuple[int, Event]]:
        """The events of a part that are none of its dead, by the index of their message."""
        parsed = enumerate(self._rules.parse(self._messages(part)))
        return [(index, one.event) for index, one in parsed if one.event is not None]

    def refuse(self, part: TaskChunk, refused: dict[int, str]) -> None:
        """These messages of a part are dead, by index, with the reason."""
        part.chunk = self._rules.chunk(self._messages(part), refused)

    def _messages(self, part: TaskChunk) -> Iterator[Message]:
        """Read once more."""
        frame = self.frame.mapInArrow(select_chunk(part.task, part.number), self.frame.schema)
        return (
            message for batch in frame.toArrow().to_batches() for message in read_messages(batch)
        )


def fitting_chunks(
    parts: Sequence[TaskChunk], memory: Memory, *, events_max: int
) -> Sequence[TaskChunk]:
    """As many of these parts as one transaction takes, but at least one. What an earlier one has written is not new any
    more: so of jobs that come for the first time a few go ahead, and the others follow at once."""
    events = new = 0
    for index, part in enumerate(parts):
        delta = part.chunk.delta
        events += part.chunk.events
        new += (
            len(delta.runs) + len(memory.news(delta.columns)) + len(memory.news(delta.derivations))
        )
        if index and (events > events_max or new > NEW_FACTS_MAX):
            return parts[:index]
    return parts


def sync_plan(checkpoint: str, number: int) -> None:
    """Sync what Spark has written of the plan of a batch, where its checkpoint is a folder on this machine. Should the
    power fail, Spark must not plan another batch of that number than the one that the graph has."""
    address = urlsplit(checkpoint)
    folder = address.path if address.scheme == "file" else checkpoint
    if address.scheme not in ("", "file") or not os.path.isdir(folder):
        return
    for place in ("", "offsets", f"offsets/{number}", "sources", "sources/0"):
        _sync(os.path.join(folder, place))
    sources = os.path.join(folder, "sources", "0")
    if os.path.isdir(sources):
        with os.scandir(sources) as entries:
            newest = sorted(
                (entry for entry in entries if entry.is_file()),
                key=lambda entry: entry.stat().st_mtime,
            )
        for entry in newest[-2:]:
            _sync(entry.path)


def _sync(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _joined(deltas: Iterable[GraphDelta]) -> GraphDelta:
    delta = GraphDelta()
    for one in deltas:
        facts.absorb(delta, one)
    return delta


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
