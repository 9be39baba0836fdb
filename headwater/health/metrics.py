"""Metrics for Prometheus.

Event counts are read from their source: received from the spool, folded and dead from the
checkpoint in the graph. The spool depth is the difference. So at every moment

    headwater_events_received_total
        = headwater_events_folded_total + headwater_events_dead_total + headwater_spool_depth

Each process observes its own histograms. The API and the worker are two processes, so they share a
folder of prometheus-client (`PROMETHEUS_MULTIPROC_DIR`), and the API's /metrics answers for both. A
process without disk space for its files in that folder answers for itself alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from headwater.errors import HeadwaterError
from headwater.health.findings.metrics import FindingCounts
from headwater.health.folding import FoldingState
from headwater.health.multiprocess_metrics import VARIABLE
from headwater.health.own_spans import own_spans
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import CommitReport
from headwater.ingest.write.transaction import Checkpoint
from headwater.lineage.view import GraphView

SCRAPE_SECONDS_MAX = 2.0
LAG_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200)
_QUERY_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

lag = Histogram(
    "headwater_ingest_lag_seconds",
    "From accepted to visible in the graph, per event.",
    buckets=LAG_SECONDS,
)
fold_time = Histogram(
    "headwater_fold_seconds", "One batch: fold and write, until committed.", buckets=_QUERY_SECONDS
)
query_time = Histogram(
    "headwater_query_seconds",
    "One named query of the catalog.",
    ["query"],
    buckets=_QUERY_SECONDS,
)
request_time = Histogram(
    "headwater_request_seconds", "One HTTP request.", ["route", "status"], buckets=_QUERY_SECONDS
)
refused = Counter("headwater_events_refused", "Events answered with a 4xx.")
redacted = Counter(
    "headwater_redacted_values",
    "Values of personal data that were hashed in texts of events.",
    ["class"],
)
questions = Counter(
    "headwater_questions", "Questions: answered, failed, or refused as wrong.", ["outcome"]
)


def observe_commit(report: CommitReport) -> None:
    """Observe the lag and the duration of a committed batch."""
    for received in report.received:
        lag.observe(max(report.committed_at - received / 1_000_000, 0.0))
    fold_time.observe(report.seconds)
    if (spans := own_spans()) is not None:
        spans.add_batch(report)


def declare_redactions(classes: Iterable[str]) -> None:
    """Show these classes with 0, so that the first value of each is an increase."""
    for kind in classes:
        redacted.labels(kind.partition(":")[0])


def observe_redaction(kind: str) -> None:
    """Count a value of a class that was hashed."""
    redacted.labels(kind).inc()


def observe_query(name: str, seconds: float) -> None:
    query_time.labels(name).observe(seconds)
    if (spans := own_spans()) is not None:
        spans.add_statement(name, seconds)


class EventCounts(Collector):
    """The event counts, the state of the lineage cache, and the findings.

    While Neo4j does not answer, the counts come from the last checkpoint that was read.
    """

    def __init__(self, spool: Spool, view: GraphView, folding: FoldingState | None = None) -> None:
        self._spool = spool
        self._view = view
        self._folding = folding or FoldingState(view.database, spool)
        self._stalled_seconds = 0.0
        self._checkpoint = Checkpoint()
        self._up = False
        self._revision = 0
        self._late_runs = 0
        self._findings = FindingCounts(view)

    def refresh(self) -> None:
        """Read the checkpoint from Neo4j. The caller bounds the time, then calls `collect`."""
        self._up = False
        try:
            rows = self._view.read(
                "read/state/checkpoint", seconds=SCRAPE_SECONDS_MAX, spool=self._spool.id
            )
            revisions = self._view.read("read/cache/revision", seconds=SCRAPE_SECONDS_MAX)
            retention = self._view.read("read/state/retention", seconds=SCRAPE_SECONDS_MAX)
        except HeadwaterError:
            return
        self._revision = revisions[0]["revision"] if revisions else 0
        self._late_runs = retention[0]["lateRuns"] if retention else 0
        self._checkpoint = Checkpoint(**rows[0]) if rows else Checkpoint()
        self._up = True
        with suppress(HeadwaterError):
            self._stalled_seconds = self._folding.stalled_seconds(self._checkpoint.position)
        with suppress(HeadwaterError):
            self._findings.refresh(seconds=SCRAPE_SECONDS_MAX)

    def collect(self) -> Iterator[Metric]:
        # Read after the checkpoint: an event that arrives in between counts as waiting, not as
        # folded before it was received.
        checkpoint, up = self._checkpoint, self._up
        received = self._spool.last()
        oldest = self._spool.received_at(checkpoint.position + 1)
        age = time.time() - oldest / 1_000_000 if oldest is not None else 0.0
        yield _counter("headwater_events_received", "Events accepted and synced to disk.", received)
        yield _counter(
            "headwater_events_folded", "Events whose effect is in the graph.", checkpoint.folded
        )
        yield _counter(
            "headwater_events_dead", "Events dead-lettered with a reason.", checkpoint.dead
        )
        yield _counter(
            "headwater_late_runs",
            "Runs that are not in the graph: their events came after their rollup horizon.",
            self._late_runs,
        )
        yield _gauge(
            "headwater_spool_depth",
            "Events that wait to be folded.",
            received - checkpoint.position,
        )
        yield _gauge(
            "headwater_spool_oldest_seconds",
            "Waiting time of the oldest event in the spool.",
            max(age, 0.0),
        )
        yield _gauge(
            "headwater_folding_stalled_seconds",
            "Time for which events have waited without a commit.",
            self._stalled_seconds,
        )
        yield _gauge("headwater_neo4j_up", "1 if Neo4j answered this scrape, else 0.", int(up))
        yield from self._findings.collect()
        if (cache := self._view.cache) is not None:
            lag = max(self._revision - cache.revision, 0)
            yield _gauge(
                "headwater_cache_staleness_seconds",
                "Time since the lineage cache was in step with the graph.",
                cache.staleness_seconds,
            )
            yield _gauge(
                "headwater_cache_revision_lag",
                "Revisions of the graph that the lineage cache has not read yet.",
                lag,
            )
            yield _gauge(
                "headwater_cache_pending_datasets",
                "Datasets whose columns the lineage cache has not read yet.",
                cache.pending_datasets,
            )


def exposition(counts: EventCounts, *others: Collector) -> bytes:
    """Return all metrics in the text format of Prometheus."""
    registry = CollectorRegistry()
    for collector in (counts, *others):
        registry.register(collector)
    if VARIABLE not in os.environ:
        return generate_latest(registry) + generate_latest(REGISTRY)
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def remove_ended_processes(folder: Path) -> None:
    """Remove the live gauges of ended processes."""
    for file in folder.glob("*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists() and int(pid) != os.getpid():
            mark_process_dead(int(pid), str(folder))  # type: ignore[no-untyped-call]


def _counter(name: str, text: str, value: float) -> Metric:
    family = CounterMetricFamily(name, text)
    family.add_metric([], value)
    return family


def _gauge(name: str, text: str, value: float) -> Metric:
    family = GaugeMetricFamily(name, text)
    family.add_metric([], value)
    return family
