"""Keys over HTTP, by the whole application: protected routes, the scopes of a key, and the access
log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.errors import SettingsError
from headwater.server import create_app
from headwater.settings import Settings, load
from tests.access.test_events import dataset, run

Serve = Callable[..., TestClient]
Key = Callable[..., dict[str, str]]
EVENT = run(
    eventTime="2026-01-01T00:00:00Z",
    producer="p",
    schemaURL="https://openlineage.io/spec/2-0-2/OpenLineage.json",
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    # No server listens there: nothing here may need Neo4j.
    return load(
        {"HEADWATER_HOME": str(tmp_path), "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1"},
        require_keys=True,
    )


@pytest.fixture
def own_store(settings: Settings) -> Iterator[AccessStore]:
    store = AccessStore(settings.access_path)
    yield store
    store.close()


@pytest.fixture
def key(own_store: AccessStore) -> Key:
    """Return the header with a new key of these scopes and namespaces."""

    def create(*scopes: Scope, namespaces: tuple[str, ...] = ("*",)) -> dict[str, str]:
        name = f"key {len(Keys(own_store).list())}"
        token, _ = Keys(own_store).create(name, scopes, namespaces=namespaces)
        return {"Authorization": f"Bearer {token}"}

    return create


@pytest.fixture
def client(settings: Settings, key: Key) -> Iterator[TestClient]:
    key(Scope.ADMIN)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client


def test_without_a_key_it_does_not_start_where_others_reach_it(tmp_path: Path) -> None:
    for environment in ({"HEADWATER_HOST": "0.0.0.0"}, {"HEADWATER_REQUIRE_KEYS": "true"}):
        with pytest.raises(SettingsError, match="none exists") as refusal:
            create_app(load({"HEADWATER_HOME": str(tmp_path), **environment}))
        assert "headwater keys create" in refusal.value.hint


def test_open_and_protected_routes(client: TestClient) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/").status_code == 200
    assert client.get("/graphql", headers={"Accept": "text/html"}).status_code == 200
    for answer in (
        client.get("/metrics"),
        client.post("/api/v1/lineage", json=EVENT),
        client.get("/access/log"),
    ):
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert "headwater keys create" in answer.json()["error"]["hint"]


@pytest.mark.parametrize(
    "header",
    [
        "Bearer nonsense",
        "Bearer",
        "Basic aHc6aHc=",
        "Basic aHc6aHdf",  # hw:hw_
        "Basic not base64",
        "Basic /w==",
        "Basic",
        "Bearer hw_000000000000_" + "a" * 43,
        "hw_1",
        "Bearer  ",
    ],
)
def test_a_wrong_key_is_refused(client: TestClient, header: str) -> None:
    assert client.get("/metrics", headers={"Authorization": header}).status_code == 401


def test_a_key_opens_its_scopes(client: TestClient, key: Key) -> None:
    reader, sender = key(Scope.READ), key(Scope.INGEST)
    assert client.get("/metrics", headers=reader).status_code == 200
    assert client.get("/metrics", headers=sender).status_code == 403
    assert client.post("/api/v1/lineage", json=EVENT, headers=sender).status_code == 201
    assert client.post("/api/v1/lineage", json=EVENT, headers=reader).status_code == 403
    assert client.get("/access/keys", headers=reader).status_code == 403


def test_a_key_is_the_password_of_clients_that_send_one(client: TestClient, key: Key) -> None:
    """The client of Apache Atlas, for example, sends a name and a password."""
    token = key(Scope.READ)["Authorization"].removeprefix("Bearer ")
    assert client.get("/metrics", auth=("anybody", token)).status_code == 200
    assert client.post("/api/v1/lineage", json=EVENT, auth=("", token)).status_code == 403
    assert client.get("/metrics", auth=(token, "anybody")).status_code == 401


def test_a_path_written_otherwise_leads_not_past_its_rule(client: TestClient) -> None:
    for path in (
        "/metrics/",
        "/./metrics",
        "/static/../metrics",
        "/%6detrics",
        "/metrics?x",
        "/METRICS",
    ):
        assert client.get(path).status_code in {401, 404}, path
    for method in ("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "metrics"):
        assert client.request(method, "/metrics").status_code in {401, 405}, method


def test_foreign_namespaces_are_refused_and_other_events_accepted(
    client: TestClient, key: Key
) -> None:
    team = key(Scope.INGEST, namespaces=("team-a",))
    theirs = {**EVENT, "job": {"namespace": "theirs", "name": "j"}}
    answer = client.post("/api/v1/lineage", json=theirs, headers=team)
    assert (answer.status_code, answer.json()["error"]["field"]) == (403, "job.namespace")
    answer = client.post("/api/v1/lineage/batch", json=[EVENT, theirs, EVENT], headers=team)
    assert answer.json()["summary"] == {
        "received": 3,
        "successful": 2,
        "failed": 1,
        "retriable": 0,
        "non_retriable": 1,
    }
    assert [(one["index"], one["field"]) for one in answer.json()["failed_events"]] == [
        (1, "job.namespace")
    ]
    assert (
        client.post(
            "/api/v1/lineage", json={**EVENT, "inputs": [dataset("theirs")]}, headers=team
        ).status_code
        == 201
    )


def test_a_namespace_is_authorized_without_its_credentials(client: TestClient, key: Key) -> None:
    team = key(Scope.INGEST, namespaces=("postgres://team*",))
    token = "postgres://team:secret@theirs:5432"
    event = {**EVENT, "job": {"namespace": token, "name": "j"}}
    answer = client.post("/api/v1/lineage", json=event, headers=team)
    assert (answer.status_code, answer.json()["error"]["field"]) == (403, "job.namespace")
    assert "secret" not in answer.text
    assert (
        client.post("/api/v1/lineage/batch", json=[event], headers=team).json()["summary"]["failed"]
        == 1
    )
    register = (
        f'mutation {{ registerSource(input: {{name: "s", namespace: "{token}"}}) {{ urn }} }}'
    )
    found = client.post("/graphql", json={"query": register}, headers=team).json()
    assert found["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    asset = {"asset_type": "table", "name": "t", "namespace": token}
    assert client.post("/v1/lineage/trace", json=asset, headers=team).status_code == 403
    own = {**EVENT, "job": {"namespace": "postgres://etl:secret@team-db:5432", "name": "j"}}
    assert client.post("/api/v1/lineage", json=own, headers=team).status_code == 201


@pytest.mark.parametrize("dress", [b"\xef\xbb\xbf%s", b"  %s  "])
def test_an_event_in_unusual_spelling_is_authorized_like_others(
    client: TestClient, key: Key, dress: bytes
) -> None:
    team = key(Scope.INGEST, namespaces=("team-a",))
    for event, status in (
        (EVENT, 201),
        ({**EVENT, "job": {"namespace": "theirs", "name": "j"}}, 403),
    ):
        body = dress % json.dumps({**event, "note": "half \ud800"}).encode()
        assert client.post("/api/v1/lineage", content=body, headers=team).status_code == status


def test_fields_of_graphql_have_rules_of_their_own(client: TestClient, key: Key) -> None:
    def post_query(query: str, **headers: str) -> tuple[Any, list[str]]:
        answer = client.post("/graphql", json={"query": query}, headers=headers).json()
        return answer.get("data"), [
            error["extensions"]["code"] for error in answer.get("errors", [])
        ]

    register = 'mutation { registerSource(input: {name: "s", namespace: "team-a"}) { urn } }'
    read = '{ answer(answerId: "x") { urn } }'
    assert post_query(read, **key(Scope.INGEST)) == ({"answer": None}, ["FORBIDDEN"])
    assert post_query(register, **key(Scope.READ))[1] == ["FORBIDDEN"]
    data, codes = post_query(register, **key(Scope.INGEST, namespaces=("team-a",)))
    assert (codes, data["registerSource"]["urn"]) == ([], "source:team-a:s")
    assert post_query(register, **key(Scope.INGEST, namespaces=("team-b",)))[1] == ["FORBIDDEN"]
    # An alias or a fragment is the same field.
    hidden = 'query { ...F } fragment F on Query { b: answer(answerId: "x") { urn } }'
    assert post_query(hidden, **key(Scope.INGEST))[1] == ["FORBIDDEN"]
    assert post_query("{ __schema { queryType { name } } }", **key(Scope.INGEST))[1] == []


@pytest.mark.parametrize(
    "query", ["{ __schema { types { name } } }", "{ owners { totalCount }", ""]
)
def test_without_a_key_a_question_is_refused_before_it_is_parsed(
    client: TestClient, own_store: AccessStore, query: str
) -> None:
    for answer in (
        client.post("/graphql", json={"query": query}),
        client.get("/graphql", params={"query": query}),
        # Only GET has a page.
        client.post("/graphql", content=b"{" * 70_000, headers={"accept": "text/html"}),
    ):
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="headwater"'
        [error] = answer.json()["errors"]
        assert error["message"] == "this Headwater requires an API key"
        assert error["extensions"]["code"] == "FORBIDDEN"
        assert "Authorization: Bearer" in error["extensions"]["hint"]
    actions = [entry.action for entry in AccessLog(own_store).entries()]
    assert actions == ["POST /graphql", "GET /graphql", "POST /graphql"]
    assert client.get("/graphql", headers={"accept": "text/html"}).status_code == 200


def test_refusals_and_reads_by_administrators_are_logged(
    client: TestClient, key: Key, own_store: AccessStore
) -> None:
    client.get("/metrics")
    client.get("/metrics", headers=key(Scope.INGEST))
    client.post(
        "/graphql", json={"query": '{ answer(answerId: "x") { urn } }'}, headers=key(Scope.INGEST)
    )
    entries = [
        (entry.principal, entry.action, entry.outcome) for entry in AccessLog(own_store).entries()
    ]
    assert entries == [
        ("key 2", "Query.answer", "refused"),
        ("key 1", "GET /metrics", "refused"),
        ("unauthenticated", "GET /metrics", "refused"),
    ]
    admin = key(Scope.ADMIN)
    entries = client.get("/access/log?first=2", headers=admin).json()["entries"]
    assert [entry["action"] for entry in entries] == ["GET /access/log", "Query.answer"]
    listed = client.get("/access/keys", headers=admin)
    assert [one["name"] for one in listed.json()["keys"]] == ["key 0", "key 1", "key 2", "key 3"]
    assert "hash" not in listed.text
    assert client.get("/access/log?first=x", headers=admin).status_code == 400
    assert client.get("/access/log?first=99999999", headers=admin).status_code == 400


def test_on_loopback_a_key_is_optional_but_checked(tmp_path: Path) -> None:
    settings = load({"HEADWATER_HOME": str(tmp_path), "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1"})
    store = AccessStore(settings.access_path)
    token, _ = Keys(store).create("reader", [Scope.READ])
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        assert client.post("/api/v1/lineage", json=EVENT).status_code == 201
        # Some clients send a key of another backend.
        assert (
            client.post(
                "/api/v1/lineage", json=EVENT, headers={"Authorization": "Bearer None"}
            ).status_code
            == 201
        )
        own = {"Authorization": f"Bearer {token}"}
        assert client.post("/api/v1/lineage", json=EVENT, headers=own).status_code == 403
        Keys(store).revoke("reader")
        assert client.get("/metrics", headers=own).status_code == 401
    store.close()
