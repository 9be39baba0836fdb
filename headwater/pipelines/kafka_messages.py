"""The messages of a micro-batch whose timestamps Spark cannot read.

Spark's Kafka source converts the timestamp of every message from milliseconds to microseconds, even
if no query selects the column. It fails on a timestamp that is some 292,000 years or more from
1970, as that of a producer that counts nanoseconds. So the driver reads such a batch with the Kafka
client of Spark's own JVM: the same offsets, with timestamps that end at those limits.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.errors import UnavailableError
from headwater.pipelines.stream_chunks import to_record_batch

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

# Java's and SQL's message about an integer of 64 bits.
OVERFLOW = "long overflow"
POLL_MILLISECONDS = 1_000
# The number of polls in a row without a message, after which the broker counts as unavailable.
EMPTY_POLLS_MAX = 60
log = logging.getLogger("headwater.stream")
_BATCH_SIZE = "spark.sql.execution.arrow.maxRecordsPerBatch"
_DESERIALIZER = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
_INTEGER_MAX = 2**63 - 1


class OffsetRange(NamedTuple):
    """The messages of a partition from offset `start` to before offset `end`."""

    topic: str
    partition: int
    start: int
    end: int


def receipt(milliseconds: int, offset: int) -> int:
    """Return the time of receipt of a message, in microseconds since 1970, as SQL does.

    It ends at the limits of 64 bits.
    """
    microseconds = milliseconds * 1_000 + offset % 1_000
    return max(-_INTEGER_MAX, min(microseconds, _INTEGER_MAX))


def offset_ranges(frame: DataFrame) -> list[OffsetRange]:
    """Return the offsets that Spark has planned for a micro-batch."""
    ranges = []
    for task in frame._jdf.queryExecution().toRdd().partitions():
        planned = task.inputPartitions()
        for index in range(planned.size()):
            offsets = planned.apply(index).offsetRange()
            of = offsets.topicPartition()
            start, end = offsets.fromOffset(), offsets.untilOffset()
            ranges.append(OffsetRange(of.topic(), of.partition(), start, end))
    return sorted(ranges)


def read_in_driver(frame: DataFrame, options: Mapping[str, str]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the messages of a micro-batch in the order of offsets, in batches of Spark's size.

    `options` are those of Kafka's client. Raises UnavailableError, or the error of Kafka's client.
    """
    log.warning("batch_read_by_driver reason=timestamp_out_of_range")
    spark = frame.sparkSession
    size = int(str(spark.conf.get(_BATCH_SIZE)))
    java: Any = spark._jvm
    consumer = java.org.apache.kafka.clients.consumer.KafkaConsumer(_properties(java, options))
    try:
        rows: list[tuple[Any, ...]] = []
        for planned in offset_ranges(frame):
            for row in _rows(java, consumer, planned):
                rows.append(row)
                if len(rows) == size:
                    yield to_record_batch(rows)
                    rows = []
        if rows:
            yield to_record_batch(rows)
    finally:
        consumer.close()


def _properties(java: Any, options: Mapping[str, str]) -> Any:
    own = {
        "key.deserializer": _DESERIALIZER,
        "value.deserializer": _DESERIALIZER,
        # The positions are those of Spark.
        "enable.auto.commit": "false",
        "auto.offset.reset": "none",
    }
    properties = java.java.util.HashMap()
    for name, value in {**options, **own}.items():
        properties.put(name, value)
    return properties


def _rows(java: Any, consumer: Any, planned: OffsetRange) -> Iterator[tuple[Any, ...]]:
    partition = java.org.apache.kafka.common.TopicPartition(planned.topic, planned.partition)
    partitions = java.java.util.ArrayList()
    partitions.add(partition)
    consumer.assign(partitions)
    consumer.seek(partition, planned.start)
    wait = java.java.time.Duration.ofMillis(POLL_MILLISECONDS)
    empty_polls, position = 0, planned.start
    while position < planned.end:
        for record in consumer.poll(wait).records(partition):
            offset = record.offset()
            if offset >= planned.end:
                return
            received = receipt(record.timestamp(), offset)
            place = planned.topic, planned.partition, offset, received
            yield (*place, record.key(), record.value())
        before, position = position, consumer.position(partition)
        empty_polls = empty_polls + 1 if position == before else 0
        if empty_polls == EMPTY_POLLS_MAX:
            raise UnavailableError(f"Kafka sends no message at offset {position} of {partition}")
