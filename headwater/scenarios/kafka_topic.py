"""A topic of a real Kafka, and a consumer group with committed offsets.

It has the methods of `headwater.scenarios.topic.Topic`, whose partitions are files. The broker runs
in the folder of the story until the story ends. The client is `confluent-kafka`; without it a story
takes files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from headwater.errors import ServerError
from headwater.scenarios.rows import Row, Rows
from headwater.scenarios.topic import PARTITIONS, Offsets, offsets_of

if TYPE_CHECKING:
    from confluent_kafka import Consumer, TopicPartition

T = TypeVar("T")
GROUP = "scenario"
_ANSWER_SECONDS = 60.0
_STALL_SECONDS = 120.0
_POLL_SECONDS = 1.0
_PAUSE_SECONDS = 0.2
_BATCH_MAX = 2_000


def has_client() -> bool:
    """Return True if the client of Kafka is installed."""
    return find_spec("confluent_kafka") is not None


def _answer(ask: Callable[[], T]) -> T:
    """Return an answer of the broker; ask again while it starts a partition or a group."""
    from confluent_kafka import KafkaError, KafkaException

    starting = {
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
    give_up_at = time.monotonic() + _STALL_SECONDS
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in starting or time.monotonic() > give_up_at:
                raise
        time.sleep(_PAUSE_SECONDS)


class KafkaTopic:
    """A topic with one consumer group; it is created with its partitions."""

    def __init__(self, brokers: str, name: str, partitions: int = PARTITIONS) -> None:
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        self._brokers = brokers
        self._name = name
        self._partitions = partitions
        # Where the last poll began.
        self._polled = [0] * partitions
        admin = AdminClient({"bootstrap.servers": brokers})
        for created in admin.create_topics([NewTopic(name, partitions, 1)]).values():
            created.result(_ANSWER_SECONDS)

    def publish(self, rows: Rows) -> None:
        """Write rows to the partitions, one after the other."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self._brokers, "acks": "all", "log_level": 0})
        for number, row in enumerate(rows):
            producer.produce(
                self._name, json.dumps(row).encode(), partition=number % self._partitions
            )
            if number % _BATCH_MAX == 0:
                producer.poll(0)
        if producer.flush(_STALL_SECONDS):
            raise ServerError(f"Kafka at {self._brokers} did not take the records of {self._name}")

    def poll(self, records_max: int) -> tuple[Rows, Offsets]:
        """Return the next records, and the offsets by partition; commit the offsets behind them.

        Args:
            records_max: The greatest number of records of one partition.
        """
        rows: Rows = []
        with closing(self._consumer()) as consumer:
            begins = self._committed(consumer)
            latest = [self._latest(consumer, number) for number in range(self._partitions)]
            ends = [
                min(begin + records_max, last) for begin, last in zip(begins, latest, strict=True)
            ]
            for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                rows += self._records(consumer, number, begin, end)
            self._commit(consumer, ends)
        self._polled = begins
        return rows, offsets_of(begins, ends, latest)

    def latest(self) -> list[int]:
        """Return the offset behind the last record of each partition."""
        with closing(self._consumer()) as consumer:
            return [self._latest(consumer, number) for number in range(self._partitions)]

    def rewind(self) -> None:
        """Commit the offsets at which the last poll began."""
        with closing(self._consumer()) as consumer:
            self._commit(consumer, self._polled)

    def _consumer(self) -> Consumer:
        from confluent_kafka import Consumer

        return Consumer(
            {
                "bootstrap.servers": self._brokers,
                "group.id": GROUP,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "log_level": 0,
            }
        )

    def _place(self, number: int, offset: int | None = None) -> TopicPartition:
        from confluent_kafka import TopicPartition

        if offset is None:
            return TopicPartition(self._name, number)
        return TopicPartition(self._name, number, offset)

    def _committed(self, consumer: Consumer) -> list[int]:
        places = [self._place(number) for number in range(self._partitions)]
        found = _answer(lambda: consumer.committed(places, timeout=_ANSWER_SECONDS))
        # Without a commit the offset is negative.
        return [max(one.offset, 0) for one in found]

    def _latest(self, consumer: Consumer, number: int) -> int:
        place = self._place(number)
        _, high = _answer(lambda: consumer.get_watermark_offsets(place, timeout=_ANSWER_SECONDS))
        return int(high)

    def _commit(self, consumer: Consumer, offsets: list[int]) -> None:
        places = [self._place(number, offset) for number, offset in enumerate(offsets)]
        _answer(lambda: consumer.commit(offsets=places, asynchronous=False))

    def _records(self, consumer: Consumer, number: int, begin: int, end: int) -> Iterator[Row]:
        """Yield the records of a partition between two offsets."""
        if begin == end:
            return
        consumer.assign([self._place(number, begin)])
        position, progress_at = begin, time.monotonic()
        while position < end:
            batch = consumer.consume(min(end - position, _BATCH_MAX), timeout=_POLL_SECONDS)
            for message in batch:
                if message.error() is None and message.value() is not None:
                    position += 1
                    progress_at = time.monotonic()
                    yield json.loads(message.value() or b"")
            if time.monotonic() - progress_at > _STALL_SECONDS:
                raise ServerError(f"Kafka at {self._brokers} sends no records of {self._name}")
