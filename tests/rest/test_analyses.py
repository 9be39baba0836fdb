"""The findings of the last analysis over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.analyses import Finding, save_analysis
from tests.canonical import empty
from tests.run_builders import ds, job, run, write_events

pytestmark = pytest.mark.neo4j
PATH = "/api/v1/analyses"


def test_findings_about_visible_nodes_are_returned(database: Database, client: TestClient) -> None:
    empty(database)
    missing = client.get(PATH)
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "NotFound")
    write_events(database, run("b", "build", ["raw"], ["mart"]))
    slow = Finding("run_times", job("build"), {"slower": True, "recent_seconds": 200.0})
    expected = [
        slow,
        Finding("row_counts", ds("mart"), {"drifted": True}),
        Finding("summary", "", {"events": 81}),
    ]
    save_analysis(
        database,
        expected,
        newest_event_at=datetime(2026, 3, 31, tzinfo=UTC),
        analysed_at=datetime(2026, 4, 1, tzinfo=UTC),
    )
    complete = client.get(PATH).json()
    assert (complete["until"], complete["analysed"]) == (
        "2026-03-31T00:00:00Z",
        "2026-04-01T00:00:00Z",
    )
    assert [one["table"] for one in complete["findings"]] == ["row_counts", "run_times", "summary"]
    only = {
        "table": "run_times",
        "subject": job("build"),
        "values": {"slower": True, "recent_seconds": 200.0},
    }
    assert client.get(PATH, params={"table": "run_times"}).json()["findings"] == [only]
    assert client.get(PATH, headers={"x-visibility": "etl"}).json()["findings"] == [only]
    assert client.get(PATH, params={"table": "other"}).status_code == 400
