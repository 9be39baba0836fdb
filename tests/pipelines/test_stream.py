"""The stream on a real Kafka, Spark and Neo4j: the worker's graph, and each event once.

Processes are killed, bad messages become dead letters, Neo4j is unavailable for a while, and files
are added to a folder.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from headwater.cypher.driver.database import Database, Transaction
from headwater.cypher.maintenance.erase import erase
from headwater.cypher.maintenance.export import count
from headwater.errors import QueryError
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.write.transaction import Checkpoint, write
from headwater.local.jars import ensure_jars, read_lock
from headwater.local.kafka import LocalKafka
from headwater.pipelines import stream_batches
from headwater.pipelines.stream import Stream, TriggerInterval, stream_session
from headwater.pipelines.stream_batches import BatchWriter, OtherGraphError
from headwater.pipelines.stream_chunks import MessageRules
from headwater.pipelines.stream_metrics import StreamCounts
from headwater.pipelines.stream_sources import FileSource, KafkaSource
from headwater.schema.naming import load_naming
from tests.canonical import canonical, empty
from tests.conftest import Neo4jServer, jar_cache
from tests.faults.processes import wait_for
from tests.pipelines.streams import (
    KEY,
    PRODUCER,
    SECONDS_MAX,
    Gate,
    StreamProcess,
    bodies,
    by_the_worker,
    counted,
    events_of,
    held,
    send,
)
from tests.run_builders import RECEIVED
from tests.sparks import small
from tests.torture import in_torture_only

pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.neo4j,
    # Spark's own Python leaves sockets for the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

BAD = {
    b"not json": "the body is not JSON",
    b'{"eventTime": "2026-01-01T00:00:00Z"}': "no run, job or dataset",
    b'{"job": {"namespace": "etl", "name": "j"}, "note": "joe@example.com",'
    b' "eventTime": "yesterday"}': "eventTime",
}


@pytest.fixture(scope="module", autouse=True)
def _small() -> Iterator[None]:
    with small():
        yield


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[LocalKafka]:
    # Fetch the jars now, so that the waits below are for Spark only.
    ensure_jars(jar_cache(), lock=read_lock("spark-kafka"))
    with LocalKafka(tmp_path / "kafka", cache=jar_cache()):
        yield LocalKafka(tmp_path / "kafka", cache=jar_cache())


@pytest.fixture
def gate(neo4j_server: Neo4jServer) -> Iterator[Gate]:
    gate = Gate(neo4j_server)
    yield gate
    gate.cut()


def done(stream: StreamProcess, database: Database) -> int:
    """Return the number of folded and dead-lettered events."""
    checkpoint = stream.position(database)
    return checkpoint.folded + checkpoint.dead


@in_torture_only
def test_nothing_is_lost_or_counted_twice_after_any_kill(
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
    options = (
        "--kafka",
        broker.bootstrap,
        "--topic",
        "lineage",
        "--batch-limit",
        "40",
        "--interval",
        "0",
    )

    stream = StreamProcess(tmp_path, gate.server, *options)
    try:
        wait_for("some batches", lambda: stream.position(database).position >= 3, SECONDS_MAX)
        stream.kill()
        os.kill(broker.pid, signal.SIGKILL)
        kafka.start()

        stream = StreamProcess(tmp_path, gate.server, *options)
        total = len(first) + len(BAD)
        # The broker and a new Spark start beside each other.
        wait_for("what was sent", lambda: done(stream, database) == total, 3 * SECONDS_MAX)

        gate.cut()
        more = [event for number in range(150, 180) for event in events_of(number)]
        send(broker.bootstrap, "lineage", more)
        wait_for("it waits", lambda: "retry pause_seconds=" in stream.said(), SECONDS_MAX)
        gate.open()
        total += len(more)
        wait_for("what was sent meanwhile", lambda: done(stream, database) == total, SECONDS_MAX)
        position = stream.position(database)
        # The graph has a batch an instant before the metrics have.
        reasons = {
            "headwater_events_folded_total": position.folded,
            "headwater_events_dead_total": position.dead,
            "headwater_stream_lag_offsets": 0,
            "headwater_events_received_total": total,
        }
        wait_for("its metrics", lambda: reasons.items() <= stream.metrics().items(), SECONDS_MAX)
        assert stream.metrics()["headwater_ingest_lag_seconds_count"] > 0
        assert stream.end() == 0, stream.said()
    finally:
        stream.kill()

    streamed, tallied = canonical(database), counted(database)
    assert stream.position(database) == position
    assert (position.folded, position.dead) == (len(first) + len(more), len(BAD))
    # The batch in progress at the kill is counted once.
    assert tallied == {PRODUCER: position.folded, "": position.dead}
    # A repeated batch may dead-letter the same message a second time.
    dead = {
        (headers["headwater.partition"], headers["headwater.offset"]): (value, headers)
        for value, headers in held(broker.bootstrap, "lineage-dead")
    }
    redactor = Redactor(KEY.encode())
    assert {
        value: next(why for why in BAD.values() if why in headers["headwater.reason"])
        for value, headers in dead.values()
    } == {redactor.redact(body): why for body, why in BAD.items()}
    assert b"joe@example.com" not in b"".join(value for value, _ in dead.values())
    assert {headers["headwater.topic"] for _, headers in dead.values()} == {"lineage"}
    assert streamed == by_the_worker(database, tmp_path, bodies([*first, *more]))


def test_messages_with_any_timestamp(
    kafka: LocalKafka, database: Database, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    empty(database)
    broker = kafka.start()
    limits = {f"message.timestamp.{side}.max.ms": str(2**63 - 1) for side in ("before", "after")}
    client = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": "0"})
    client.create_topics([NewTopic("lineage", 2, 1, config=limits)])["lineage"].result(SECONDS_MAX)
    source = KafkaSource(broker.bootstrap, "lineage", "lineage-dead", offsets_max=1_000)
    rules = MessageRules(
        redaction_key=KEY.encode(),
        naming=load_naming(),
        event_bytes_max=10_000,
        future_seconds=60,
    )
    limit = 9_223_372_036_854_775
    times = (
        2**63 - 1,
        1_795_910_547_089_372_000,
        limit,
        limit + 1,
        RECEIVED // 1_000,
        -2,
        -limit,
        -(2**63),
    )
    neighbours = bodies([event for number in range(20) for event in events_of(number)])
    poison = bodies(events_of(13, jobs=99))

    def produce(events: list[bytes], *timestamps: int) -> None:
        producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": "0"})
        failed: list[object] = []
        for number, event in enumerate(events):
            producer.produce(
                "lineage",
                event,
                partition=number % 2,
                timestamp=timestamps[number % len(timestamps)] if timestamps else 0,
                on_delivery=lambda error, _: failed.append(error),
            )
        assert (producer.flush(SECONDS_MAX), set(failed)) == (0, {None})

    with (
        closing(Picky(neo4j_server.uri, neo4j_server.user, neo4j_server.password)) as picky,
        stream_session(source, master="local[1]", events_max=7) as spark,
    ):

        def once() -> None:
            counts = StreamCounts()
            batches = BatchWriter(picky, source, rules, events_max=7, observer=counts)
            stream = Stream(picky, source, batches, counts, heartbeat_timeout_seconds=86_400)
            stream.run(spark, str(tmp_path / "checkpoint"), TriggerInterval(once=True))

        produce(neighbours[:20])
        once()
        assert counted(database) == {PRODUCER: 20}
        produce([*neighbours[20:30], b"not json", *poison, *neighbours[30:]], *times)
        once()
        produce(neighbours[:2])
        once()
        tallied = counted(database)
        assert tallied == {PRODUCER: len(neighbours) + len(poison) + 2, "": 1}
        streamed = canonical(database)
    dead = held(broker.bootstrap, "lineage-dead")
    assert sorted(value for value, _ in dead) == sorted([b"not json", *poison])
    assert streamed == by_the_worker(database, tmp_path, neighbours)


class Picky(Database):
    """A database that refuses every statement about one job."""

    refused = "etl:job13"

    def begin(self, *, seconds: float = 60.0) -> Transaction:
        return PickyTransaction(super().begin(seconds=seconds))


class PickyTransaction(Transaction):
    def __init__(self, transaction: Transaction) -> None:
        vars(self).update(vars(transaction))

    def submit(self, name: str, /, **parameters: Any) -> Future[list[dict[str, Any]]]:
        if name.startswith("write/") and Picky.refused in json.dumps(parameters, default=str):
            raise QueryError("this cannot be held")
        return super().submit(name, **parameters)


def test_files_that_are_added(
    database: Database,
    neo4j_server: Neo4jServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    empty(database)
    sizes: list[int] = []

    def write_after_erasure(*arguments: Any, **options: Any) -> Checkpoint:
        """Erase the graph between the first two transactions of the first batch."""
        sizes.append(sum(counts.nodes for counts in count(database).values()))
        if len(sizes) == 2:
            erase(database, holder="tests")
        return write(*arguments, **options)

    monkeypatch.setattr(stream_batches, "write", write_after_erasure)
    folder = tmp_path / "events"
    folder.mkdir()
    source = FileSource(str(folder), str(tmp_path / "dead"), files_max=1)
    rules = MessageRules(
        redaction_key=KEY.encode(),
        naming=load_naming(),
        event_bytes_max=10_000,
        future_seconds=60,
    )
    first, second = (
        bodies([event for number in numbers for event in events_of(number)])
        for numbers in (range(20), range(20, 40))
    )
    poison = bodies(events_of(13, jobs=99))
    (folder / "1.jsonl").write_bytes(
        b"\n".join([*first, b"", b"not json", b'{"a": "' + b"x" * 10_000 + b'"}']) + b"\n"
    )

    with (
        closing(Picky(neo4j_server.uri, neo4j_server.user, neo4j_server.password)) as picky,
        stream_session(source, master="local[1]", events_max=15) as spark,
    ):

        def once() -> None:
            counts = StreamCounts()
            batches = BatchWriter(picky, source, rules, events_max=15, observer=counts)
            stream = Stream(picky, source, batches, counts, heartbeat_timeout_seconds=86_400)
            stream.run(spark, str(tmp_path / "checkpoint"), TriggerInterval(once=True))

        once()
        assert counted(database) == {PRODUCER: len(first), "": 2}
        assert sizes[0] == 0 < sizes[1]
        (folder / "2.jsonl.gz").write_bytes(gzip.compress(b"\n".join([*second, *poison])))
        once()
        streamed, tallied = canonical(database), counted(database)
        once()
        assert (canonical(database), counted(database)) == (streamed, tallied)
        assert tallied == {PRODUCER: len(first) + len(second) + len(poison), "": 2}

        empty(database)
        (folder / "3.jsonl").write_bytes(first[0] + b"\n")
        with pytest.raises(OtherGraphError, match="0 batches") as caught:
            once()
        assert "--checkpoint" in caught.value.hint

    dead = [
        json.loads(line)
        for file in sorted((tmp_path / "dead").iterdir())
        for line in file.read_text().splitlines()
    ]
    assert [one["event"].encode() for one in dead] == [b"not json", b"", *poison]
    assert [Path(one["file"]).name for one in dead] == [
        "1.jsonl",
        "1.jsonl",
        "2.jsonl.gz",
        "2.jsonl.gz",
    ]
    assert "not JSON" in dead[0]["reason"]
    assert "larger than 10000 bytes" in dead[1]["reason"]
    assert dead[2]["reason"] == "QueryError: this cannot be held"
    assert streamed == by_the_worker(database, tmp_path, [*first, *second])
