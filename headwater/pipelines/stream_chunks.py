"""What a task of the stream does with the messages that it reads, by the same steps as HTTP and the worker.

Redact, judge, fold, tally: each batch of Arrow's becomes one `Chunk`, a small value that goes to the driver in the
place of the events. What cannot be folded goes with it, redacted, with the reason, and keeps nobody from being folded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from headwater.errors import EventError
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import ProducerStats, absorb, count_event
from headwater.pipelines import worker_cache
from headwater.schema.events import Event, parse
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import Naming

if TYPE_CHECKING:
    import pyarrow

    Cut = Callable[[Iterable[pyarrow.RecordBatch]], Iterable[pyarrow.RecordBatch]]

REASON_LENGTH_MAX = 1_000
# What the frames of every source have: of a file, `topic` is its path, `partition` and `start` are -1.
COLUMNS = ("topic", "partition", "start", "received", "key", "value")
CHUNK_SCHEMA = "task int, number int, chunk binary"


class Message(msgspec.Struct, frozen=True, array_like=True):
    """A message of the source: where it stood, when it came there (microseconds since 1970), and what it says. `start`
    is its offset; -1 in a file."""

    topic: str
    partition: int
    start: int
    received: int
    key: bytes | None
    body: bytes


class DeadMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message that could not be folded, and why."""

    message: Message
    reason: str


class ParsedMessage(msgspec.Struct, frozen=True):
    """A redacted message and the event in it, or the reason why there is none."""

    message: Message
    event: Event | None
    reason: str = ""


class Chunk(msgspec.Struct):
    """What some messages of one task say together."""

    delta: GraphDelta
    producer_stats: ProducerStats
    received: list[int]
    dead: list[DeadMessage]

    @property
    def events(self) -> int:
        """How many messages it is made of, the dead ones too."""
        return len(self.received)


class MessageRules(msgspec.Struct, frozen=True):
    """How messages are parsed: what every task is given."""

    redaction_key: bytes
    naming: Naming
    event_bytes_max: int
    future_tolerance_seconds: int

    def chunk(
        self, messages: Iterable[Message], refused: Mapping[int, str] = MappingProxyType({})
    ) -> Chunk:
        """Fold these, and set aside what cannot be; also what was refused elsewhere: its index, and the reason."""
        chunk = Chunk(GraphDelta(), ProducerStats(), [], [])
        events: list[Event] = []
        for index, parsed in enumerate(self.parse(messages)):
            reason = refused.get(index, parsed.reason)
            event = None if reason else parsed.event
            chunk.received.append(parsed.message.received)
            absorb(chunk.producer_stats, self._tally(parsed.message, event, reason))
            if event is None:
                chunk.dead.append(DeadMessage(parsed.message, reason[:REASON_LENGTH_MAX]))
            else:
                events.append(event)
        chunk.delta = fold(events, worker_cache.naming(self.naming))
        return chunk

    def parse(self, messages: Iterable[Message]) -> Iterator[ParsedMessage]:
        """Each message by itself: redacted, and as an event."""
        redactor = worker_cache.redactor(self.redaction_key)
        now = time.time_ns() // 1_000
        for message in messages:
            # A sender whose clock is ahead must not be heard of tomorrow.
            message = replace(
                message, received=min(message.received, now) if message.received > 0 else now
            )
            if len(message.body) > self.event_bytes_max:
                reason = f"the event is larger than {self.event_bytes_max} bytes"
                yield ParsedMessage(replace(message, body=b""), None, reason)
                continue
            message = replace(message, body=redactor.redact(message.body))
            try:
                yield ParsedMessage(message, parse(message.body, received=message.received))
            except EventError as error:
                yield ParsedMessage(
                    message,
                    None,
                    f"{error.field}: {error.message}" if error.field else error.message,
                )

    def _tally(self, message: Message, event: Event | None, reason: str = "") -> ProducerStats:
        """What one message adds to the tallies; its receipt is its offset."""
        return count_event(
            message.received,
            message.start,
            message.body,
            event,
            future_tolerance_seconds=self.future_tolerance_seconds,
            reason=reason,
        )


def chunk_messages(rules: MessageRules) -> Cut:
    """For `mapInArrow`: messages in, chunks out, numbered within their task."""

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
        worker_cache.freeze()

    return chunks


def select_chunk(task: int, number: int) -> Cut:
    """For `mapInArrow`: the messages of one chunk as they came. A batch is always cut into the same chunks, since Spark
    plans it once."""

    def chosen(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        mine = (context.partitionId() if context else 0) == task
        for index, batch in enumerate(batches):
            if mine and index == number:
                yield batch

    return chosen


def read_messages(batch: pyarrow.RecordBatch) -> Iterator[Message]:
    """The messages of a batch of Arrow's, those without a body (a topic's tombstones) as empty ones."""
    columns = (batch.column(name).to_pylist() for name in COLUMNS)
    for topic, partition, start, received, key, value in zip(*columns, strict=True):
        yield Message(topic, partition, start, received, key, value or b"")
