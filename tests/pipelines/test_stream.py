"""The stream, with a real Kafka, a real Spark and the real Neo4j: the worker's graph, each event counted once, whatever
is killed; what cannot be folded set aside with its reason; Neo4j away for a while; files that are added to a folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headwater.cypher.database import Database
from headwater.local.kafka import LocalKafka
from tests.canonical import empty
from tests.conftest import Neo4jServer, jar_cache
from tests.faults.processes import wait_for
from tests.pipelines.streams import (
    SECONDS_MAX,
    Gate,
    StreamProcess,
    events_of,
    send,
)

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.neo4j]

BAD = {
    b"not json": "the body is not JSON",
    b'{"eventTime": "2026-01-01T00:00:00Z"}': "neither a run, a job nor a dataset",
    b'{"job": {"namespace": "etl", "name": "j"}, "owner": "joe@example.com", "eventTime": "yesterday"}': "eventTime",
}


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[LocalKafka]:
    with LocalKafka(tmp_path / "kafka", cache=jar_cache()):
        yield LocalKafka(tmp_path / "kafka", cache=jar_cache())


@pytest.fixture
def gate(neo4j_server: Neo4jServer) -> Iterator[Gate]:
    gate = Gate(neo4j_server)
    yield gate
    gate.cut()


def done(stream: StreamProcess, database: Database) -> int:
    """How many events are in the graph, or set aside."""
    checkpoint = stream.position(database)
    return checkpoint.folded + checkpoint.dead


def test_nothing_is_lost_or_counted_twice_whatever_is_killed(
    kafka: LocalKafka, gate: Gate, database: Database, tmp_path: Path
) -> None:
    empty(database)
    broker = kafka.start()
    first = [event for number in range(150) for event in events_of(number)]
    send(broker.bootstrap, "lineage", first)
    producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": "0"})
    for body in BAD:
        producer.produce("lineage", body, key="bad")
    assert producer.flush(SECONDS_MAX) == 0
    options = ("--kafka", broker.bootstrap, "--topic", "lineage", "--most", "40", "--interval", "0")

    stream = StreamProcess(tmp_path, gate.server, *options)
    try:
        wait_for("some batches", lambda: stream.position(database).position >= 3, SECONDS_MAX)
        stream.kill()
        os.kill(broker.pid, signal.SIGKILL)
        kafka.start()

        stream = StreamProcess(tmp_path, gate.server, *options)
        total = len(first) + len(BAD)
        wait_for("what was sent", lambda: done(stream, database) == total, SECONDS_MAX)

        gate.cut()
        later = [event for number in range(150, 180) for event in events_of(number)]
        send(broker.bootstrap, "lineage", later)
        wait_for("it waits", lambda: "waiting up to" in stream.said(), SECONDS_MAX)
        gate.open()
        total += len(later)
        wait_for("what was sent meanwhile", lambda: done(stream, database) == total, SECONDS_MAX)
        assert stream.end() == 0, stream.said()
    finally:
        stream.kill()
    print(stream.said())
    assert stream.position(database).folded == len(first) + len(later)
