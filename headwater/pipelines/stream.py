"""`headwater pipeline stream`: fold events from Kafka, or from files added to a folder.

    Kafka or files -> redact, parse, fold -> chunks -> join -> a transaction per batch + checkpoint
                         (Spark's workers)             (the driver: one write lock)

It makes the same graph as the worker and counts each event once, whatever is killed;
`stream_batches` explains why. It runs until it is stopped, and then finishes its batch. While Neo4j
is unavailable it waits. Other failures (a broker that is down, a topic that does not exist yet) are
retried with growing pauses, at most ten times without a batch in between.
"""

from __future__ import annotations

import json
import logging
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.cypher.driver.database import Database
from headwater.errors import SettingsError, UnavailableError
from headwater.ingest.worker import SWEEP_SECONDS
from headwater.ingest.write.containment import abandon_lost_heartbeats
from headwater.local.jars import ensure_jars, read_lock
from headwater.local.progress import show_jars
from headwater.pipelines import run_as_submitted
from headwater.pipelines.atlas_source import source_of
from headwater.pipelines.session import STARTED, spark_session
from headwater.pipelines.stream_batches import BatchWriter, StreamStoppedError
from headwater.pipelines.stream_metrics import StreamCounts
from headwater.pipelines.stream_sources import KafkaSource, Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

POLL_SECONDS = 1
TRIES_MAX = 10
PAUSE_SECONDS_MAX = 30.0
# The number of messages in one chunk.
CHUNK_MESSAGES = 500

log = logging.getLogger("headwater.stream")


class TriggerInterval(msgspec.Struct, frozen=True):
    """The trigger of batches: at least `seconds` apart, or `once` for all current messages."""

    seconds: float = 0.5
    once: bool = False


class Stream:
    """A stream that runs until `batches.stop` is set, or until all messages are folded."""

    def __init__(
        self,
        database: Database,
        source: Source,
        batches: BatchWriter,
        counts: StreamCounts,
        *,
        heartbeat_timeout_seconds: int,
    ) -> None:
        """Create a stream; `counts` must be the observer of `batches`."""
        self._database = database
        self._source = source
        self._batches = batches
        self._counts = counts
        self._heartbeat_timeout_seconds = heartbeat_timeout_seconds
        self._sweep_at = 0.0
        self._failures = 0

    def run(self, spark: SparkSession, checkpoint: str, interval: TriggerInterval) -> None:
        """Run the stream.

        Raises OtherGraphError, or UnavailableError if the source stays unavailable.
        """
        log.info("stream_started source=%r neo4j=%s", self._source, self._database.uri)
        while not self._batches.stop.is_set():
            try:
                query = self._start(spark, checkpoint, interval)
                try:
                    self._wait(query, interval)
                finally:
                    query.stop()
                return
            except StreamStoppedError:
                return
            except UnavailableError as error:
                self._failures += 1
                if interval.once or self._failures >= TRIES_MAX:
                    raise
                pause = min(2.0**self._failures, PAUSE_SECONDS_MAX)
                log.warning("restart pause_seconds=%.0f error=%r", pause, error.message)
                self._batches.stop.wait(random.uniform(pause / 2, pause))

    def _start(
        self, spark: SparkSession, checkpoint: str, interval: TriggerInterval
    ) -> StreamingQuery:
        with _translate_spark_errors(self._batches, spark.version):
            writer = (
                self._source.open(spark)
                .writeStream.queryName("headwater")
                .foreachBatch(self._batches)
            )
            writer = writer.option("checkpointLocation", checkpoint)
            if interval.once:
                query = writer.trigger(availableNow=True).start()
            else:
                query = writer.trigger(
                    processingTime=f"{round(interval.seconds * 1_000)} milliseconds"
                ).start()
        self._batches.identify(str(query.id), checkpoint)
        return query

    def _wait(self, query: StreamingQuery, interval: TriggerInterval) -> None:
        """Wait until the query ends, fails or is stopped."""
        batch = -1
        with _translate_spark_errors(self._batches, ""):
            while not query.awaitTermination(POLL_SECONDS):
                batch = self._record_progress(query, batch)
                if self._batches.stop.is_set():
                    self._batches.end()
                    return
                # The runs of replayed events have had no heartbeat for long.
                if not interval.once:
                    self._sweep()
            self._record_progress(query, batch)

    def _record_progress(self, query: StreamingQuery, last_batch: int) -> int:
        """Record the progress of Spark; return the number of the last batch."""
        last = query.lastProgress
        if last is None:
            return last_batch
        progress: dict[str, Any] = json.loads(last.json)
        self._counts.on_progress(progress)
        number = int(progress["batchId"])
        if number > last_batch:
            self._failures = 0
        return number

    def _sweep(self) -> None:
        """Mark the runs whose heartbeat has timed out, at most once a minute."""
        if time.monotonic() < self._sweep_at:
            return
        self._sweep_at = time.monotonic() + SWEEP_SECONDS
        try:
            abandoned = abandon_lost_heartbeats(
                self._database,
                now=datetime.now(UTC),
                heartbeat_timeout_seconds=self._heartbeat_timeout_seconds,
                holder=self._batches.holder,
            )
        except UnavailableError:
            return
        if abandoned:
            log.info(
                "runs_abandoned count=%d heartbeat_timeout_seconds=%d",
                abandoned,
                self._heartbeat_timeout_seconds,
            )


@contextmanager
def stream_session(
    source: Source, *, master: str, events_max: int, cache: Path | None = None
) -> Iterator[SparkSession]:
    """Yield a Spark session that can read this source.

    The jars for Kafka are fetched once into `cache` (default: the user's cache); under
    spark-submit, `--packages` must name them. `events_max` is the maximum of events in one
    transaction. Raises JarError, or JavaError if Spark does not start.
    """
    settings = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(min(CHUNK_MESSAGES, events_max))
    }
    if isinstance(source_of(source), KafkaSource) and not any(
        name in os.environ for name in STARTED
    ):
        lock = read_lock("spark-kafka")
        with show_jars("Kafka for Spark") as progress:
            folder = ensure_jars(cache, progress, lock=lock)
        settings["spark.jars"] = ",".join(str(folder / jar.file_name) for jar in lock.jars)
    with spark_session("stream", master=master, settings=settings) as spark:
        yield spark


@contextmanager
def _translate_spark_errors(batches: BatchWriter, spark_version: str) -> Iterator[None]:
    """Raise a batch's own error in place of Spark's; other Spark errors as UnavailableError."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        failure, batches.failure = batches.failure, None
        if failure is not None:
            raise failure from None
        message = str(error)
        if (
            "Failed to find data source: kafka" in message
            or "Failed to find the data source: kafka" in message
        ):
            packages = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark_version}"
            raise SettingsError(
                "this Spark cannot read Kafka", hint=f"spark-submit --packages {packages}"
            ) from None
        causes = [line.strip() for line in message.splitlines() if line.strip()]
        raise UnavailableError(
            f"the stream failed: {causes[0] if causes else type(error).__name__}"
        ) from error


if __name__ == "__main__":
    run_as_submitted("stream")
