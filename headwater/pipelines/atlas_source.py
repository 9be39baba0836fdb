"""A source whose messages are those of Apache Atlas; each becomes the events of its entities.

Spark expands the messages before they are cut into chunks, so the stream counts events. A message
that cannot be read stays as it is, and becomes a dead letter with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from headwater.importers.atlas_messages import AtlasMessageError, events_of_message
from headwater.pipelines.stream_chunks import COLUMNS, DeadMessage, read_messages, to_record_batch
from headwater.pipelines.stream_sources import Source

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "topic string, partition int, start long, received long, key binary, value binary"


class AtlasSource(msgspec.Struct, frozen=True):
    """The messages of `inner` as events."""

    inner: Source

    def __repr__(self) -> str:
        return f"Atlas messages of {self.inner!r}"

    def open(self, spark: SparkSession) -> DataFrame:
        """Return a streaming frame with a row for each event."""
        rows = self.inner.open(spark).select(*COLUMNS)
        return rows.mapInArrow(expand_messages, _SCHEMA)

    def read_again(self, frame: DataFrame, error: Exception) -> Iterator[pyarrow.RecordBatch]:
        """Yield a row for each event of a batch that Spark cannot read."""
        return expand_messages(self.inner.read_again(frame, error))

    def send_dead_letters(
        self, spark: SparkSession, batch: int, dead: Sequence[DeadMessage]
    ) -> None:
        """Store messages where the inner source does."""
        self.inner.send_dead_letters(spark, batch, dead)


def source_of(source: Source) -> Source:
    """Return the source that holds the messages."""
    return source.inner if isinstance(source, AtlasSource) else source


def expand_messages(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yield a row for each event of each message; a message without events yields none."""
    for batch in batches:
        rows = []
        for message in read_messages(batch):
            place = msgspec.structs.astuple(message)[:-1]
            rows += [(*place, value) for value in _values(message.body, message.received)]
        yield to_record_batch(rows)


def _values(body: bytes, received: int) -> list[bytes]:
    try:
        return [json.dumps(event).encode() for event in events_of_message(body, received)]
    except AtlasMessageError:
        return [body]
