"""Measure events through Kafka to the graph, all on this machine: `python -m bench.stream`.

    floor      Spark only reads the topic, in the same batches
    sustained  a full topic is drained: events a second, from the first batch to the last commit
    latency    events arrive at a steady rate: from Kafka until visible in the graph

Neo4j and Kafka have a temporary home each. One Spark uses all cores.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from bench.events import events
from bench.report import Report, print_progress, spread
from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.ingest.worker import CommitReport
from headwater.ingest.write.transaction import Checkpoint
from headwater.local.kafka import LocalKafka
from headwater.local.neo4j import LocalNeo4j
from headwater.pipelines.stream import Stream, TriggerInterval, stream_session
from headwater.pipelines.stream_batches import BatchWriter
from headwater.pipelines.stream_chunks import MessageRules
from headwater.pipelines.stream_metrics import StreamCounts
from headwater.pipelines.stream_sources import KafkaSource
from headwater.schema.naming import load_naming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOPIC = "lineage"
FLUSH_SECONDS = 60.0
_POLL_EVENTS = 1_000


class Watch(StreamCounts):
    """Records every commit: its time, its number of events, and the age of each event."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[tuple[float, int]] = []
        self.batch_seconds: list[float] = []
        self.lags: list[float] = []

    def on_commit(self, checkpoint: Checkpoint, folded: CommitReport) -> None:
        super().on_commit(checkpoint, folded)
        now = time.time()
        self.commits.append((now, len(folded.received)))
        self.batch_seconds.append(folded.seconds)
        self.lags += [now - received / 1e6 for received in folded.received]


