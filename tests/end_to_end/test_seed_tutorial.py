"""The tutorial's seven steps with the Python API: an answer is traced to its sources, a failed run
found.
"""

from __future__ import annotations

import pytest

from examples import seed_tutorial
from headwater import Headwater
from headwater.errors import EventError, NotFoundError, QueryError, UnavailableError
from tests.end_to_end.conftest import Running

pytestmark = pytest.mark.neo4j


def test_the_answer_is_traced_to_its_two_sources(running: Running) -> None:
    headwater = Headwater(running.url)
    seed_tutorial.register(headwater)
    running.wait_folded()
    found = headwater.trace("report-q1-retention")
    assert found["answer"]["content"] == "Q1 2025: churn rate dropped 4.2% YoY."
    assert found["answer"]["generatedBy"] == "analytics-agent-v3"
    assert [
        (s["name"], s["origin"], s["format"], s["rowCount"], s["checksum"])
        for s in found["sources"]
    ] == [
        ("billing-snapshot-Q1", "Stripe", "json", 3_800, "sha256:def456"),
        ("crm-export-2025-03-01", "Salesforce", "csv", 14_200, "sha256:abc123"),
    ]
    assert {run["runId"]: run["status"] for run in found["runs"]} == {
        "enrich-contacts-v2-20250301": "COMPLETE",
        "summary-q1-20250401": "COMPLETE",
    }
    assert {artifact["name"]: artifact["rowCount"] for artifact in found["artifacts"]} == {
        "contacts-enriched-20250301": 13_940,
        "q1-contact-summary": None,
    }
    assert sorted(edge["type"] for edge in found["edges"]) == [
        "CITED_BY", "FEEDS", "FEEDS", "FEEDS", "PRODUCED", "PRODUCED",
    ]  # fmt: skip
    assert found["truncated"] is False


def test_the_failed_run_and_its_unfinished_artifact(running: Running) -> None:
    headwater = Headwater(running.url)
    seed_tutorial.register(headwater)
    running.wait_folded()
    failed = next(run for run in headwater.failed_runs() if run["runId"] == "summary-q2-20250701")
    assert failed["failedAt"] == "2025-07-01T08:04:10Z"
    assert failed["error"] == "billing snapshot is missing"
    assert [artifact["name"] for artifact in failed["artifacts"]] == ["q2-contact-summary"]


def test_wrong_input_gives_a_clear_error(running: Running) -> None:
    headwater = Headwater(running.url)
    with pytest.raises(QueryError, match="splendid"):
        headwater.pipeline_run("r", pipeline_name="p", status="splendid")
    with pytest.raises(EventError, match="eventTime"):
        headwater.source("s", captured_at="yesterday")
    with pytest.raises(NotFoundError, match="no-such-answer"):
        headwater.trace("no-such-answer")


def test_an_absent_server_gives_a_clear_error() -> None:
    with pytest.raises(UnavailableError, match="does not answer"):
        Headwater("http://127.0.0.1:9", timeout_seconds=1).source("s")
