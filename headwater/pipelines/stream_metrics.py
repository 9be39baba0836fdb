"""The metrics of one stream, on an address of its own on loopback.

The names are those of the API and the worker, and they add up in the same way:

    headwater_events_received_total
        = headwater_events_folded_total + headwater_events_dead_total + headwater_stream_lag_offsets

Folded and dead are read from the checkpoint in the graph, so they go on where they were when the stream is started
again. The lag is what the source held behind the last batch when Spark last looked, in offsets (which count a little
more than messages where a topic is compacted or written in transactions); of files it is not known, and 0.
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
    """What the stream has done and what lies before it. Told by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checkpoint = Checkpoint()
        self._waiting = 0
        self._committed_at = 0.0
        self.registry = CollectorRegistry()
        self.registry.register(self)
        text = "From when a message came to its source until it was visible in the graph."
        self._lag = Histogram(
            "headwater_ingest_lag_seconds", text, buckets=_LAG_SECONDS, registry=self.registry
        )
        text = "One batch: read, fold and write, until committed."
        self._seconds = Histogram(
            "headwater_fold_seconds", text, buckets=_BATCH_SECONDS, registry=self.registry
        )

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """So far the graph had come when the stream asked."""
        with self._lock:
            self._checkpoint = checkpoint

    def on_commit(self, checkpoint: Checkpoint, folded: CommitReport) -> None:
        """A batch was committed; so far the graph has come with it."""
        now = time.time()
        for received in folded.received:
            self._lag.observe(max(now - received / 1_000_000, 0.0))
        self._seconds.observe(folded.seconds)
        with self._lock:
            self._checkpoint = checkpoint
            self._waiting = max(self._waiting - len(folded.received), 0)
            self._committed_at = now

    def on_progress(self, progress: dict[str, Any]) -> None:
        """What Spark says of its last batch. Older news than the last commit is none."""
        waiting = offset_lag(progress)
        with self._lock:
            if progress["batchId"] + 1 >= self._checkpoint.position:
                self._waiting = waiting

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            checkpoint, waiting, committed_at = self._checkpoint, self._waiting, self._committed_at
        received = checkpoint.folded + checkpoint.dead + waiting
        for name, text, value in (
            (
                "headwater_events_received",
                "Events that the source is known to hold, or to have held.",
                received,
            ),
            ("headwater_events_folded", "Events whose effect is in the graph.", checkpoint.folded),
            ("headwater_events_dead", "Events set aside with a reason.", checkpoint.dead),
            ("headwater_stream_batches", "BatchWriter that are in the graph.", checkpoint.position),
        ):
            counter = CounterMetricFamily(name, text)
            counter.add_metric([], value)
            yield counter
        for name, text, number in (
            (
                "headwater_stream_lag_offsets",
                "What the topics hold behind the last batch.",
                waiting,
            ),
            (
                "headwater_stream_last_commit_timestamp_seconds",
                "When this process last committed; 0: never.",
                committed_at,
            ),
        ):
            gauge = GaugeMetricFamily(name, text)
            gauge.add_metric([], number)
            yield gauge


def offset_lag(progress: dict[str, Any]) -> int:
    """How many offsets lie behind the end of a batch, over all partitions of a source that has offsets."""
    behind = 0
    for source in progress["sources"]:
        latest, end = _offsets(source.get("latestOffset")), _offsets(source.get("endOffset"))
        behind += sum(max(last - end.get(place, last), 0) for place, last in latest.items())
    return behind


def _offsets(said: Any) -> dict[tuple[str, str], int]:
    """Kafka's offsets by topic and partition; none of anything else."""
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except ValueError:
            return {}
    if not isinstance(said, dict):
        return {}
    return {
        (topic, partition): offset
        for topic, partitions in said.items()
        if isinstance(partitions, dict)
        for partition, offset in partitions.items()
    }


@contextmanager
def serve_metrics(counts: StreamCounts, port: int | None) -> Iterator[str]:
    """Answer at /metrics on this port of loopback (0: any free one) and give the address; None: answer nowhere.

    Raises SettingsError when the port is taken.
    """
    if port is None:
        yield ""
        return
    try:
        server, thread = start_http_server(port, HOST, counts.registry)
    except OSError as error:
        raise SettingsError(
            f"--metrics-port {port}: {error.strerror}", hint="0 takes any free one."
        ) from error
    try:
        yield f"http://{HOST}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
