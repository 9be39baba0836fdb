"""Sessions over HTTP, by the whole application: the cookie, its rights, and attacks on it."""

from __future__ import annotations

from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.log import AccessLog
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.server import create_app
from headwater.settings import load
from tests.access.test_guard import EVENT

OWN = "http://127.0.0.1:8000"
PAGE = {"origin": OWN, "sec-fetch-site": "same-origin"}
QUERY = {"query": "{ __schema { queryType { name } } }"}
READ = {"query": '{ answer(answerId: "x") { urn } }'}
NAME = "headwater_session"


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def key(own_store: AccessStore) -> str:
    return Keys(own_store).create("ann", [Scope.READ, Scope.STEWARD, Scope.INGEST])[0]


def client_of(tmp_path: Path, base_url: str = OWN, **settings: Any) -> TestClient:
    # No server listens there: nothing here may need Neo4j.
    environment = {"HEADWATER_HOME": str(tmp_path), "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:1"}
    app = create_app(load(environment, **{"require_keys": True, **settings}))
    return TestClient(app, base_url=base_url)


@pytest.fixture
def client(tmp_path: Path, key: str) -> Iterator[TestClient]:
    assert key
    with client_of(tmp_path) as client:
        yield client


def sign_in(client: TestClient, key: str, **headers: str) -> Response:
    return client.post("/session", json={"key": key}, headers={**PAGE, **headers})


def cookie_of(response: Response) -> Any:
    [morsel] = SimpleCookie(response.headers["set-cookie"]).values()
    return morsel


def test_signing_in_and_out(client: TestClient, key: str) -> None:
    signed_out = {"principal": None, "expires": None}
    assert client.get("/session").json() == signed_out
    assert client.get("/metrics").status_code == 401
    answer = sign_in(client, key)
    assert answer.status_code == 200
    assert answer.json()["principal"] == {
        "name": "ann",
        "scopes": ["ingest", "read", "steward"],
        "namespaces": ["*"],
        "anonymous": False,
    }
    assert answer.headers["cache-control"] == "no-store"
    assert client.get("/session").json() == answer.json()
    assert client.get("/metrics").status_code == 200
    assert client.get("/access/log").status_code == 403
    token = client.cookies[NAME]
    out = client.delete("/session", headers=PAGE)
    assert (out.status_code, cookie_of(out)["max-age"]) == (204, "0")
    # A copy of the token has ended too.
    client.cookies.set(NAME, token)
    assert client.get("/session").json() == signed_out
    assert client.get("/metrics").status_code == 401


def test_the_cookie_is_kept_from_scripts_other_sites_and_other_hosts(
    client: TestClient, key: str
) -> None:
    cookie = cookie_of(sign_in(client, key))
    assert cookie.key == NAME
    assert cookie["httponly"] is True
    assert (cookie["samesite"], cookie["path"], cookie["domain"]) == ("strict", "/", "")
    assert cookie["secure"] == ""
    assert 0 < int(cookie["max-age"]) <= 43_200


@pytest.mark.parametrize(
    ("base_url", "origin"),
    [
        ("https://lineage.example.com", "https://lineage.example.com"),
        # A proxy that does not forward the scheme.
        ("http://lineage.example.com", "https://lineage.example.com"),
    ],
)
def test_over_https_the_cookie_is_bound_to_its_host(
    tmp_path: Path, key: str, base_url: str, origin: str
) -> None:
    with client_of(tmp_path, base_url) as client:
        answer = sign_in(client, key, origin=origin)
        cookie = cookie_of(answer)
        assert cookie.key == f"__Host-{NAME}"
        assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", "")
        sent = {"cookie": f"__Host-{NAME}={cookie.value}"}
        assert client.get("/metrics", headers=sent).status_code == 200
        # Another host of the domain can set a cookie without the prefix.
        planted = {"cookie": f"{NAME}={cookie.value}"}
        expected = 401 if base_url.startswith("https") else 200
        assert client.get("/metrics", headers=planted).status_code == expected


def test_a_session_reads_and_uses_graphql_and_sends_nothing_else(
    client: TestClient, key: str
) -> None:
    sign_in(client, key)
    assert client.post("/graphql", json=QUERY, headers=PAGE).status_code == 200
    found = client.post("/graphql", json=READ, headers=PAGE).json()
    assert found["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    refused = client.post("/api/v1/lineage", json=EVENT, headers=PAGE)
    assert refused.status_code == 403
    assert "session" in refused.json()["error"]["message"]
    assert client.put("/api/v1/tags/t", json={}, headers=PAGE).status_code == 403
    sent = {**PAGE, "authorization": f"Bearer {key}"}
    assert client.post("/api/v1/lineage", json=EVENT, headers=sent).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example", "sec-fetch-site": "cross-site"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:9000", "sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {},
    ],
)
def test_writes_of_other_pages_are_refused(
    client: TestClient, key: str, headers: dict[str, str]
) -> None:
    sign_in(client, key)
    for answer in (
        client.post("/graphql", json=QUERY, headers=headers),
        client.delete("/session", headers=headers),
    ):
        assert answer.status_code == 403, headers
    assert client.get("/metrics").status_code == 200


