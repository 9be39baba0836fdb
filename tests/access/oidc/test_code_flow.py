"""Signing in at a real provider over HTTP: the whole flow, and attacks on it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from headwater.access.log import AccessLog
from headwater.access.oidc.code_flow import path_back
from headwater.access.secret_file import replace_secret
from headwater.access.store import AccessStore
from tests.access.oidc.mock_provider import serving_provider
from tests.access.test_session_http import OWN, PAGE, client_of

# The provider of the tests takes any secret, and no client without one.
SECRET = Path(__file__).with_name("client.secret")
CALLBACK = "/session/oidc/callback"
PUBLIC = "https://lineage.example.com"
SECURE_COOKIE = "__Host-headwater_oidc"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_provider(tmp_path_factory.mktemp("provider")) as issuer:
        yield issuer


def settings_of(issuer: str, **changed: Any) -> dict[str, Any]:
    return {
        "oidc_issuer": issuer,
        "oidc_audience": "headwater",
        "oidc_client_id": "page",
        "oidc_client_secret_file": str(SECRET),
        "oidc_name": "Example",
        "public_url": OWN,
        **changed,
    }


@pytest.fixture
def client(tmp_path: Path, issuer: str) -> Iterator[TestClient]:
    with client_of(tmp_path, **settings_of(issuer)) as client:
        client.follow_redirects = False
        yield client


def begin(client: TestClient, back: str = "/failures?since=all") -> str:
    answer = client.get("/session/oidc", params={"back": back})
    assert answer.status_code == 303
    return answer.headers["location"]


def authorize(address: str, sub: str) -> str:
    """Return where the provider sends the browser of a person."""
    answer = httpx.post(address, data={"sub": sub})
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def sign_in(client: TestClient, sub: str, back: str = "/failures?since=all") -> Response:
    return client.get(authorize(begin(client, back), sub))


def test_the_request_has_state_nonce_and_a_challenge(client: TestClient) -> None:
    address = urlsplit(begin(client))
    sent = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert sent.pop("response_type") == "code"
    assert sent.pop("code_challenge_method") == "S256"
    assert (sent.pop("client_id"), sent.pop("scope")) == ("page", "openid profile email")
    assert sent.pop("redirect_uri") == f"{OWN}{CALLBACK}"
    assert {name: len(value) for name, value in sent.items()} == {
        "state": 43,
        "nonce": 43,
        "code_challenge": 43,
    }
    content = client.cookies["headwater_oidc"].rpartition(".")[0]
    verifier = base64.urlsafe_b64decode(content).decode().split('"verifier":"')[1].split('"')[0]
    digest = hashlib.sha256(verifier.encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == sent["code_challenge"]


def test_a_person_signs_in_and_out(client: TestClient, issuer: str, tmp_path: Path) -> None:
    assert client.get("/session").json() == {
        "principal": None,
        "expires": None,
        "provider": "Example",
    }
    answer = sign_in(client, "ann")
    assert (answer.status_code, answer.headers["location"]) == (303, "/failures?since=all")
    assert answer.headers["cache-control"] == "no-store"
    cookies = answer.headers.get_list("set-cookie")
    [session] = [one for one in cookies if one.startswith("headwater_session=oidc.")]
    assert "HttpOnly" in session
    assert "SameSite=strict" in session
    assert client.get("/session").json()["principal"] == {
        "name": f"{issuer}#ann",
        "displayName": "Ann Ray",
        "scopes": ["read"],
        "namespaces": ["*"],
        "anonymous": False,
    }
    assert client.get("/metrics").status_code == 200
    assert client.get("/access/log").status_code == 403
    token = client.cookies["headwater_session"]
    assert client.delete("/session", headers=PAGE).status_code == 204
    client.cookies.set("headwater_session", token)
    assert client.get("/metrics").status_code == 401
    store = AccessStore(tmp_path / "access.db")
    with store.read() as connection:
        assert connection.execute("SELECT count(*) FROM oidc_session").get == 0
    done = [entry for entry in AccessLog(store).entries() if entry.outcome == "done"]
    store.close()
    [entry] = done
    assert entry.principal == f"{issuer}#ann"
    assert entry.detail == {"issuer": issuer, "subject": "ann"}


def test_a_person_without_a_role_gets_no_session(client: TestClient) -> None:
    answer = sign_in(client, "eve")
    assert answer.headers["location"] == "/sign-in?failed=role"
    assert "headwater_session" not in client.cookies
    assert client.get("/metrics").status_code == 401


def test_the_session_follows_the_file_of_roles_and_the_secret(tmp_path: Path, issuer: str) -> None:
    roles = tmp_path / "roles.toml"
    roles.write_text('[[grant]]\ngroup = "db-readers"\nrole = "viewer"\nnamespaces = ["db"]\n')
    with client_of(tmp_path, **settings_of(issuer, oidc_roles_file=str(roles))) as client:
        client.follow_redirects = False
        sign_in(client, "dan")
        assert client.get("/session").json()["principal"]["namespaces"] == ["db"]
        token = client.cookies["headwater_session"]
    roles.write_text('[[grant]]\ngroup = "others"\nrole = "viewer"\n')
    for changed in ({"oidc_roles_file": str(roles)}, {"oidc_issuer": "http://127.0.0.1:1"}):
        with client_of(tmp_path, **settings_of(issuer, **changed)) as client:
            client.cookies.set("headwater_session", token)
            assert client.get("/metrics").status_code == 401
    with client_of(tmp_path, **settings_of(issuer)) as client:
        client.follow_redirects = False
        sign_in(client, "ann")
        assert client.get("/metrics").status_code == 200
        replace_secret(tmp_path / "session.key")
        assert client.get("/metrics").status_code == 401


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(
    client: TestClient, issuer: str, tmp_path: Path
) -> None:
    answer = authorize(begin(client), "ann")
    cookie = client.cookies["headwater_oidc"]
    code = parse_qs(urlsplit(answer).query)["code"][0]
    state = parse_qs(urlsplit(answer).query)["state"][0]
    own = {"code": code, "state": state}
    tampered = cookie[:-1] + ("0" if cookie[-1] != "0" else "1")
    for sent, parameters in (
        ("", own),
        (tampered, own),
        (cookie, {**own, "state": "x"}),
        (cookie, {"code": code}),
        (cookie, {**own, "iss": "https://evil.example"}),
        (cookie, {**own, "iss": ["https://evil.example", issuer]}),
        (cookie, {**own, "state": ["x", state]}),
        (cookie, {"state": state, "error": "access_denied"}),
        (cookie, {**own, "code": "guessed"}),
    ):
        client.cookies.clear()
        if sent:
            client.cookies.set("headwater_oidc", sent, domain="127.0.0.1", path="/session/oidc")
        refused = client.get(CALLBACK, params=parameters)
        assert refused.headers["location"] == "/sign-in?failed=refused", parameters
        assert "headwater_session" not in client.cookies
    # The code of one sign-in is worth nothing in another one: its nonce and verifier differ.
    client.cookies.clear()
    other = parse_qs(urlsplit(begin(client)).query)["state"][0]
    mixed = client.get(CALLBACK, params={"code": code, "state": other})
    assert mixed.headers["location"] == "/sign-in?failed=refused"
    text = (tmp_path / "access.db").read_bytes()
    assert code.encode() not in text


@pytest.mark.parametrize("base_url", [PUBLIC, PUBLIC.replace("https", "http")])
def test_over_https_the_cookie_of_an_attempt_is_bound_to_its_host(
    tmp_path: Path, issuer: str, base_url: str
) -> None:
    # The base address with http is that of a proxy that does not forward the scheme.
    settings = settings_of(issuer, public_url=PUBLIC)
    with client_of(tmp_path, base_url, **settings) as client:
        client.follow_redirects = False
        begun = client.get("/session/oidc")
        [cookie] = SimpleCookie(begun.headers["set-cookie"]).values()
        assert cookie.key == SECURE_COOKIE
        assert (cookie["path"], cookie["domain"]) == ("/", "")
        assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "lax")
        answer = urlsplit(authorize(begun.headers["location"], "ann"))
        back = f"{answer.path}?{answer.query}"
        client.cookies.clear()
        # Another host of the domain can set a cookie without the prefix.
        for path in ("/", "/session/oidc"):
            planted = {"cookie": f"headwater_oidc={cookie.value}; Path={path}"}
            refused = client.get(back, headers=planted)
            assert refused.headers["location"] == "/sign-in?failed=refused"
            [removed] = SimpleCookie(refused.headers["set-cookie"]).values()
            assert (removed.key, removed["max-age"], removed["path"]) == (SECURE_COOKIE, "0", "/")
            assert removed["secure"]
        sent = {"cookie": f"{SECURE_COOKIE}={cookie.value}"}
        assert client.get(back, headers=sent).headers["location"] == "/"


def test_over_http_the_cookie_of_an_attempt_keeps_its_path(client: TestClient) -> None:
    [cookie] = SimpleCookie(client.get("/session/oidc").headers["set-cookie"]).values()
    assert (cookie.key, cookie["path"]) == ("headwater_oidc", "/session/oidc")
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == ("", True, "lax")


def test_a_provider_that_is_away_is_named(tmp_path: Path) -> None:
    with client_of(tmp_path, **settings_of("http://127.0.0.1:1")) as client:
        client.follow_redirects = False
        answer = client.get("/session/oidc")
        assert answer.headers["location"] == "/sign-in?failed=away"


def test_without_a_client_there_is_no_sign_in(tmp_path: Path, issuer: str) -> None:
    without = settings_of(issuer, oidc_client_id="", oidc_client_secret_file="")
    with client_of(tmp_path, **without) as client:
        assert client.get("/session/oidc").status_code == 404
        assert client.get(CALLBACK).status_code == 404
        assert "provider" not in client.get("/session").json()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/datasets/dataset%3Adb%3Aorders?tab=runs", "/datasets/dataset%3Adb%3Aorders?tab=runs"),
        ("/", "/"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\\b", "/"),
        ("/a\r\nset-cookie: x", "/"),
        ("/session/oidc", "/"),
        ("/static/app.css", "/"),
        ("/" + "a" * 2_000, "/"),
    ],
)
def test_the_way_back_stays_on_this_page(path: str, expected: str) -> None:
    assert path_back(path) == expected
