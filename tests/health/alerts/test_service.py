"""From events to a receiver: the detector finds, the outbox writes, the deliverer sends."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.health.alerts.service import alert_service
from headwater.health.findings.detector import Detector
from headwater.settings import Settings
from tests.event_builders import run_event
from tests.health.alerts.alert_stores import deliveries
from tests.health.alerts.http_receivers import http_receiver
from tests.run_builders import at, write_events

pytestmark = pytest.mark.neo4j


@pytest.mark.usefixtures("clean_graph")
def test_a_failed_run_is_alerted_and_resolved_by_its_retry(
    clean_graph: Driver, database: Database, tmp_path: Path
) -> None:
    del clean_graph
    began = datetime.fromisoformat(at(0)).replace(tzinfo=UTC)
    story = [
        run_event("r1", "COMPLETE", 0, job="load", outputs=["raw"]),
        run_event("r2", "COMPLETE", 1, job="report", inputs=["raw"], outputs=["mart"]),
        run_event("r3", "FAIL", 10, job="load", outputs=["raw"]),
    ]
    write_events(database, story)
    with http_receiver() as peer:
        settings = Settings(
            alert_webhooks=peer.url,
            spool=str(tmp_path / "spool.db"),
            public_url="https://headwater.example.com",
        )
        now = [began + timedelta(minutes=10, seconds=30)]
        with alert_service(database, settings, delivers=True) as alerts:
            detector = Detector(database, enqueue=alerts.enqueue, clock=lambda: now[0])
            detector.full_pass()
            # A failed run waits for a minute, so that a retry that helps disturbs nobody.
            assert deliveries(database) == []
            now[0] += timedelta(minutes=1)
            for _ in range(2):
                detector.full_pass()
            while not peer.received:
                time.sleep(0.05)
            write_events(database, [run_event("r4", "COMPLETE", 15, job="load", outputs=["raw"])])
            now[0] += timedelta(minutes=5)
            for _ in range(2):
                detector.full_pass()
            while len(peer.received) < 2:
                time.sleep(0.05)
    firing, resolved = (one.body for one in peer.received)
    assert (firing["status"], resolved["status"]) == ("firing", "resolved")
    assert firing["dedupKey"] == resolved["dedupKey"]
    assert firing["title"].startswith("load failed. Affected: ")
    assert firing["findings"][0]["rule"] == "failed-run"
    assert firing["links"]["runbook"] == "https://headwater.example.com/runbooks/failed-run"
    assert resolved["findings"][0]["resolvedBy"] == "run:r4"
    assert len(peer.received) == len(deliveries(database)) == 2
