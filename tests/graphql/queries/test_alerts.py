"""Alerts over GraphQL: one for each root cause, with hand-worked results."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.models import Consumer, Tier
from tests.graphql.conftest import Ask
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import ds, job

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

REPORT = Consumer("answer:report", "ANSWER", ("team:board",), is_critical=True)
FAILED = finding(
    episode("failed-run", job("load"), 10), Tier.P1, owners=["team:load"], consumers=[REPORT]
)
STALE = finding(episode("stale-dataset", ds("b"), 30), Tier.P2, root=FAILED.id)
ENDED = finding(episode("missing-run", job("other"), 5, end=8), Tier.P1)
DRIFT = finding(episode("mean", ds("c"), 40), Tier.P2)


def test_alerts(database: Database, data: Ask) -> None:
    save(database, [(FAILED, ["etl"]), (STALE, ["db"]), (ENDED, ["etl"]), (DRIFT, ["db"])])
    query = """query ($n: String, $first: Int) { alerts(namespace: $n, first: $first) { totalCount
      nodes { key status tier since findings { id } consumers { urn } } } }"""
    caused = {
        "key": FAILED.id,
        "status": "FIRING",
        "tier": "P1",
        "since": "2026-01-01T00:10:00Z",
        "findings": [{"id": FAILED.id}, {"id": STALE.id}],
    }
    found = data(query)["alerts"]
    assert found["totalCount"] == 2
    first, second = found["nodes"]
    assert first.pop("consumers")[0] == {"urn": "answer:report"}
    assert first == caused
    assert (second["key"], second["tier"]) == (DRIFT.id, "P2")
    assert data(query, n="etl")["alerts"]["totalCount"] == 1
    shown = data(query, first=1)["alerts"]
    assert (shown["totalCount"], len(shown["nodes"])) == (2, 1)
