"""Lists of alerts and dead letters, and their retry."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.listing import dead_letters, figures, retry, sent_alerts
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.findings.models import Tier
from headwater.lineage.view import GraphView
from tests.health.alerts.alert_stores import change, deliveries, enqueue_now, store
from tests.health.alerts.finding_builders import finding

pytestmark = pytest.mark.neo4j
HOOK = Receiver("hook", Kind.WEBHOOK, "http://127.0.0.1:9/")
OTHER = Receiver("other", Kind.WEBHOOK, "http://127.0.0.1:9/")


@pytest.fixture(autouse=True)
def _clean(clean_graph: Driver) -> None:
    del clean_graph


def test_alerts_are_listed_with_the_state_of_each_message(database: Database) -> None:
    ended, urgent, lesser = (
        finding(subject="job:etl:a"),
        finding(subject="job:etl:b", tier=Tier.P1),
        finding(subject="job:etl:c"),
    )
    store(database, ended, lesser, urgent)
    enqueue_now(database, HOOK, OTHER)
    store(database, lesser, urgent)
    enqueue_now(database, HOOK, OTHER)
    view = GraphView(database)
    found = sent_alerts(view)
    assert [(one.dedup_key, one.status) for one in found] == [
        (urgent.id, "firing"),
        (lesser.id, "firing"),
        (ended.id, "resolved"),
    ]
    assert found[0].deliveries == {"hook": "waiting", "other": "waiting"}
    assert [one.dedup_key for one in sent_alerts(view, resolved=False)] == [urgent.id, lesser.id]
    counted = figures(view, days=30)
    assert (counted.fired, counted.resolved, counted.acted_upon) == (3, 1, 0)


def test_dead_letters_are_listed_and_queued_again(database: Database) -> None:
    store(database, finding())
    enqueue_now(database, HOOK, OTHER)
    change(database, state="dead", error="the receiver answered 422", endedAt=datetime.now(UTC))
    view = GraphView(database)
    assert [(one["receiver"], one["error"]) for one in dead_letters(view)] == [
        ("hook", "the receiver answered 422"),
        ("other", "the receiver answered 422"),
    ]
    assert retry(database, "other") == 1
    assert [one["receiver"] for one in dead_letters(view)] == ["hook"]
    states = {one["receiver"]: (one["state"], one.get("error")) for one in deliveries(database)}
    assert states["other"] == ("waiting", None)
    assert (retry(database), retry(database)) == (1, 0)
