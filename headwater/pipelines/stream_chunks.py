"""The work of a stream task on its messages, in the same steps as HTTP ingest and the worker.

It redacts, parses, folds and counts. Each Arrow batch becomes one `Chunk`, a small value that goes
to the driver instead of the events. A message that cannot be folded goes with it, redacted, with
the reason; it does not stop the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from headwater.errors import EventError
from headwater.importers.atlas_messages import reason_of
from headwater.ingest.fold.undated_events import NO_INSTANTS, fold_received
from headwater.ingest.producer_stats import ProducerStats, absorb, count_event
from headwater.pipelines import worker_cache
from headwater.schema.delta import GraphDelta
from headwater.schema.events import Event, parse, require_event_time
from headwater.schema.naming import Naming

if TYPE_CHECKING:
    import pyarrow

    Cut = Callable[[Iterable[pyarrow.RecordBatch]], Iterable[pyarrow.RecordBatch]]

REASON_LENGTH_MAX = 1_000
# The columns of every source. For files, `topic` is the path, and `partition` and `start` are -1.
COLUMNS = ("topic", "partition", "start", "received", "key", "value")
CHUNK_SCHEMA = "task int, number int, chunk binary"


class Message(msgspec.Struct, frozen=True, array_like=True):
    """A message of the source with its place and time of receipt (microseconds since 1970).

    `start` is its offset; -1 in a file.
    """

    topic: str
    partition: int
    start: int
    received: int
    key: bytes | None
    body: bytes


class DeadMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message that could not be folded, with the reason."""

    message: Message
    reason: str


class ParsedMessage(msgspec.Struct, frozen=True):
    """A redacted message with its event, or with the reason for its refusal."""

    message: Message
    event: Event | None
    reason: str = ""


class Chunk(msgspec.Struct):
    """The delta and producer statistics of some messages of one task."""

    delta: GraphDelta
    producer_stats: ProducerStats
    received: list[int]
    dead: list[DeadMessage]

    @property
    def events(self) -> int:
        """Return the number of messages, including dead ones."""
        return len(self.received)


class MessageRules(msgspec.Struct, frozen=True):
    """The rules by which every task reads messages."""

    redaction_key: bytes
    naming: Naming
    event_bytes_max: int
    future_seconds: int
    allow_missing_event_time: bool = False
    # The times of events in the graph that were dated in the future when they came.
    future_instants: frozenset[int] = NO_INSTANTS
    redaction_classes: frozenset[str] = frozenset()
    # True if the source has expanded the messages of Atlas; one that it could not read is left.
    is_atlas: bool = False

    def chunk(
        self, messages: Iterable[Message], refused: Mapping[int, str] = MappingProxyType({})
    ) -> Chunk:
        """Fold messages into a chunk with its dead messages.

        `refused` has the reasons for messages that Neo4j refused, by index.
        """
        chunk = Chunk(GraphDelta(), ProducerStats(), [], [])
        received: list[tuple[Event, bytes]] = []
        for index, parsed in enumerate(self.parse(messages)):
            reason = refused.get(index, parsed.reason)
            event = None if reason else parsed.event
            chunk.received.append(parsed.message.received)
            absorb(chunk.producer_stats, self._tally(parsed.message, event, reason))
            if event is None:
                chunk.dead.append(DeadMessage(parsed.message, reason[:REASON_LENGTH_MAX]))
            else:
                received.append((event, parsed.message.body))
        chunk.delta = self.fold(received)
        return chunk

    def fold(self, received: Iterable[tuple[Event, bytes]]) -> GraphDelta:
        """Fold events, each with its redacted body."""
        return fold_received(
            received,
            worker_cache.naming(self.naming),
            future_seconds=self.future_seconds,
            future_instants=self.future_instants,
        )

    def parse(self, messages: Iterable[Message]) -> Iterator[ParsedMessage]:
        """Redact and parse each message by itself."""
        redactor = worker_cache.redactor(self.redaction_key, self.redaction_classes)
        now = time.time_ns() // 1_000
        for message in messages:
            # The clock of the source may be ahead of ours. Kafka's 0 is no time.
            has_time = message.received >= 1_000
            message = replace(message, received=min(message.received, now) if has_time else now)
            if len(message.body) > self.event_bytes_max:
                reason = f"the event is larger than {self.event_bytes_max} bytes"
                yield ParsedMessage(replace(message, body=b""), None, reason)
                continue
            message = replace(message, body=redactor.redact(message.body))
            try:
                event = parse(message.body, received=message.received)
                require_event_time(event, allow_missing=self.allow_missing_event_time)
                yield ParsedMessage(message, event)
            except EventError as error:
                yield ParsedMessage(message, None, self._reason(message.body, error))

    def _reason(self, body: bytes, error: EventError) -> str:
        """Return why a message is no event."""
        unread = reason_of(body) if self.is_atlas else ""
        return unread or (f"{error.field}: {error.message}" if error.field else error.message)

    def _tally(self, message: Message, event: Event | None, reason: str = "") -> ProducerStats:
        """Return the producer statistics of one message; its seq is its offset."""
        return count_event(
            message.received,
            message.start,
            message.body,
            event,
            future_seconds=self.future_seconds,
            reason=reason,
        )


def chunk_messages(rules: MessageRules) -> Cut:
    """Return a function for `mapInArrow` that maps messages to chunks, numbered by task."""

    def chunks(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        task = context.partitionId() if context else 0
        for number, batch in enumerate(batches):
            chunk = msgspec.msgpack.encode(rules.chunk(read_messages(batch)))
            rows: Any = {"task": [task], "number": [number], "chunk": [chunk]}
            types = {"task": pyarrow.int32(), "number": pyarrow.int32(), "chunk": pyarrow.binary()}
            yield pyarrow.RecordBatch.from_pydict(rows, schema=pyarrow.schema(types.items()))
        # The driver has other objects too.
        if context:
            worker_cache.freeze()

    return chunks


def select_chunk(task: int, number: int) -> Cut:
    """Return a function for `mapInArrow` that yields the messages of one chunk.

    Spark plans a batch once, so a batch always has the same chunks.
    """

    def chosen(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        mine = (context.partitionId() if context else 0) == task
        for index, batch in enumerate(batches):
            if mine and index == number:
                yield batch

    return chosen


def to_record_batch(rows: Sequence[tuple[Any, ...]]) -> pyarrow.RecordBatch:
    """Return rows with the values of `COLUMNS` as an Arrow batch."""
    import pyarrow

    types = (
        pyarrow.string(), pyarrow.int32(), pyarrow.int64(), pyarrow.int64(), pyarrow.binary(),
        pyarrow.binary(),
    )  # fmt: skip
    schema = pyarrow.schema(list(zip(COLUMNS, types, strict=True)))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in types]
    arrays = [pyarrow.array(*pair) for pair in zip(columns, types, strict=True)]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def read_messages(batch: pyarrow.RecordBatch) -> Iterator[Message]:
    """Yield the messages of an Arrow batch; a tombstone (no body) becomes an empty message."""
    columns = (batch.column(name).to_pylist() for name in COLUMNS)
    for topic, partition, start, received, key, value in zip(*columns, strict=True):
        yield Message(topic, partition, start, received, key, value or b"")
