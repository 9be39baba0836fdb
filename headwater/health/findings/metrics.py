"""Metrics of findings, read from the graph at each scrape."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.lineage.view import GraphView


class FindingCounts(Collector):
    """The open findings, and the time since the detector was in step with the graph.

    A graph without a detector has neither.
    """

    def __init__(self, view: GraphView) -> None:
        """Create a collector of an unrestricted view."""
        self._view = view
        self._open: dict[tuple[str, str], int] = {}
        self._lag_seconds: float | None = None

    def refresh(self, *, seconds: float) -> None:
        """Read the counts from Neo4j. Raises UnavailableError."""
        self._lag_seconds = None
        rows = self._view.read("read/findings/detector", seconds=seconds)
        passed: datetime | None = rows[0]["properties"].get("passedAt") if rows else None
        if passed is not None:
            [clock] = self._view.read("read/state/clock", seconds=seconds)
            self._lag_seconds = max((clock["now"] - passed).total_seconds(), 0.0)
        counts = self._view.read("read/findings/open_counts", seconds=seconds)
        self._open = {(row["rule"], row["tier"]): row["count"] for row in counts}

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges that `refresh` read."""
        if self._lag_seconds is None:
            return
        lag = GaugeMetricFamily(
            "headwater_findings_lag_seconds",
            "Time since the findings were in step with the graph.",
        )
        lag.add_metric([], self._lag_seconds)
        yield lag
        found = GaugeMetricFamily(
            "headwater_findings_open", "Open findings.", labels=["rule", "tier"]
        )
        for (rule, tier), count in sorted(self._open.items()):
            found.add_metric([rule, tier], count)
        yield found
