"""The managed Kafka with a real broker: found again, killed, restarted, and ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from headwater.errors import ServerError
from headwater.local import process
from headwater.local.jars import read_lock
from headwater.local.kafka import LocalKafka
from tests.conftest import jar_cache

seconds_max = 20.0


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "kafka"
    LocalKafka(tmp_path / "kafka").stop()


def send(bootstrap: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    producer.produce("events", value, partition=0)
    assert producer.flush(seconds_max) == 0


def read_messages(bootstrap: str) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "tests"})
    try:
        partition = TopicPartition("events", 0, 0)
        _, end = consumer.get_watermark_offsets(partition, timeout=seconds_max)
        consumer.assign([partition])
        messages = consumer.consume(end, timeout=seconds_max)
        return [message.value() for message in messages]
    finally:
        consumer.close()


def test_its_jars_are_named_once() -> None:
    lock = read_lock("kafka")
    names = [jar.file_name for jar in lock.jars]
    assert len(names) == len(set(names))
    assert {f"kafka_2.13-{lock.version}.jar", f"kafka-clients-{lock.version}.jar"} <= set(names)
    assert lock.version.startswith("4.1.")


@pytest.mark.slow
def test_a_broker_is_found_again_and_keeps_acknowledged_messages_when_killed(home: Path) -> None:
    with LocalKafka(home, cache=jar_cache()) as first:
        assert not first.reused
        assert first.bootstrap.startswith("127.0.0.1:")
        send(first.bootstrap, b"one")
        with LocalKafka(home, cache=jar_cache()) as reused:
            assert (reused.reused, reused.pid, reused.bootstrap) == (
                True,
                first.pid,
                first.bootstrap,
            )
        # The process that found it running did not end it.
        send(first.bootstrap, b"two")

        os.kill(first.pid, signal.SIGKILL)
        restarted = LocalKafka(home, cache=jar_cache()).start()
        assert (restarted.reused, restarted.bootstrap) == (False, first.bootstrap)
        assert read_messages(restarted.bootstrap) == [b"one", b"two"]
    assert process.command_line(restarted.pid) == ""


@pytest.mark.slow
def test_a_broker_that_cannot_start_shows_its_log_and_leaves_no_process(home: Path) -> None:
    home.mkdir()
    (home / "data").mkdir()
    (home / "data" / "meta.properties").write_text("version=1\ncluster.id=another\nnode.id=9\n")
    with pytest.raises(ServerError, match="ended while it started") as caught:
        LocalKafka(home, cache=jar_cache()).start()
    assert "node" in caught.value.message
