"""The messages of the outbox as metrics: by receiver and state, and the alerts that fire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater.errors import HeadwaterError
from headwater.health.alerts.listing import sent_alerts
from headwater.lineage.view import GraphView

SECONDS_MAX = 2.0


class DeliveryMetrics(Collector):
    """Gauges that are read from the graph at each scrape; none while Neo4j does not answer."""

    def __init__(self, view: GraphView) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        try:
            rows = self._view.read("read/alerts/delivery_counts", seconds=SECONDS_MAX)
            firing = sent_alerts(self._view, resolved=False)
        except HeadwaterError:
            return
        deliveries = GaugeMetricFamily(
            "headwater_alert_deliveries",
            "Messages of the last 30 days to receivers of alerts.",
            labels=["receiver", "state"],
        )
        for row in rows:
            deliveries.add_metric([row["receiver"], row["state"]], row["count"])
        yield deliveries
        alerts = GaugeMetricFamily("headwater_alerts_firing", "Alerts that fire.", labels=["tier"])
        for tier, count in sorted(Counter(one.tier for one in firing).items()):
            alerts.add_metric([tier], count)
        yield alerts
