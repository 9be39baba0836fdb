"""Limits over HTTP, by the whole application: events, batches, questions, sign-ins and metrics."""

from __future__ import annotations

import asyncio
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


class BodiesInTurn:
    """Requests to the batch route that are sent piece by piece."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def beside_unfinished(
        self,
        loud: dict[str, str],
        beginning: bytes,
        callers: list[dict[str, str]],
        body: bytes,
    ) -> list[int]:
        """Return the statuses of whole bodies of callers, while a body of `loud` does not end."""
        is_read, is_left = asyncio.Event(), asyncio.Event()

        async def receive_beginning() -> dict[str, Any]:
            if is_read.is_set():
                await is_left.wait()
                return {"type": "http.disconnect"}
            is_read.set()
            return {"type": "http.request", "body": beginning, "more_body": True}

        async def receive_whole() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        unfinished = asyncio.create_task(self._post(loud, receive_beginning))
        await is_read.wait()
        statuses = [await self._post(caller, receive_whole) for caller in callers]
        is_left.set()
        await unfinished
        return statuses

    async def _post(self, key: dict[str, str], receive: Callable[[], Any]) -> int:
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        headers = [(b"host", b"127.0.0.1:8000"), (b"authorization", key["Authorization"].encode())]
        scope = {
            "type": "http",
            "method": "POST",
            "path": BATCH,
            "raw_path": BATCH.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }
        await self._app(scope, receive, send)
        return sent[0]["status"] if sent else 0


@pytest.mark.parametrize("client", [{"body_memory_max": 300_000}], indirect=True)
def test_a_caller_holds_half_of_the_memory_of_bodies(
    client: TestClient, own_store: AccessStore, key: dict[str, str]
) -> None:
    other, _ = Keys(own_store).create("bob", [Scope.INGEST])
    body = json.dumps([EVENT] * 10).encode().ljust(100_000)
    posts = BodiesInTurn(client.app)
    assert client.portal is not None
    statuses = client.portal.call(
        posts.beside_unfinished,
        key,
        b"[" * 100_000,
        [key, {"Authorization": f"Bearer {other}"}],
        body,
    )
    assert statuses == [503, 200]
