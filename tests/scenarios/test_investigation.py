"""Each scenario on a real stack: what it declares is what Headwater answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.alerts.service import alert_service
from headwater.health.findings.detector import Detector
from headwater.ingest.spool.spool import Spool
from headwater.scenarios import catalogue, investigation
from headwater.scenarios.inbox import open_inbox
from headwater.scenarios.stage import Stage, Target, open_workshop
from headwater.settings import load
from tests.conftest import Neo4jServer
from tests.end_to_end.conftest import started

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def target(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """One API, one worker and one detector for all scenarios."""
    home = tmp_path_factory.mktemp("scenarios")
    with open_inbox(home / "inbox") as inbox, started(neo4j_server, database, home) as running:
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


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_each_scenario_finds_what_it_declares(name: str, target: Target, tmp_path: Path) -> None:
    workshop = open_workshop(name, tmp_path, target)
    story = catalogue.load(name)
    stage = Stage(story.truth, target, workshop)
    investigation.play(story, stage)
    wrong = [(step.name, step.expected, step.found) for step in stage.steps if not step.ok]
    assert wrong == []
    names = [step.name for step in stage.steps]
    assert "validate" in names
    assert names[-1] == "data"