class Bench:
    def __init__(
        self, spark: SparkSession, database: Database, bootstrap: str, folder: Path, chosen: Any
    ) -> None:
        self._spark = spark
        self._database = database
        self._bootstrap = bootstrap
        self._folder = folder
        self._options = chosen
        self._checkpoints = 0

    def fill(self, runs: int, *, first: int = 0) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "linger.ms": 50,
                "queue.buffering.max.messages": 10**6,
            }
        )
        for number, body in enumerate(events(runs, self._options.jobs, first=first)):
            producer.produce(
                TOPIC, body, key=f"run:bench/job_{(number // 2 + first) % self._options.jobs}"
            )
            if number % _POLL_EVENTS == 0:
                producer.poll(0)
        assert producer.flush(FLUSH_SECONDS) == 0

    def floor(self) -> dict[str, Any]:
        """Return events a second when every byte is read and nothing is done with it."""
        read = 0

        def looked(frame: DataFrame, _: int) -> None:
            nonlocal read
            read += frame.selectExpr("count(value) AS n", "sum(crc32(value)) AS s").collect()[0][
                "n"
            ]

        began = time.monotonic()
        writer = self._source().open(self._spark).writeStream.foreachBatch(looked)
        query = (
            writer.option("checkpointLocation", self._checkpoint())
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        seconds = time.monotonic() - began
        return {"events": read, "seconds": seconds, "eventsPerSecond": read / seconds}

    def sustained(self) -> dict[str, Any]:
        watch = Watch()
        began = time.time()
        self._run(watch, TriggerInterval(once=True), self._checkpoint())
        total = sum(count for _, count in watch.commits)
        # The first batch also waits for Python workers to start and for Neo4j to plan.
        (first, of_first), (last, _) = watch.commits[0], watch.commits[-1]
        return {
            "events": total,
            "eventsPerSecond": total / (last - began),
            "eventsPerSecondAfterFirstBatch": (total - of_first) / (last - first)
            if last > first
            else None,
            "batchSeconds": spread(watch.batch_seconds),
        }

    def latency(self) -> dict[str, Any]:
        chosen, watch = self._options, Watch()
        batches = self._batches(watch, since="latest")
        begun = threading.Event()

        def send() -> None:
            begun.wait()
            producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 5})
            start = time.monotonic()
            for number, body in enumerate(
                events(chosen.rate * chosen.seconds // 2, chosen.jobs, first=chosen.runs)
            ):
                time.sleep(max(start + number / chosen.rate - time.monotonic(), 0))
                producer.produce(
                    TOPIC, body, key=f"run:bench/job_{(number // 2 + chosen.runs) % chosen.jobs}"
                )
                producer.poll(0)
            producer.flush(FLUSH_SECONDS)
            deadline = time.monotonic() + FLUSH_SECONDS
            while (
                len(watch.lags) < chosen.rate * chosen.seconds // 2 * 2
                and time.monotonic() < deadline
            ):
                time.sleep(0.1)
            batches.end()

        sender = threading.Thread(target=send)
        sender.start()
        threading.Timer(chosen.warm_seconds, begun.set).start()
        stream = Stream(
            self._database, batches.source, batches, watch, heartbeat_timeout_seconds=86_400
        )
        stream.run(self._spark, self._checkpoint(), TriggerInterval(chosen.interval))
        sender.join()
        return {
            "rate": chosen.rate,
            "intervalSeconds": chosen.interval,
            "eventToVisibleSeconds": spread(watch.lags),
        }

    def _run(self, watch: Watch, pace: TriggerInterval, checkpoint: str) -> None:
        batches = self._batches(watch)
        Stream(
            self._database, batches.source, batches, watch, heartbeat_timeout_seconds=86_400
        ).run(self._spark, checkpoint, pace)

    def _batches(self, watch: Watch, since: str = "earliest") -> BatchWriter:
        rules = MessageRules(
            b"0123456789abcdef",
            load_naming(),
            event_bytes_max=10 * 2**20,
            future_seconds=60,
        )
        source = self._source(since)
        return BatchWriter(
            self._database, source, rules, events_max=self._options.transaction, observer=watch
        )

    def _source(self, since: str = "earliest") -> KafkaSource:
        return KafkaSource(
            self._bootstrap, TOPIC, f"{TOPIC}-dead", since=since, offsets_max=self._options.most
        )

    def _checkpoint(self) -> str:
        self._checkpoints += 1
        return str(self._folder / f"checkpoint-{self._checkpoints}")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.stream", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--runs", type=int, default=20_000, help="two events each")
    parser.add_argument("--jobs", type=int, default=1_000)
    parser.add_argument("--most", type=int, default=10_000, help="offsets of one batch")
    parser.add_argument("--transaction", type=int, default=10_000, help="events of one transaction")
    parser.add_argument(
        "--rate", type=int, default=1_000, help="events a second while latency is measured"
    )
    parser.add_argument("--seconds", type=int, default=30, help="for so long")
    parser.add_argument("--interval", type=float, default=0.2)
    parser.add_argument("--warm-seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    report = Report("stream")
    with tempfile.TemporaryDirectory(prefix="bench-stream-") as name:
        folder = Path(name)
        source = KafkaSource("", TOPIC, "")
        with (
            LocalKafka(folder / "kafka", heap_mb=512) as kafka,
            LocalNeo4j(folder / "neo4j", bolt_port=0) as neo4j,
            closing(Database(neo4j.uri, neo4j.user, neo4j.password)) as database,
            stream_session(source, master="local[*]", events_max=chosen.transaction) as spark,
        ):
            migrate(database)
            bench = Bench(spark, database, kafka.bootstrap, folder, chosen)
            print_progress(f"filling the topic with {chosen.runs * 2} events")
            bench.fill(chosen.runs)
            bench.floor()  # the first read starts the processes that later reads use
            print_progress("floor: only reading")
            found: dict[str, Any] = {"floor": bench.floor()}
            print_progress("sustained: into the graph")
            found["sustained"] = bench.sustained()
            print_progress(f"latency: {chosen.rate} events a second for {chosen.seconds} s")
            found["latency"] = bench.latency()
            report.show(options=vars(chosen), **found)


if __name__ == "__main__":
    main()
