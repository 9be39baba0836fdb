"""What is wrong now, over GraphQL, with hand-worked results."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from headwater.cypher.driver.database import Database
from tests.event_builders import dataset, run_event, schema
from tests.graphql.conftest import Ask
from tests.run_builders import ds, run, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


def test_failing_pipelines(database: Database, data: Ask) -> None:
    write_events(
        database,
        run("a1", "load", [], ["t"], minute=0, status="FAIL", error="disk full"),
        run("a2", "load", [], ["t"], minute=10, status="FAIL", error="no memory"),
        run("b1", "build", ["t"], ["u"], minute=20, status="FAIL"),
    )
    query = """{ failingPipelines(first: 1, since: "2026-01-01T00:00:00Z") { totalCount failedRuns
      nodes { namespace name failedRuns runs firstFailedAt lastFailedAt job { urn }
        lastRun { runId error } } } }"""
    assert data(query)["failingPipelines"] == {
        "totalCount": 2,
        "failedRuns": 3,
        "nodes": [
            {
                "namespace": "etl",
                "name": "load",
                "failedRuns": 2,
                "runs": 2,
                "firstFailedAt": "2026-01-01T00:01:00Z",
                "lastFailedAt": "2026-01-01T00:11:00Z",
                "job": {"urn": "job:etl:load"},
                "lastRun": {"runId": "a2", "error": "no memory"},
            }
        ],
    }


def test_schema_changes(database: Database, data: Ask) -> None:
    write_events(
        database,
        [
            run_event("r0", minute=0, outputs=[dataset("t", schema(a="int"))]),
            run_event("r1", minute=1, outputs=[dataset("t", schema(a="long"))]),
        ],
    )
    query = """{ schemaChanges { totalCount truncated nodes { occurredAt differences hashBefore
      hashAfter versionUrn dataset { urn schemaVersions { hash } } version { runId } } } }"""
    found = data(query)["schemaChanges"]
    assert (found["totalCount"], found["truncated"]) == (1, False)
    [change] = found["nodes"]
    hashes = [one["hash"] for one in change["dataset"].pop("schemaVersions")]
    assert [change.pop("hashAfter"), change.pop("hashBefore")] == hashes
    assert change == {
        "occurredAt": "2026-01-01T00:01:00Z",
        "differences": ["retyped: a from int to long"],
        "versionUrn": version("t", "r1"),
        "dataset": {"urn": ds("t")},
        "version": {"runId": "r1"},
    }


def test_overdue_runs(database: Database, data: Ask) -> None:
    write_events(
        database,
        *(run(f"r{number}", "load", minute=number) for number in range(3)),
        [run_event("now", "START", 10, job="load")],
    )
    query = """{ overdueRuns { running truncated nodes { elapsedSeconds medianSeconds longestSeconds
      comparedRuns run { runId } } } }"""
    found = data(query)["overdueRuns"]
    assert (found["running"], found["truncated"]) == (1, False)
    [overdue] = found["nodes"]
    elapsed = datetime.now(UTC) - datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
    assert (
        timedelta(0)
        <= elapsed - timedelta(seconds=overdue.pop("elapsedSeconds"))
        < timedelta(hours=1)
    )
    assert overdue == {
        "medianSeconds": 60.0,
        "longestSeconds": 60.0,
        "comparedRuns": 3,
        "run": {"runId": "now"},
    }


def test_the_last_good_versions_of_a_failure(database: Database, data: Ask) -> None:
    write_events(
        database,
        run("good", "load", [], ["t"], minute=0, rows=10),
        run("bad", "load", [], ["t"], minute=10, status="FAIL"),
        run("first", "build", ["t"], ["u"], minute=20, status="FAIL"),
    )
    query = "{ failedRuns { nodes { runId lastGood { urn rowCount } } } }"
    assert data(query)["failedRuns"]["nodes"] == [
        {"runId": "first", "lastGood": []},
        {"runId": "bad", "lastGood": [{"urn": version("t", "good"), "rowCount": 10}]},
    ]
