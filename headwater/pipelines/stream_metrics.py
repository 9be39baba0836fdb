"""The metrics of one stream, served on a loopback port of its own.

The names are those of the API and the worker, and the sums are the same:

    headwater_events_received_total
        = headwater_events_folded_total + headwater_events_dead_total + headwater_stream_lag_offsets

Folded and dead come from the checkpoint in the graph, so a restart does not reset them. The lag is
the number of offsets behind the last batch in Spark's last progress report. Compacted or
transactional topics have more offsets than messages. For files the lag is unknown, and 0.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.errors import SettingsError
from headwater.ingest.worker import CommitReport
from headwater.ingest.write.transaction import Checkpoint

HOST = "127.0.0.1"
_LAG_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200)
_BATCH_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class StreamCounts(Collector):
    """The counters of a stream; several threads update them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checkpoint = Checkpoint()
        self._lag_offsets = 0
        self._committed_at = 0.0
        self.registry = CollectorRegistry()
        self.registry.register(self)
        text = "Seconds from a message's arrival at its source until it is in the graph."
        self._lag = Histogram(
            "headwater_ingest_lag_seconds", text, buckets=_LAG_SECONDS, registry=self.registry
        )
        text = "Seconds to read, fold, write and commit one batch."
        self._seconds = Histogram(
            "headwater_fold_seconds", text, buckets=_BATCH_SECONDS, registry=self.registry
        )

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Record the checkpoint that Neo4j holds when a batch starts."""
        with self._lock:
            self._checkpoint = checkpoint

    def on_commit(self, checkpoint: Checkpoint, folded: CommitReport) -> None:
        """Record the checkpoint after the commit of a batch."""
        now = time.time()
        for received in folded.received:
            self._lag.observe(max(now - received / 1_000_000, 0.0))
        self._seconds.observe(folded.seconds)
        with self._lock:
            self._checkpoint = checkpoint
            self._lag_offsets = max(self._lag_offsets - len(folded.received), 0)
            self._committed_at = now

    def on_progress(self, progress: dict[str, Any]) -> None:
        """Record Spark's progress report, unless it is older than the last commit."""
        lag = offset_lag(progress)
        with self._lock:
            if progress["batchId"] + 1 >= self._checkpoint.position:
                self._lag_offsets = lag

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            checkpoint, lag = self._checkpoint, self._lag_offsets
            committed_at = self._committed_at
        received = checkpoint.folded + checkpoint.dead + lag
        for name, text, value in (
            (
                "headwater_events_received",
                "Events that the source holds or has held.",
                received,
            ),
            ("headwater_events_folded", "Events whose effect is in the graph.", checkpoint.folded),
            ("headwater_events_dead", "Dead-lettered events.", checkpoint.dead),
            ("headwater_stream_batches", "BatchWriter that are in the graph.", checkpoint.position),
        ):
            counter = CounterMetricFamily(name, text)
            counter.add_metric([], value)
            yield counter
        for name, text, number in (
            (
                "headwater_stream_lag_offsets",
                "Offsets of the topics behind the last batch.",
                lag,
            ),
            (
                "headwater_stream_last_commit_timestamp_seconds",
                "Time of the last commit of this process; 0: none.",
                committed_at,
            ),
        ):
            gauge = GaugeMetricFamily(name, text)
            gauge.add_metric([], number)
            yield gauge


def offset_lag(progress: dict[str, Any]) -> int:
    """Return the number of offsets behind the end of a batch, over all partitions with offsets."""
    lag = 0
    for source in progress["sources"]:
        latest, end = _offsets(source.get("latestOffset")), _offsets(source.get("endOffset"))
        lag += sum(max(last - end.get(key, last), 0) for key, last in latest.items())
    return lag


def _offsets(value: Any) -> dict[tuple[str, str], int]:
    """Return Kafka's offsets by topic and partition; empty for other sources."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    offsets: dict[tuple[str, str], int] = {}
    if isinstance(value, dict):
        for topic, partitions in value.items():
            if isinstance(partitions, dict):
                for partition, offset in partitions.items():
                    offsets[topic, partition] = offset
    return offsets


@contextmanager
def serve_metrics(counts: StreamCounts, port: int | None) -> Iterator[str]:
    """Serve /metrics on this loopback port (0: any free one) and yield the URL; None: do not serve.

    Raises SettingsError if the port is taken.
    """
    if port is None:
        yield ""
        return
    try:
        server, thread = start_http_server(port, HOST, counts.registry)
    except OSError as error:
        raise SettingsError(
            f"--metrics-port {port}: {error.strerror}", hint="Use 0 for any free port."
        ) from error
    try:
        yield f"http://{HOST}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
