"""Probes over HTTP, on an API whose Neo4j is away."""

from __future__ import annotations

from tests.ingest.conftest import Api, api  # noqa: F401


def test_the_process_is_alive_without_neo4j(api: Api) -> None:  # noqa: F811
    assert api.post(b"", "/healthz", method="GET").status == 200


def test_a_check_that_fails_is_named_with_its_reason(api: Api) -> None:  # noqa: F811
    answer = api.post(b"", "/readyz", method="GET")
    assert (answer.status, answer.body["ready"]) == (503, False)
    checks = answer.body["checks"]
    assert checks["spool"] == {"ok": True}
    assert checks["neo4j"]["ok"] is False
    assert checks["neo4j"]["reason"]
    assert checks["migrations"]["reason"] == "unknown while Neo4j does not answer"


def test_metrics_are_served_without_neo4j(api: Api) -> None:  # noqa: F811
    answer = api.post(b"", "/metrics", method="GET")
    assert answer.status == 200
    assert b"headwater_neo4j_up 0.0" in answer.body
