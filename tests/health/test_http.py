"""Probes over HTTP, on an API whose Neo4j is away."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.governance.policies.store import PolicyStore
from headwater.health import http
from headwater.health.metrics import EventCounts
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView
from tests.guards import guard_of
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
    assert checks["folding"]["reason"] == "unknown while Neo4j does not answer"
    assert [reason.partition(":")[0] for reason in answer.body["reasons"]] == [
        "neo4j",
        "migrations",
        "folding",
    ]


def test_metrics_are_served_without_neo4j(api: Api) -> None:  # noqa: F811
    answer = api.post(b"", "/metrics", method="GET")
    assert answer.status == 200
    assert b"headwater_neo4j_up 0.0" in answer.body


def test_a_broken_policy_is_a_failed_check_and_a_gauge(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: [")
    with (
        closing(Database("bolt://127.0.0.1:1", "neo4j", "none")) as database,
        closing(Spool(tmp_path / "spool.db")) as spool,
        closing(AccessStore(tmp_path / "access.db")) as access,
    ):
        routes = http.routes(GraphView(database), spool, policies=PolicyStore(tmp_path))
        guarded = guard_of(access).routes(routes)
        with TestClient(Starlette(routes=guarded)) as client:
            checks = client.get("/readyz").json()["checks"]
            metrics = client.get("/metrics").text
    assert checks["policies"]["ok"] is False
    assert checks["spool"] == {"ok": True}
    assert "headwater_policies_broken_files 1.0" in metrics


@pytest.mark.parametrize("path", ["/readyz", "/metrics"])
def test_callers_who_wait_share_a_check(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work: list[str] = []
    commit, refresh = Spool.check_writable, EventCounts.refresh

    def check_writable(spool: Spool) -> None:
        work.append("/readyz")
        commit(spool)

    def refresh_counts(counts: EventCounts) -> None:
        work.append("/metrics")
        refresh(counts)

    monkeypatch.setattr(Spool, "check_writable", check_writable)
    monkeypatch.setattr(EventCounts, "refresh", refresh_counts)

    async def get_often(application: Starlette) -> None:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answers = await asyncio.gather(*(client.get(path) for _ in range(40)))
        assert len({answer.status_code for answer in answers}) == 1

    with (
        closing(Database("bolt://127.0.0.1:1", "neo4j", "none")) as database,
        closing(Spool(tmp_path / "spool.db")) as spool,
        closing(AccessStore(tmp_path / "access.db")) as access,
    ):
        routes = http.routes(GraphView(database), spool)
        asyncio.run(get_often(Starlette(routes=guard_of(access).routes(routes))))
    assert work in ([path], [path] * 2)
