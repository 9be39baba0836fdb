"""Faults between the deliverer of alerts and a receiver: each message arrives, and counts once."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.alerts import senders
from headwater.health.alerts.deliverer import ReceiverWorker
from headwater.health.alerts.receivers import Kind, Receiver
from headwater.health.alerts.senders import idempotency_key
from headwater.health.alerts.visible import ReceiverViews
from headwater.lineage.view import GraphView
from tests.faults.checker import scaled, seeded
from tests.faults.proxy import FaultProxy, Faults
from tests.health.alerts.alert_stores import change, deliveries, enqueue_now, store
from tests.health.alerts.finding_builders import finding
from tests.health.alerts.http_receivers import http_receiver

pytestmark = [pytest.mark.neo4j, pytest.mark.timeout(1800)]

MESSAGES = 8
FAULTS = {
    "cut": Faults(cut_after=150),
    "reply cut": Faults(cut_reply_to=b"Idempotency-Key"),
    "refused": Faults(refuse=True),
    "black hole": Faults(black_hole=True),
    "sliced": Faults(slice_bytes=11),
}


def test_each_message_arrives_once_for_a_receiver_that_honours_its_key(
    graph: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = seeded(20261111)
    # The deliverer waits ten seconds for an answer; this test does not.
    monkeypatch.setattr(senders, "TIMEOUT_SECONDS", 2.0)
    with http_receiver() as peer:
        port = urlsplit(peer.url).port
        assert port is not None
        with FaultProxy(port) as proxy:
            hook = Receiver("hook", Kind.WEBHOOK, f"http://127.0.0.1:{proxy.port}/hook")
            store(graph, *(finding(subject=f"job:etl:{number}") for number in range(MESSAGES)))
            enqueue_now(graph, hook)
            expected = {idempotency_key(one["urn"]) for one in deliveries(graph)}
            assert len(expected) == MESSAGES
            worker = ReceiverWorker(graph, hook, ReceiverViews(GraphView(graph)))
            for name in [*chance.choices(list(FAULTS), k=scaled(3)), "reply cut"]:
                with proxy.injecting(FAULTS[name]):
                    worker.pass_once()
                change(graph, nextAt=datetime.now(UTC))
            attempts = len(peer.received)
            while not all(one["state"] == "delivered" for one in deliveries(graph)):
                change(graph, nextAt=datetime.now(UTC))
                worker.pass_once()
        assert set(peer.keys) == expected
        texts = {one.key: one.text for one in peer.received}
        assert all(one.text == texts[one.key] for one in peer.received)
        print(f"{attempts} messages arrived during faults, {len(peer.received)} in all")
