"""The metrics of the outbox, and what they are while Neo4j is away."""

from __future__ import annotations

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.delivery_metrics import DeliveryMetrics
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.findings.models import Tier
from headwater.lineage.view import GraphView
from tests.health.alerts.alert_stores import enqueue_now, store
from tests.health.alerts.finding_builders import finding

pytestmark = pytest.mark.neo4j
HOOK = Receiver("hook", Kind.WEBHOOK, "http://127.0.0.1:9/")
OTHER = Receiver("other", Kind.WEBHOOK, "http://127.0.0.1:9/")


@pytest.fixture(autouse=True)
def _clean(clean_graph: Driver) -> None:
    del clean_graph


def test_metrics_count_messages_and_alerts(database: Database) -> None:
    store(database, finding(tier=Tier.P1), finding(subject="job:etl:b"))
    enqueue_now(database, HOOK, OTHER)
    samples: dict[tuple[str, ...], float] = {}
    for metric in DeliveryMetrics(GraphView(database)).collect():
        samples |= {(one.name, *one.labels.values()): one.value for one in metric.samples}
    assert samples == {
        ("headwater_alert_deliveries", "hook", "waiting"): 2,
        ("headwater_alert_deliveries", "other", "waiting"): 2,
        ("headwater_alerts_firing", "P1"): 1,
        ("headwater_alerts_firing", "P2"): 1,
    }


def test_without_messages_and_alerts_no_gauge_has_a_value(database: Database) -> None:
    metrics = list(DeliveryMetrics(GraphView(database)).collect())
    assert [(one.name, one.samples) for one in metrics] == [
        ("headwater_alert_deliveries", []),
        ("headwater_alerts_firing", []),
    ]
