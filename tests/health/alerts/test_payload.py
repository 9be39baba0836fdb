"""The body of a webhook, field by field."""

from __future__ import annotations

import json
from dataclasses import replace

from headwater.health.alerts.facts import TraceOfRun
from headwater.health.alerts.payload import webhook_body
from headwater.health.alerts.texts import alert_text, plain
from tests.health.alerts.alert_samples import FACTS, URL, alert

ROOT = "finding:failed-run:job:etl:orders@1"


def test_the_alert_and_who_is_affected() -> None:
    found = webhook_body(alert(), FACTS, URL)
    parts = ("findings", "consumers", "affected", "freshness", "links")
    facts = ("violations", "lastSuccesses", "rootCauses", "replayPlan", "traces")
    assert {name: value for name, value in found.items() if name not in parts + facts} == {
        "dedupKey": ROOT,
        "tier": "P1",
        "status": "firing",
        "title": "orders failed. Affected: 1 answer and 24 datasets (1 critical)",
        "since": "2026-03-02T12:00:00Z",
        "resolvedAt": None,
        "mergedInto": None,
        "moreFindings": 0,
        "moreConsumers": 23,
        "owners": ["etl", "finance"],
    }
    assert found["affected"] == {
        "answers": 1,
        "datasets": 24,
        "jobs": 0,
        "critical": 1,
        "truncated": False,
    }
    assert found["consumers"] == [
        {
            "urn": "answer:daily-revenue",
            "kind": "ANSWER",
            "name": "daily-revenue",
            "owners": ["finance"],
            "isCritical": False,
        },
        {
            "urn": "dataset:db:mart",
            "kind": "DATASET",
            "name": "mart",
            "owners": [],
            "isCritical": True,
        },
    ]


def test_the_findings_the_cause_first() -> None:
    root, late = webhook_body(alert(ended=20), FACTS, URL)["findings"]
    assert root == {
        "id": ROOT,
        "rule": "failed-run",
        "urn": "job:etl:orders",
        "title": "orders failed",
        "tier": "P1",
        "isCause": True,
        "firstSeen": "2026-03-02T12:00:00Z",
        "lastSeen": "2026-03-02T12:20:00Z",
        "resolvedAt": "2026-03-02T12:20:00Z",
        "resolvedBy": "run:later",
        "evidence": {"run": "run:2", "error": "disk full", "failures": 3},
        "owners": ["etl"],
        "links": {
            "runbook": f"{URL}/runbooks/failed-run",
            "page": f"{URL}/jobs/job%3Aetl%3Aorders",
            "lineage": f"{URL}/lineage?urn=job%3Aetl%3Aorders",
        },
    }
    assert (late["rule"], late["isCause"]) == ("stale-dataset", False)


def test_what_the_graph_adds() -> None:
    found = webhook_body(alert(), FACTS)
    assert found["links"] == {}
    assert found["freshness"] == [
        {
            "dataset": "dataset:db:raw",
            "newestAt": "2026-03-02T10:30:00Z",
            "oldestSource": "dataset:file:in",
            "oldestSourceAt": "2026-03-02T10:25:00Z",
        }
    ]
    assert found["violations"] == [
        {
            "node": "dataset:db:raw",
            "text": "raw failed a check of its data",
            "at": "2026-03-02T11:00:00Z",
        }
    ]
    assert found["lastSuccesses"] == [
        {"node": "job:etl:orders", "run": "run:1", "at": "2026-03-02T11:00:00Z"}
    ]
    assert found["rootCauses"] == [
        {
            "node": "run:0",
            "text": "the run before changed its code",
            "at": "2026-03-02T10:59:00Z",
        }
    ]
    assert found["replayPlan"] == {
        "run": "run:2",
        "runs": 3,
        "steps": [["job:etl:orders"], ["job:etl:mart", "job:etl:kpi"]],
        "answers": 1,
    }


def test_traces_with_their_links() -> None:
    one = TraceOfRun("a" * 32, "run:2", "https://jaeger.example.com/trace/" + "a" * 32)
    found = webhook_body(alert(), replace(FACTS, traces=(one,)))
    assert found["traces"] == [{"traceId": "a" * 32, "run": "run:2", "url": one.url}]
    assert f"Traces: {one.url}" in plain(alert_text(alert(), replace(FACTS, traces=(one,))))


def test_without_facts_the_names_stay() -> None:
    full, bare = webhook_body(alert(), FACTS), webhook_body(alert())
    assert full.keys() == bare.keys()
    assert bare["freshness"] == bare["violations"] == bare["lastSuccesses"] == []
    assert bare["replayPlan"] is None


def test_a_merged_alert_names_the_one_that_goes_on() -> None:
    merged = replace(alert(ended=20), merged_into="finding:other")
    found = webhook_body(merged)
    assert (found["status"], found["mergedInto"]) == ("resolved", "finding:other")
    assert found["resolvedAt"] == "2026-03-02T12:20:00Z"


def test_the_body_is_json() -> None:
    found = webhook_body(alert(), FACTS, URL)
    assert json.loads(json.dumps(found)) == found
