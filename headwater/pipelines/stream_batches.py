"""One micro-batch of the stream: folded in Spark's tasks, written by the driver, exactly once.

Spark records the plan of a batch before it starts, and never plans another batch of that number,
however often the stream restarts. The graph stores the number of the next batch as the checkpoint
of a spool whose id is that of the query. The checkpoint moves in the transaction that counts the
producer statistics of the batch. So after any crash:

| position in the graph | meaning | action |
|---|---|---|
| the number of this batch | not committed; some facts may be | fold; known facts change nothing |
| one more | committed, and Spark was killed before it recorded that | none |
| any other | another graph, or an old copy of Spark's checkpoint | end, or events would be lost |

A batch is one transaction, unless it is too large, has too many new facts, or Neo4j refuses it.
Then it is written in several transactions that leave the checkpoint, and a last one moves it. A
message that Neo4j refuses is found by halving and becomes a dead letter. Dead letters are safe at
their destination before the checkpoint moves. A repeated batch may send the same dead letter again.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import is_fold_query, warm_up
from headwater.cypher.driver.write_lock import identify_graph
from headwater.cypher.migrate import migrate
from headwater.errors import HeadwaterError, UnavailableError
from headwater.file_sync import sync
from headwater.ingest.producer_stats import ProducerStats, absorb
from headwater.ingest.worker import BACKOFF_SECONDS_MAX, BACKOFF_SECONDS_MIN, CommitReport
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.transaction import (
    Checkpoint,
    CheckpointMovedError,
    WriteRequest,
    read_checkpoint,
    write,
)
from headwater.ingest.write.undated_events import read_future_instants
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
from headwater.schema.delta import GraphDelta
from headwater.schema.delta import absorb as absorb_delta
from headwater.schema.events import Event

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from headwater.pipelines.stream_chunks import Cut

log = logging.getLogger("headwater.stream")
T = TypeVar("T")
_START_SECONDS_MAX = 60.0
# The maximum runs and new edges of one transaction. Neo4j holds a transaction in memory until it
# commits, at most 256 MB by its own measure; 40,000 new column edges take that.
NEW_FACTS_MAX = 10_000


class StreamStoppedError(HeadwaterError):
    """The end of a stream on request while a batch waited; the next start repeats the batch."""


class OtherGraphError(HeadwaterError):
    """An error about a graph that lacks the batches that Spark's checkpoint records as done."""

    exit_code = 2


class TaskChunk(msgspec.Struct):
    """A chunk with its Spark task and its number in that task."""

    task: int
    number: int
    chunk: Chunk


