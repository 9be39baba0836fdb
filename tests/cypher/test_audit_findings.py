"""The audit queries about findings, with hand-worked rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_audit
from headwater.health.findings.models import Tier
from tests.health.findings.builders import at, episode, finding, save
from tests.run_builders import ds, job

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

FAILED = finding(
    episode("failed-run", job("load"), 60), Tier.P1, owners=["team:load"], answers=2, critical=1
)
STALE = finding(episode("stale-dataset", ds("b"), 120), Tier.P2, root=FAILED.id)
OLDER = finding(episode("failed-run", job("other"), 0, end=90), Tier.P2)
OLDEST = finding(episode("failed-run", job("third"), 0, end=210), Tier.P2)


@pytest.fixture(autouse=True)
def stored(clean_graph: None, database: Database) -> None:
    del clean_graph
    found = (FAILED, STALE, OLDER, OLDEST)
    save(database, [(one, ["db"]) for one in found])


def test_open_findings(database: Database) -> None:
    first, second = run_audit(database, "findings", {}).rows
    hours = (datetime.now(UTC) - at(60)) / timedelta(hours=1)
    assert first.pop("hours") == pytest.approx(hours, abs=0.2)
    assert first == {
        "tier": "P1",
        "rule": "failed-run",
        "subject": job("load"),
        "owners": ["team:load"],
        "answers": 2,
        "critical": 1,
        "cause": None,
    }
    assert (second["tier"], second["cause"]) == ("P2", FAILED.id)
    assert len(run_audit(database, "findings", {"tier": "P2"}).rows) == 1
    assert len(run_audit(database, "findings", {"limit": 1}).rows) == 1


def test_history_of_findings(database: Database) -> None:
    rows = run_audit(database, "finding_history", {}).rows
    assert [
        (row["rule"], row["began"], row["open"], row["medianHours"], row["longestHours"])
        for row in rows
    ] == [("failed-run", 3, 1, 2.5, 3.5), ("stale-dataset", 1, 1, None, None)]
    since = run_audit(database, "finding_history", {"since": "2026-01-01T01:00:00Z"}).rows
    assert [(row["rule"], row["began"]) for row in since] == [
        ("failed-run", 1),
        ("stale-dataset", 1),
    ]
