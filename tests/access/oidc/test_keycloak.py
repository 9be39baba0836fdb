"""Tokens and sign-in of a real Keycloak: one server for all tests of this file."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.access.oidc import provider as providers
from headwater.local.ports import free_port
from tests.access.oidc.keycloak import PASSWORD, Keycloak, secret_of, serving_keycloak
from tests.access.oidc.signed_on_api import serving_api
from tests.browser import MILLISECONDS_MAX
from tests.event_builders import run_event
from tests.ui.conftest import browser

__all__ = ["browser"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_200)]
ROLES = """
[[grant]]
group = "viewers"
role = "viewer"
namespaces = ["warehouse*"]

[[grant]]
group = "ingesters"
role = "ingester"
namespaces = ["warehouse"]

[[grant]]
group = "stewards"
role = "steward"
namespaces = ["warehouse", "lake"]

[[grant]]
group = "auditors"
role = "auditor"

[[grant]]
group = "admins"
role = "admin"
"""
SIGN_IN = "/protocol/openid-connect/auth"


@pytest.fixture(scope="module")
def port() -> int:
    """Return the port of the page, which the realm must name before the page is served."""
    return free_port()


@pytest.fixture(scope="module")
def keycloak(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Keycloak]:
    folder = tmp_path_factory.mktemp("keycloak")
    with serving_keycloak(folder, f"http://127.0.0.1:{port}") as running:
        yield running


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, keycloak: Keycloak, port: int) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    (home / "roles.toml").write_text(ROLES)
    (home / "page.secret").write_text(secret_of("page"))
    with serving_api(
        home,
        keycloak.issuer(),
        port,
        oidc_roles_file=str(home / "roles.toml"),
        oidc_client_secret_file=str(home / "page.secret"),
        oidc_skew_seconds=0,
    ) as url:
        yield url


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def session(url: str, token: str) -> httpx.Response:
    return httpx.get(f"{url}/session", headers=bearer(token), timeout=None)


def principal(url: str, token: str) -> dict[str, Any]:
    answer = session(url, token)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["principal"]
    return found


def claims(token: str) -> dict[str, Any]:
    content = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(content + "=="))
    return found


def key_id(token: str) -> str:
    header = json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))
    return str(header["kid"])


def send(url: str, token: str, namespace: str) -> int:
    event = run_event("nightly", job="load")
    event["job"]["namespace"] = namespace
    answer = httpx.post(f"{url}/api/v1/lineage", json=event, headers=bearer(token), timeout=None)
    return answer.status_code


@pytest.mark.parametrize(
    ("user", "name", "scopes", "namespaces"),
    [
        ("vera", "Vera View", ["read"], ["warehouse*"]),
        ("ivan", "Ivan Ingest", ["ingest"], []),
        ("stella", "Stella Steward", ["read", "steward"], ["warehouse", "lake"]),
        ("aude", "Aude Audit", ["cypher", "read"], ["*"]),
        ("adam", "Adam Admin", ["admin"], ["*"]),
        ("eve", "Eve Else", [], []),
    ],
)
def test_the_group_of_a_person_gives_its_role_and_namespaces(
    keycloak: Keycloak, url: str, user: str, name: str, scopes: list[str], namespaces: list[str]
) -> None:
    token = keycloak.token(user)
    assert principal(url, token) == {
        "name": f"{keycloak.issuer()}#{claims(token)['sub']}",
        "displayName": name,
        "scopes": scopes,
        "namespaces": namespaces,
        "anonymous": False,
    }
    log = httpx.get(f"{url}/access/log", headers=bearer(token), timeout=None)
    assert log.status_code == (200 if user == "adam" else 403)
    is_sender = user in ("ivan", "adam")
    assert send(url, token, "warehouse") == (201 if is_sender else 403)
    assert send(url, token, "lake") == (201 if user == "adam" else 403)


def test_a_program_sends_events_with_a_token_of_its_own(keycloak: Keycloak, url: str) -> None:
    token = keycloak.token()
    assert principal(url, token)["scopes"] == ["ingest"]
    assert principal(url, token)["displayName"] == "service-account-programs"
    assert (send(url, token, "warehouse"), send(url, token, "lake")) == (201, 403)


def test_a_device_gets_the_role_of_the_person_who_admits_it(
    keycloak: Keycloak, url: str, browser: Browser
) -> None:
    begun = httpx.post(
        f"{keycloak.issuer()}{SIGN_IN}/device",
        data={"scope": "openid"},
        auth=("programs", secret_of("programs")),
        timeout=None,
    ).json()
    with browser.new_context() as context:
        tab = context.new_page()
        tab.set_default_timeout(MILLISECONDS_MAX)
        tab.goto(begun["verification_uri_complete"])
        fill_form(tab, "stella")
        tab.get_by_role("button", name="Yes").click()
        expect(tab.locator("#kc-page-title")).to_contain_text("Device Login Successful")
    grant = "urn:ietf:params:oauth:grant-type:device_code"
    found = keycloak.post_grant({"grant_type": grant, "device_code": begun["device_code"]})
    assert principal(url, found["access_token"])["scopes"] == ["read", "steward"]


def test_tokens_that_are_not_for_headwater_are_refused(keycloak: Keycloak, url: str) -> None:
    hasty = keycloak.token("vera", "hasty")
    other = keycloak.tokens("vera", realm="other")
    own = keycloak.tokens("vera")
    header, content, signature = str(own["access_token"]).split(".")
    promoted = json.dumps({**claims(own["access_token"]), "groups": ["admins"]}).encode()
    content = base64.urlsafe_b64encode(promoted).decode().rstrip("=")
    while time.time() <= claims(hasty)["exp"]:
        time.sleep(0.1)
    for token, reason in (
        (keycloak.token("vera", "dashboards"), "it is for another audience"),
        (own["id_token"], "it is for another audience"),
        (own["refresh_token"], "it is not signed by one of"),
        (other["access_token"], "has no such key"),
        (hasty, "it has expired"),
        (f"{header}.{content}.{signature}", "its signature is wrong"),
        (own["access_token"][:-6] + "AAAAAA", "its signature is wrong"),
        (f"{header}.{content}.", "it is no signed token"),
    ):
        answer = session(url, token)
        assert answer.status_code == 401, (reason, answer.text)
        assert reason in answer.json()["error"]["message"]
        assert send(url, token, "warehouse") == 401
    assert principal(url, own["access_token"])["scopes"] == ["read"]


def test_the_rotation_of_keys_is_followed(
    keycloak: Keycloak, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Otherwise the keys are read at most every ten seconds.
    monkeypatch.setattr(providers, "READ_SECONDS_MIN", 0.0)
    [first] = keycloak.signing_keys()
    old = keycloak.token("vera")
    keycloak.add_signing_key()
    new = keycloak.token("vera")
    assert key_id(old) != key_id(new)
    assert principal(url, new) == principal(url, old)
    keycloak.remove_signing_key(first)
    # The keys in memory count until they are read again: here for a token with an unknown key.
    assert principal(url, old) == principal(url, new)
    assert session(url, keycloak.token("vera", realm="other")).status_code == 401
    answer = session(url, old)
    assert answer.status_code == 401
    assert "has no such key" in answer.json()["error"]["message"]
    assert principal(url, new)["scopes"] == ["read"]


def fill_form(tab: Page, user: str) -> None:
    """Fill the form of Keycloak."""
    tab.get_by_label("Username or email").fill(user)
    tab.get_by_label("Password", exact=True).fill(PASSWORD)
    tab.get_by_role("button", name="Sign In").click()


def test_a_person_signs_in_by_the_form_and_out(
    keycloak: Keycloak, url: str, browser: Browser
) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        tab.set_default_timeout(MILLISECONDS_MAX)
        visited: list[str] = []
        tab.on("request", lambda request: visited.append(request.url))
        tab.goto(f"{url}/policies")
        tab.get_by_role("link", name="Sign in with Example").click()
        fill_form(tab, "vera")
        tab.wait_for_url(f"{url}/policies")
        account = tab.locator("details.account")
        expect(account.locator("summary")).to_contain_text("Vera View")
        [asked] = [one for one in visited if one.startswith(keycloak.issuer() + SIGN_IN)]
        assert "code_challenge_method=S256" in asked
        assert "headwater_session" not in tab.evaluate("document.cookie")
        [cookie] = [one for one in context.cookies() if one["name"] == "headwater_session"]
        account.locator("summary").click()
        account.get_by_role("button", name="Sign out").click()
        expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()
        sent = {"cookie": f"headwater_session={cookie['value']}"}
        assert httpx.get(f"{url}/metrics", headers=sent, timeout=None).status_code == 401
        # The person is still signed in at Keycloak, which shows no form now.
        tab.get_by_role("link", name="Sign in with Example").click()
        expect(account.locator("summary")).to_contain_text("Vera View")
    # The realm refuses a sign-in of this client without a challenge.
    plain = {
        "client_id": "page",
        "response_type": "code",
        "scope": "openid",
        "redirect_uri": f"{url}/session/oidc/callback",
    }
    refused = httpx.get(keycloak.issuer() + SIGN_IN, params=plain, timeout=None)
    assert "code_challenge_method" in refused.headers["location"]


def test_a_person_without_a_role_sees_why(url: str, browser: Browser) -> None:
    with browser.new_context() as context:
        tab = context.new_page()
        tab.set_default_timeout(MILLISECONDS_MAX)
        tab.goto(f"{url}/policies")
        tab.get_by_role("link", name="Sign in with Example").click()
        fill_form(tab, "eve")
        expect(tab.get_by_role("alert").first).to_contain_text("has no role in Headwater")