class Observer(Protocol):
    """A receiver of the progress of the graph."""

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Record the checkpoint that Neo4j holds when a batch starts."""

    def on_commit(self, checkpoint: Checkpoint, folded: CommitReport) -> None:
        """Record the checkpoint after the commit of a batch."""


class BatchWriter:
    """The writer of micro-batches; Spark calls it with one batch after the other."""

    def __init__(
        self,
        database: Database,
        source: Source,
        rules: MessageRules,
        *,
        events_max: int,
        observer: Observer,
    ) -> None:
        """Create a writer; `events_max` is the maximum of events in one transaction."""
        self.stop = threading.Event()
        self.failure: HeadwaterError | None = None
        self.holder = f"stream {os.getpid()}@{socket.gethostname()}"
        self._database = database
        self.source = source
        self._rules = rules
        self._events_max = self._events_per_commit = events_max
        self._observer = observer
        self._cache = WriteCache()
        self._migrated = False
        # The id of the graph that has the first parts of a batch in several transactions.
        self._graph: str | None = None
        self._id = ""
        self._checkpoint_folder = ""
        self._identified = threading.Event()
        self._busy = threading.Lock()

    def identify(self, query: str, checkpoint: str) -> None:
        """Set the id of the query and Spark's checkpoint folder, both known after the start."""
        self._id, self._checkpoint_folder = f"stream:{query}", checkpoint
        self._identified.set()

    def end(self) -> None:
        """Wait for the current batch; no other is started."""
        self.stop.set()
        with self._busy:
            pass

    def __call__(self, frame: DataFrame, number: int) -> None:
        with self._busy:
            self._identified.wait(_START_SECONDS_MAX)
            try:
                self._process(frame, number)
            except HeadwaterError as error:
                # Spark wraps exceptions; the caller needs this one.
                self.failure = error
                raise
            except Exception as error:
                log.exception("batch_failed batch=%d", number)
                self.failure = UnavailableError(
                    f"batch {number} failed: {type(error).__name__}: {_line(error)}"
                )
                raise

    def _process(self, frame: DataFrame, number: int) -> None:
        checkpoint = self._retry(self._checkpoint)
        self._observer.on_checkpoint(checkpoint)
        if self._is_done(checkpoint, number):
            log.info("batch_skipped batch=%d reason=already_committed", number)
            return
        sync_plan(self._checkpoint_folder, number)
        batch = _Batch(frame, number, self._retry(self._current_rules), self.source)
        self._retry(lambda: self._write(batch))
        if not batch.events:
            # An empty first batch is the time to let Neo4j plan its queries, before events come.
            self._retry(lambda: warm_up(self._database, is_fold_query, stop=self.stop.is_set))

    def _current_rules(self) -> MessageRules:
        """Return the rules with the events that the graph knows as dated in the future."""
        future_instants = frozenset(read_future_instants(self._database))
        return msgspec.structs.replace(self._rules, future_instants=future_instants)

    def _checkpoint(self) -> Checkpoint:
        if not self._migrated:
            migrate(self._database)
            self._migrated = True
        return read_checkpoint(self._database, self._id)

    def _is_done(self, checkpoint: Checkpoint, number: int) -> bool:
        if checkpoint.position not in (number, number + 1):
            raise OtherGraphError(
                f"the graph has {checkpoint.position} batches of this stream, "
                f"but Spark's checkpoint has {number}",
                hint="If the graph is another one, or the checkpoint folder an older copy, name a "
                "new folder with --checkpoint. Facts that the graph has already do not change.",
            )
        return checkpoint.position > number

    def _retry(self, work: Callable[[], T]) -> T:
        """Repeat the work until Neo4j and the destination of dead letters are available.

        Raises StreamStoppedError if the stream is stopped meanwhile.
        """
        failures = 0
        while not self.stop.is_set():
            try:
                done = work()
            except (UnavailableError, CheckpointMovedError) as error:
                failures += 1
                self._cache = WriteCache()  # it may be another graph than before
                self._events_per_commit = max(self._events_per_commit // 2, 1)
                pause = min(BACKOFF_SECONDS_MIN * 2 ** min(failures, 10), BACKOFF_SECONDS_MAX)
                log.warning("retry pause_seconds=%.1f error=%r", pause, _line(error))
                self.stop.wait(random.uniform(pause / 2, pause))
            else:
                self._events_per_commit = min(self._events_per_commit * 8, self._events_max)
                return done
        raise StreamStoppedError("the stream was stopped")

    def _write(self, batch: _Batch) -> None:
        checkpoint = self._checkpoint()
        if self._is_done(checkpoint, batch.number):  # an interrupted commit had happened
            self._observer.on_checkpoint(checkpoint)
            return
        self._graph = None
        fits = not batch.refused and len(self._fitting(batch.parts)) == len(batch.parts)
        if not (fits and self._commit_together(batch, checkpoint)):
            self._graph = identify_graph(self._database, self.holder)
            remaining = batch.parts
            while remaining:
                parts = self._fitting(remaining)
                self._write_parts(parts, batch, checkpoint)
                remaining = remaining[len(parts) :]
            self._commit(batch, GraphDelta(), checkpoint)

    def _fitting(self, parts: Sequence[TaskChunk]) -> Sequence[TaskChunk]:
        return fitting_chunks(parts, self._cache, events_max=self._events_per_commit)

    def _commit_together(self, batch: _Batch, checkpoint: Checkpoint) -> bool:
        try:
            self._commit(batch, _joined(part.chunk.delta for part in batch.parts), checkpoint)
        except (UnavailableError, CheckpointMovedError):
            raise
        except Exception:  # one bad event must not stop the others
            log.exception("batch_refused batch=%d action=split", batch.number)
            batch.refused = True
            return False
        return True

    def _write_parts(
        self, parts: Sequence[TaskChunk], batch: _Batch, checkpoint: Checkpoint
    ) -> None:
        """Write these parts without moving the checkpoint; find refused messages by halving."""
        try:
            self._write_facts(_joined(part.chunk.delta for part in parts), checkpoint)
        except (UnavailableError, CheckpointMovedError):
            raise
        except Exception:  # one bad event must not stop the others
            if len(parts) > 1:
                middle = len(parts) // 2
                self._write_parts(parts[:middle], batch, checkpoint)
                self._write_parts(parts[middle:], batch, checkpoint)
                return
            batch.refuse(parts[0], self._find_refused(batch.events_of(parts[0]), checkpoint))

    def _find_refused(
        self, events: Sequence[tuple[int, Event, bytes]], checkpoint: Checkpoint
    ) -> dict[int, str]:
        """Write these messages of a part; return the reasons for refused ones, by index."""
        try:
            delta = self._rules.fold((event, body) for _, event, body in events)
            self._write_facts(delta, checkpoint)
        except (UnavailableError, CheckpointMovedError):
            raise
        except Exception as error:  # one bad event must not stop the others
            if len(events) == 1:
                log.exception("event_refused")
                return {events[0][0]: f"{type(error).__name__}: {error}"}
            middle = len(events) // 2
            first = self._find_refused(events[:middle], checkpoint)
            return first | self._find_refused(events[middle:], checkpoint)
        return {}

    def _write_facts(self, delta: GraphDelta, checkpoint: Checkpoint) -> None:
        self._save(delta, ProducerStats(), checkpoint, checkpoint)

    def _commit(self, batch: _Batch, delta: GraphDelta, checkpoint: Checkpoint) -> None:
        """Commit the transaction that moves the checkpoint behind the batch."""
        self._send_dead_letters(batch)
        dead = len(batch.dead)
        after = Checkpoint(
            position=batch.number + 1,
            folded=checkpoint.folded + batch.events - dead,
            dead=checkpoint.dead + dead,
        )
        self._save(delta, batch.producer_stats(), checkpoint, after)
        received = tuple(chain.from_iterable(part.chunk.received for part in batch.parts))
        self._observer.on_commit(
            after, CommitReport(received, dead, time.monotonic() - batch.began, time.time())
        )

    def _send_dead_letters(self, batch: _Batch) -> None:
        dead = batch.dead
        if len(dead) == batch.dead_letters_sent:
            return
        try:
            self.source.send_dead_letters(batch.frame.sparkSession, batch.number, dead)
        # Kafka's errors come as Spark's, a disk's as Python's; all may be temporary.
        except Exception as error:
            raise UnavailableError(f"dead letters cannot be written: {_line(error)}") from error
        batch.dead_letters_sent = len(dead)
        log.warning(
            "dead_letters batch=%d count=%d first_reason=%r",
            batch.number,
            len(dead),
            dead[0].reason,
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
            WriteRequest(
                delta,
                spool=self._id,
                before=before,
                after=after,
                holder=self.holder,
                naming=self._rules.naming,
                producer_stats=producer_stats,
                graph=self._graph,
            ),
            cache=self._cache,
        )


class _Batch:
    """A micro-batch. Spark folds it once, however often its write is repeated."""

    def __init__(self, frame: DataFrame, number: int, rules: MessageRules, source: Source) -> None:
        self.frame = frame
        self.number = number
        self.refused = False
        self.dead_letters_sent = 0
        self.began = time.monotonic()
        self._rules = rules
        self._source = source
        # The reason why Spark cannot read the messages.
        self._read_error: Exception | None = None
        decode = msgspec.msgpack.Decoder(Chunk).decode
        parts = [
            TaskChunk(row["task"], row["number"], decode(row["chunk"]))
            for batch in self._map(chunk_messages(rules), CHUNK_SCHEMA)
            for row in batch.to_pylist()
        ]
        self.parts = sorted(parts, key=lambda part: (part.task, part.number))
        self.events = sum(part.chunk.events for part in parts)

    @property
    def dead(self) -> list[DeadMessage]:
        """Return the dead messages of all parts."""
        return list(chain.from_iterable(part.chunk.dead for part in self.parts))

    def producer_stats(self) -> ProducerStats:
        producer_stats = ProducerStats()
        for part in self.parts:
            absorb(producer_stats, part.chunk.producer_stats)
        return producer_stats

    def events_of(self, part: TaskChunk) -> list[tuple[int, Event, bytes]]:
        """Return the index, event and redacted body of the messages of a part that are not dead."""
        parsed = enumerate(self._rules.parse(self._messages(part)))
        return [
            (index, parsed_message.event, parsed_message.message.body)
            for index, parsed_message in parsed
            if parsed_message.event is not None
        ]

    def refuse(self, part: TaskChunk, refused: dict[int, str]) -> None:
        """Make these messages of a part dead letters; `refused` has their reasons by index."""
        part.chunk = self._rules.chunk(self._messages(part), refused)

    def _messages(self, part: TaskChunk) -> Iterator[Message]:
        """Read the messages of a part again."""
        batches = self._map(select_chunk(part.task, part.number), self.frame.schema)
        return chain.from_iterable(map(read_messages, batches))

    def _map(self, cut: Cut, schema: StructType | str) -> Iterable[pyarrow.RecordBatch]:
        """Apply a function to the messages in Spark's tasks, or here if Spark cannot read them."""
        if self._read_error is None:
            try:
                table = self.frame.mapInArrow(cut, schema).toArrow()
                batches: list[pyarrow.RecordBatch] = table.to_batches()
                return batches
            except Exception as error:  # the source decides about it
                self._read_error = error
        return cut(self._source.read_again(self.frame, self._read_error))


def fitting_chunks(
    parts: Sequence[TaskChunk], cache: WriteCache, *, events_max: int
) -> Sequence[TaskChunk]:
    """Return the first parts that fit into one transaction, at least one.

    Facts of earlier transactions are no longer new. So the first runs of new jobs need several
    small transactions, and all later runs fit into one.
    """
    events = new = 0
    for index, part in enumerate(parts):
        delta = part.chunk.delta
        events += part.chunk.events
        new += (
            len(delta.runs)
            + len(cache.new_derivations(delta.columns))
            + len(cache.new_derivations(delta.derivations))
        )
        if index and (events > events_max or new > NEW_FACTS_MAX):
            return parts[:index]
    return parts


def sync_plan(checkpoint: str, number: int) -> None:
    """Sync the plan of a batch if Spark's checkpoint is a local folder.

    After a power failure, Spark must not plan another batch of a number that the graph has.
    """
    address = urlsplit(checkpoint)
    folder = address.path if address.scheme == "file" else checkpoint
    if address.scheme not in ("", "file") or not os.path.isdir(folder):
        return
    for subfolder in ("", "offsets", f"offsets/{number}", "sources", "sources/0"):
        _sync(os.path.join(folder, subfolder))
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
    with suppress(FileNotFoundError):
        sync(Path(path))


def _joined(deltas: Iterable[GraphDelta]) -> GraphDelta:
    delta = GraphDelta()
    for part in deltas:
        absorb_delta(delta, part)
    return delta


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
