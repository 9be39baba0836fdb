"""The application without Neo4j: its welcome, its errors, and events that are accepted anyway."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.warmup import PLANNING_SECONDS_MAX
from headwater.local.ports import free_port
from headwater.server import create_app, run_warm_up
from headwater.settings import load

EVENT = {
    "eventType": "START",
    "eventTime": "2026-01-01T00:00:00Z",
    "producer": "https://example.com/p",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    "run": {"runId": "00000000-0000-4000-8000-000000000001"},
    "job": {"namespace": "etl", "name": "load"},
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    environment = {
        "HEADWATER_HOME": str(tmp_path),
        "HEADWATER_NEO4J_URI": f"bolt://127.0.0.1:{free_port()}",
    }
    with TestClient(create_app(load(environment)), base_url="http://127.0.0.1") as client:
        yield client


def test_the_first_page_fits_the_caller(client: TestClient) -> None:
    assert client.get("/").json()["send events to"] == "/api/v1/lineage"
    page = client.get("/", headers={"Accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")


def test_an_event_is_accepted_without_neo4j(client: TestClient) -> None:
    answers = [client.post("/api/v1/lineage", json=EVENT) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert [answer.json() for answer in answers] == [{"sequence": 1}, {"sequence": 2}]
    assert client.get("/readyz").status_code == 503


def test_an_unknown_path_and_method_have_errors_in_json(client: TestClient) -> None:
    for answer, status in ((client.get("/nothing"), 404), (client.put("/api/v1/lineage"), 405)):
        assert answer.status_code == status
        assert answer.json()["error"]["message"]


@pytest.mark.neo4j
def test_questions_have_more_time_until_the_first_queries_are_planned(database: Database) -> None:
    seconds: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002
            seconds.append(database.planning_seconds)
            if not database.planning_seconds:
                self.set()
            return self.is_set()

    database.planning_seconds = PLANNING_SECONDS_MAX
    run_warm_up(database, Stop())
    assert seconds[0] == PLANNING_SECONDS_MAX
    assert seconds[-1] == 0.0
