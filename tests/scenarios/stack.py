"""One API, one worker, one detector and one inbox of alerts, on the Neo4j of the tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.cypher.driver.database import Database
from headwater.health.alerts.service import alert_service
from headwater.health.findings.detector import Detector
from headwater.ingest.spool.spool import Spool
from headwater.scenarios.inbox import open_inbox
from headwater.scenarios.stage import Target
from headwater.settings import load
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import started


@contextmanager
def running_target(server: Neo4jServer, database: Database, home: Path) -> Iterator[Target]:
    """Yield a target on an empty graph, until the end of the block."""
    with open_inbox(home / "inbox") as inbox, started(server, database, home) as running:
        settings = load(
            {
                "HEADWATER_HOME": str(home),
                "HEADWATER_ALERT_WEBHOOKS": inbox.url,
                "HEADWATER_ALERTMANAGER": inbox.alertmanager,
                "HEADWATER_PUBLIC_URL": running.url,
            }
        )
        spool = Spool(home / "spool.db")
        with alert_service(database, settings, delivers=True) as alerts:
            detector = Detector(database, spool=spool, enqueue=alerts.enqueue)
            thread = threading.Thread(target=detector.run)
            thread.start()
            try:
                yield Target(running.url, inbox)
            finally:
                detector.stop.set()
                thread.join()
        spool.close()