def test_a_page_that_cors_allows_needs_a_key_of_its_own(tmp_path: Path, key: str) -> None:
    allowed = "https://dash.example.com"
    with client_of(tmp_path, cors_origins=allowed) as client:
        sign_in(client, key)
        headers = {"origin": allowed, "sec-fetch-site": "same-site"}
        assert client.post("/graphql", json=QUERY, headers=headers).status_code == 403
        assert client.get("/metrics", headers=headers).status_code == 401
        assert client.post("/session", json={"key": key}, headers=headers).status_code == 403
        keyed = {**headers, "authorization": f"Bearer {key}"}
        assert client.post("/graphql", json=QUERY, headers=keyed).status_code == 200


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", ""],
)
def test_a_form_can_send_nothing(client: TestClient, key: str, content_type: str) -> None:
    sign_in(client, key)
    headers = {**PAGE, "content-type": content_type}
    for path, body in (("/graphql", b'{"query": "{ __typename }"}'), ("/session", b'{"key": "x"}')):
        assert client.post(path, content=body, headers=headers).status_code == 403


def test_a_read_that_another_site_caused_has_no_session(client: TestClient, key: str) -> None:
    sign_in(client, key)
    for site in ("cross-site", "same-site"):
        assert client.get("/metrics", headers={"sec-fetch-site": site}).status_code == 401
        page = {"sec-fetch-site": site, "accept": "text/html"}
        assert client.get("/failures", headers=page).status_code == 200
    for site in ("same-origin", "none"):
        assert client.get("/metrics", headers={"sec-fetch-site": site}).status_code == 200


def test_a_planted_token_becomes_no_session(client: TestClient, key: str) -> None:
    """Session fixation: the server chooses every token, and a new one at each sign-in."""
    planted = f"{'0' * 12}.{'1' * 32}.9999999999.{'A' * 43}"
    client.cookies.set(NAME, planted, domain="127.0.0.1", path="/")
    assert client.get("/metrics").status_code == 401
    sign_in(client, key)
    first = client.cookies[NAME]
    sign_in(client, key)
    assert client.cookies[NAME] != first
    assert "1" * 32 not in client.cookies[NAME]


def test_a_revoked_key_ends_the_session_at_once(
    client: TestClient, key: str, own_store: AccessStore
) -> None:
    sign_in(client, key)
    Keys(own_store).revoke("ann")
    assert client.get("/metrics").status_code == 401
    assert client.get("/session").json()["principal"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"key": "nonsense"}', 401),
        (b'{"key": "hw_000000000000_' + b"a" * 43 + b'"}', 401),
        (b'{"key": 5}', 400),
        (b"[]", 400),
        (b"not json", 400),
        (b"", 400),
        (b'{"key": "' + b"x" * 5_000 + b'"}', 413),
    ],
)
def test_a_wrong_key_starts_no_session(client: TestClient, body: bytes, status: int) -> None:
    headers = {**PAGE, "content-type": "application/json"}
    answer = client.post("/session", content=body, headers=headers)
    assert answer.status_code == status
    assert "set-cookie" not in answer.headers


def test_no_cache_keeps_what_a_session_opened(client: TestClient, key: str) -> None:
    sign_in(client, key)
    assert client.get("/metrics").headers["cache-control"] == "no-store"
    assert client.get("/session").headers["cache-control"] == "no-store"


def test_the_log_names_the_key_and_never_holds_it(
    client: TestClient, key: str, own_store: AccessStore, tmp_path: Path
) -> None:
    sign_in(client, key)
    wrong = key[:-1] + ("a" if key[-1] != "a" else "b")
    sign_in(client, wrong)
    done, refused = sorted(AccessLog(own_store).entries(), key=lambda entry: entry.seq)
    assert (done.principal, done.action, done.outcome) == ("ann", "POST /session", "done")
    assert (refused.principal, refused.outcome) == ("unauthenticated", "refused")
    for secret in (key, wrong, key.rpartition("_")[2], client.cookies[NAME]):
        assert secret not in f"{done.detail} {refused.detail}"
        assert not any(
            secret.encode() in path.read_bytes() for path in tmp_path.iterdir() if path.is_file()
        )


def test_refusals_of_wrong_keys_do_not_fill_the_log(
    client: TestClient, own_store: AccessStore
) -> None:
    statuses = [sign_in(client, "nonsense").status_code for _ in range(70)]
    assert statuses == [401] * 10 + [429] * 60
    assert len(AccessLog(own_store).entries(first=1_000)) == 10


def test_without_required_keys_a_session_narrows_and_a_stale_one_does_nothing(
    tmp_path: Path, own_store: AccessStore
) -> None:
    reader, _ = Keys(own_store).create("reader", [Scope.READ])
    with client_of(tmp_path, require_keys=False) as client:
        principal = client.get("/session").json()["principal"]
        assert (principal["name"], principal["anonymous"]) == ("anonymous", True)
        assert client.get("/access/keys").status_code == 200
        sign_in(client, reader)
        assert client.get("/session").json()["principal"]["name"] == "reader"
        assert client.get("/access/keys").status_code == 403
        Keys(own_store).revoke("reader")
        assert client.get("/access/keys").status_code == 200
