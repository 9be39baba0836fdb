"""Limits over HTTP, by the whole application: events, batches, questions, sign-ins and metrics."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.limit_store import Limits, LimitStore
from headwater.access.principal import Scope
from headwater.access.sessions import Sessions
from headwater.access.store import AccessStore
from headwater.server import create_app
from headwater.settings import load
from tests.access.test_guard import EVENT

EVENTS, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
Open = Callable[..., TestClient]


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def key(own_store: AccessStore) -> dict[str, str]:
    text, _ = Keys(own_store).create("limited ann", [Scope.READ, Scope.INGEST])
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def client(tmp_path: Path, key: dict[str, str], request: pytest.FixtureRequest) -> Any:
    assert key
    # No server listens there: nothing here may need Neo4j.
    environment = {"HEADWATER_HOME": str(tmp_path), "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1"}
    settings = load(environment, require_keys=True, **getattr(request, "param", {}))
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_events_over_the_limit_get_503_and_questions_do_not(
    client: TestClient, own_store: AccessStore, key: dict[str, str]
) -> None:
    # One event in 100 s: the second would wait too long, whatever the speed of this machine.
    LimitStore(own_store).set("limited ann", Limits(events=0.01))
    batch = json.dumps([EVENT] * 3)
    assert client.post(BATCH, content=batch, headers=key).json()["summary"]["successful"] == 3
    for path, body in ((EVENTS, EVENT), (BATCH, [EVENT]), ("/v1/traces", {})):
        refused = client.post(path, json=body, headers=key)
        assert refused.status_code == 503, path
        # Three events less the one of the bucket, 100 s each.
        assert 100 < int(refused.headers["retry-after"]) <= 200
        assert "0.01 events a second" in refused.json()["error"]["message"]
    asked = client.post("/graphql", json={"query": "{ __typename }"}, headers=key)
    assert asked.status_code == 200
    text = client.get("/metrics", headers=key).text
    assert 'headwater_caller_events_total{caller="limited ann"} 3.0' in text
    assert 'headwater_caller_requests_total{caller="limited ann",outcome="refused"} 3.0' in text


def test_questions_over_the_limit_get_429(
    client: TestClient, own_store: AccessStore, key: dict[str, str]
) -> None:
    LimitStore(own_store).set("limited ann", Limits(requests=0.01))
    query = {"query": "{ __typename }"}
    assert client.post("/graphql", json=query, headers=key).status_code == 200
    refused = client.post("/graphql", json=query, headers=key)
    assert refused.status_code == 429
    assert 90 < int(refused.headers["retry-after"]) <= 100
    # Marquez' paths answer in the form of Marquez.
    assert client.get("/api/v1/namespaces", headers=key).json()["code"] == 429
    # Probes, metrics, pages and the callers of other keys go on.
    for path in ("/healthz", "/metrics", "/", "/session"):
        assert client.get(path, headers=key).status_code == 200, path
    other, _ = Keys(own_store).create("bob", [Scope.READ])
    other_key = {"Authorization": f"Bearer {other}"}
    assert client.post("/graphql", json=query, headers=other_key).status_code == 200
    # A wrong key is refused as ever, and never with 429.
    wrong = {"Authorization": "Bearer hw_" + "0" * 12 + "_" + "x" * 43}
    assert client.post(EVENTS, json=EVENT, headers=wrong).status_code == 401


@pytest.mark.parametrize("client", [{"requests_per_second": 0.01}], indirect=True)
def test_the_settings_limit_callers_without_limits_of_their_own(
    client: TestClient, own_store: AccessStore, key: dict[str, str]
) -> None:
    assert client.get("/cypher", headers=key).status_code == 403
    assert client.post(EVENTS, json=EVENT, headers=key).status_code == 201
    assert client.post(EVENTS, json=EVENT, headers=key).status_code == 503
    free, _ = Keys(own_store).create("free", [Scope.INGEST])
    LimitStore(own_store).set("free", Limits())
    for _ in range(3):
        headers = {"Authorization": f"Bearer {free}"}
        assert client.post(EVENTS, json=EVENT, headers=headers).status_code == 201


@pytest.mark.parametrize("client", [{"failed_sign_ins_per_minute": 3}], indirect=True)
def test_failed_sign_ins_are_bounded(client: TestClient, key: dict[str, str]) -> None:
    page = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    for _ in range(3):
        assert client.post("/session", json={"key": "hw_wrong"}, headers=page).status_code == 401
    good = key["Authorization"].removeprefix("Bearer ")
    refused = client.post("/session", json={"key": good}, headers=page)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= 60
    # Keys that programs send are not affected.
    assert client.get("/session", headers=key).json()["principal"]["name"] == "limited ann"


@pytest.mark.parametrize("client", [{"failed_sign_ins_per_minute": 3}], indirect=True)
def test_concurrent_failed_sign_ins_are_bounded(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hold each look-up of a key until three are in work; the others must not reach it."""
    looked_up: list[str] = []
    together = threading.Barrier(3)
    start = Sessions.start

    def start_together(sessions: Sessions, sent: str) -> Any:
        looked_up.append(sent)
        together.wait()
        return start(sessions, sent)

    monkeypatch.setattr(Sessions, "start", start_together)
    page = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    with ThreadPoolExecutor(9) as threads:
        asked = [
            threads.submit(client.post, "/session", json={"key": f"hw_{n}"}, headers=page)
            for n in range(9)
        ]
        statuses = sorted(one.result().status_code for one in asked)
    assert statuses == [401] * 3 + [429] * 6
    assert len(looked_up) == 3
