"""How the platform itself does, from the metrics that /metrics returns: counts, lag and latencies.

Quantiles come from the buckets of histograms, with equal spacing within a bucket, as
`histogram_quantile` of Prometheus does. They cover the time since the processes started.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from headwater.health.metrics import EventCounts, exposition
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView

SLOWEST_MAX = 20
_MEDIAN, _P95 = 0.5, 0.95


@dataclass(frozen=True)
class Latency:
    """The observations of one histogram; quantiles in seconds, None without observations.

    A quantile beyond the last bucket is infinite; the largest bound stands for it.
    """

    name: str
    count: int
    median: float | None
    p95: float | None


@dataclass(frozen=True)
class PlatformState:
    """The counts of events, the waiting ones, and the latencies since the start.

    `findings_lag_seconds` is None without a detector.
    """

    received: int
    folded: int
    dead: int
    refused: int
    waiting: int
    oldest_waiting_seconds: float
    is_neo4j_up: bool
    open_findings: int
    findings_lag_seconds: float | None
    lag: Latency
    queries: list[Latency]
    requests: list[Latency]


class PlatformReader:
    """Reads the state of the platform. Safe to share between threads."""

    def __init__(self, view: GraphView, spool: Spool) -> None:
        """Create a reader. `spool` is a connection for it alone."""
        self._counts = EventCounts(spool, view)
        # One SQLite connection serves one thread at a time.
        self._lock = threading.Lock()

    def read(self) -> PlatformState:
        """Return the present state; it waits for Neo4j for two seconds at most."""
        return platform_state(self.read_metrics())

    def read_metrics(self) -> list[Metric]:
        """Return all metrics of the processes; it waits for Neo4j for two seconds at most."""
        with self._lock:
            self._counts.refresh()
            text = exposition(self._counts).decode()
        return list(text_string_to_metric_families(text))


def platform_state(families: Iterable[Metric]) -> PlatformState:
    """Return the state that metrics in the text format of Prometheus describe."""
    metrics = {family.name: family for family in families}

    def value(name: str) -> float:
        family = metrics.get(name)
        values = [
            sample.value
            for sample in (family.samples if family else ())
            if not sample.name.endswith("_created")
        ]
        return sum(values)

    lag = _latencies(metrics.get("headwater_ingest_lag_seconds"), "")
    return PlatformState(
        received=int(value("headwater_events_received")),
        folded=int(value("headwater_events_folded")),
        dead=int(value("headwater_events_dead")),
        refused=int(value("headwater_events_refused")),
        waiting=int(value("headwater_spool_depth")),
        oldest_waiting_seconds=value("headwater_spool_oldest_seconds"),
        is_neo4j_up=value("headwater_neo4j_up") > 0,
        open_findings=int(value("headwater_findings_open")),
        findings_lag_seconds=(
            value("headwater_findings_lag_seconds")
            if "headwater_findings_lag_seconds" in metrics
            else None
        ),
        lag=lag[0] if lag else Latency("", 0, None, None),
        queries=_slowest(_latencies(metrics.get("headwater_query_seconds"), "query")),
        requests=_slowest(_latencies(metrics.get("headwater_request_seconds"), "route")),
    )


def quantile(share: float, buckets: Mapping[float, float]) -> float | None:
    """Return a quantile of cumulative bucket counts by upper bound; None without observations."""
    bounds = sorted(buckets)
    total = buckets[bounds[-1]] if bounds else 0.0
    if not total:
        return None
    rank = share * total
    lower, below = 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank:
            if math.isinf(bound):
                return lower
            inside = buckets[bound] - below
            return lower + (bound - lower) * (rank - below) / inside if inside else bound
        lower, below = bound, buckets[bound]
    return lower


def _latencies(family: Metric | None, label: str) -> list[Latency]:
    """Return the latency of each value of a label; the other labels are summed."""
    buckets: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    for sample in family.samples if family else ():
        if sample.name.endswith("_bucket"):
            name = sample.labels.get(label, "")
            buckets[name][float(sample.labels["le"])] += sample.value
    return [
        Latency(name, int(max(counts.values())), quantile(_MEDIAN, counts), quantile(_P95, counts))
        for name, counts in buckets.items()
    ]


def _slowest(latencies: list[Latency]) -> list[Latency]:
    """Return the slowest by the 95th percentile."""
    ordered = sorted(latencies, key=lambda one: (-(one.p95 or 0.0), -one.count, one.name))
    return ordered[:SLOWEST_MAX]
