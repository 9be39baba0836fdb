"""`headwater pipeline stream`: events from Kafka, or from files that are added to a folder, into the graph.

    Kafka or files -> redact, judge, fold -> chunks -> joined -> one transaction a batch, with the checkpoint
                         (Spark's workers)             (here: there is one write lock)

The same graph as the worker makes of the same events, and each event counted once, whatever is killed
(`stream_batches` says what that rests on). It goes on until it is told to end, and then ends behind the batch that it
is at. With Neo4j away it waits. What fails otherwise (a broker that is gone, a topic that is not there yet) is tried
again with pauses that grow, and given up after ten times without a batch in between.
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
from headwater.ingest.write.containment import sweep
from headwater.local.jars import ensure_jars, read_lock
from headwater.local.progress import show_jars
from headwater.pipelines import run_as_submitted
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
# How many messages become one chunk.
CHUNK_MESSAGES = 500

log = logging.getLogger("headwater.stream")


class TriggerInterval(msgspec.Struct, frozen=True):
    """When batches are made: at most every so many seconds, or (`once`) until what is there is done."""

    seconds: float = 0.5
    once: bool = False


class Stream:
    """One stream: `run` until `batches.stop` is set, or until all there is is done."""

    def __init__(
        self,
        database: Database,
        source: Source,
        batches: BatchWriter,
        counts: StreamCounts,
        *,
        heartbeat_timeout_seconds: int,
    ) -> None:
        """`batches` must tell `counts`."""
        self._database = database
        self._source = source
        self._batches = batches
        self._counts = counts
        self._heartbeat_timeout_seconds = heartbeat_timeout_seconds
        self._sweep_at = 0.0
        self._failures = 0

    def run(self, spark: SparkSession, checkpoint: str, interval: TriggerInterval) -> None:
        """Raises OtherGraphError, and UnavailableError when the source fails for good."""
        log.info("folding %s into %s", self._source, self._database.uri)
        while not self._batches.stop.is_set():
            try:
                query = self._start(spark, checkpoint, interval)
                try:
                    self._follow(query, interval)
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
                log.warning("trying again in %.0f s: %s", pause, error.message)
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

    def _follow(self, query: StreamingQuery, interval: TriggerInterval) -> None:
        """Until it ends by itself, fails, or is told to end."""
        seen = -1
        with _translate_spark_errors(self._batches, ""):
            while not query.awaitTermination(POLL_SECONDS):
                seen = self._look(query, seen)
                if self._batches.stop.is_set():
                    self._batches.end()
                    return
                # Of a history that is folded anew, nothing was heard for long.
                if not interval.once:
                    self._sweep()
            self._look(query, seen)

    def _look(self, query: StreamingQuery, seen: int) -> int:
        """Hear how far Spark is; returns the number of the last batch."""
        last = query.lastProgress
        if last is None:
            return seen
        progress: dict[str, Any] = json.loads(last.json)
        self._counts.on_progress(progress)
        number = int(progress["batchId"])
        if number > seen:
            self._failures = 0
        return number

    def _sweep(self) -> None:
        """Once a minute, mark the runs that have fallen silent."""
        if time.monotonic() < self._sweep_at:
            return
        self._sweep_at = time.monotonic() + SWEEP_SECONDS
        try:
            silent = sweep(
                self._database,
                now=datetime.now(UTC),
                heartbeat_timeout_seconds=self._heartbeat_timeout_seconds,
                holder=self._batches.holder,
            )
        except UnavailableError:
            return
        if silent:
            log.info(
                "%d runs of which nothing was heard for %d s are abandoned",
                silent,
                self._heartbeat_timeout_seconds,
            )


@contextmanager
def stream_session(
    source: Source, *, master: str, events_max: int, cache: Path | None = None
) -> Iterator[SparkSession]:
    """A Spark that can read this source. What it needs to read Kafka is fetched once into `cache` (default: the user's
    own); under spark-submit it is for `--packages` to name it.

    `events_max` is how many events one transaction takes. Raises JarError, or JavaError when Spark does not start.
    """
    settings = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(min(CHUNK_MESSAGES, events_max))
    }
    if isinstance(source, KafkaSource) and not any(name in os.environ for name in STARTED):
        lock = read_lock("spark-kafka")
        with show_jars("Kafka for Spark") as progress:
            folder = ensure_jars(cache, progress, lock=lock)
        settings["spark.jars"] = ",".join(str(folder / jar.file_name) for jar in lock.jars)
    with spark_session("stream", master=master, settings=settings) as spark:
        yield spark


@contextmanager
def _translate_spark_errors(batches: BatchWriter, spark_version: str) -> Iterator[None]:
    """What Spark raises, as what it is: an error of a batch as itself, anything else as UnavailableError."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        failure, batches.failure = batches.failure, None
        if failure is not None:
            raise failure from None
        said = str(error)
        if (
            "Failed to find data source: kafka" in said
            or "Failed to find the data source: kafka" in said
        ):
            packages = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark_version}"
            raise SettingsError(
                "this Spark cannot read Kafka", hint=f"spark-submit --packages {packages}"
            ) from None
        causes = [line.strip() for line in said.splitlines() if line.strip()]
        raise UnavailableError(
            f"the stream broke off: {causes[0] if causes else type(error).__name__}"
        ) from error


if __name__ == "__main__":
    run_as_submitted("stream")
