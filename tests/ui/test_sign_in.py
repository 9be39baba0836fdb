"""Signing in to the page in Chromium, with real keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.graphql.transport import websocket as sockets
from headwater.ui import routes as ui
from tests.browser import MILLISECONDS_MAX, listening
from tests.canonical import empty
from tests.run_builders import run, write_events
from tests.ui.conftest import serving_page, visit, wait_ready

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
VIEWS = (
    "/",
    "/search?text=orders",
    "/failures?since=all",
    "/datasets/dataset%3Adb%3Aorders",
    "/runs/bad",
)


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    empty(database)
    write_events(
        database,
        run("ok", "load_orders", ["raw"], ["orders"]),
        run("bad", "load_orders", ["raw"], ["orders"], minute=5, status="FAIL"),
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def key(store: AccessStore) -> str:
    return Keys(store).create("ann", [Scope.READ])[0]


@pytest.fixture
def keyed_url(database: Database, store: AccessStore) -> Iterator[str]:
    """Yield the address of a page that asks for a key."""
    with serving_page(database, store, are_keys_required=True) as url:
        yield url


@pytest.fixture
def tab(browser: Browser, keyed_url: str) -> Iterator[Page]:
    context = browser.new_context(base_url=keyed_url)
    context.set_default_timeout(MILLISECONDS_MAX)
    yield context.new_page()
    context.close()


def sign_in(tab: Page, key: str) -> None:
    tab.get_by_label("API key").fill(key)
    tab.get_by_role("button", name="Sign in").click()


def test_each_view_asks_for_a_key_in_its_place_and_goes_on(tab: Page, key: str) -> None:
    addresses: list[str] = []
    tab.on("request", lambda request: addresses.append(request.url))
    for path in VIEWS:
        visit(tab, path)
        expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(tab.locator("[data-urn]")).to_have_count(0)
    sign_in(tab, key)
    expect(tab.locator('[data-urn="run:bad"]').first).to_be_visible()
    assert tab.url.endswith("/runs/bad")
    for path in VIEWS:
        visit(tab, path)
        expect(tab.get_by_label("API key")).to_have_count(0)
        expect(tab.locator("[data-urn]").first).to_be_visible()
    # Neither scripts nor addresses hold the key or the token.
    assert tab.evaluate("document.cookie") == ""
    assert "hw_" not in tab.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert not any(key in address or "headwater_session" in address for address in addresses)
    assert "hw_" not in tab.content()
    [cookie] = tab.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert key.rpartition("_")[2] not in cookie["value"]


def test_by_keyboard_with_a_wrong_key_first(tab: Page, key: str) -> None:
    visit(tab, "/failures")
    tab.get_by_label("API key").focus()
    tab.keyboard.type("hw_wrong")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("alert")).to_contain_text("No session was started")
    tab.get_by_label("API key").fill("")
    tab.keyboard.type(key)
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Failures")).to_be_visible()


def test_the_bar_names_the_key_and_signs_out(tab: Page, key: str) -> None:
    visit(tab, "/failures")
    sign_in(tab, key)
    account = tab.locator("details.account")
    expect(account.locator("summary")).to_contain_text("ann")
    token = tab.context.cookies()[0]["value"]
    account.locator("summary").click()
    expect(account).to_contain_text("read")
    tab.evaluate("localStorage.setItem('headwater.recent', 'orders')")
    account.get_by_role("button", name="Sign out").click()
    expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()
    assert tab.context.cookies() == []
    assert tab.evaluate("localStorage.getItem('headwater.recent')") is None
    # A copied cookie has ended too.
    tab.context.add_cookies([{"name": "headwater_session", "value": token, "url": tab.url}])
    visit(tab, "/failures")
    expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize(
    ("back", "path"),
    [
        ("/failures?since=all", "/failures?since=all"),
        ("https://evil.example/failures", "/"),
        ("//evil.example/failures", "/"),
        ("/\\evil.example/failures", "/"),
        ("javascript:alert(1)", "/"),
        ("/static/app.css", "/"),
    ],
)
def test_the_way_back_stays_on_this_page(tab: Page, key: str, back: str, path: str) -> None:
    tab.goto(f"/sign-in?back={back.replace(chr(92), '%5C').replace('?', '%3F')}")
    wait_ready(tab)
    origin = tab.evaluate("location.origin")
    sign_in(tab, key)
    tab.wait_for_url(f"{origin}{path}")
    expect(tab.locator("details.account")).to_be_visible()


def test_a_revoked_key_shows_the_form_at_the_next_question(
    tab: Page, key: str, store: AccessStore
) -> None:
    visit(tab, "/failures?since=all")
    sign_in(tab, key)
    expect(tab.get_by_role("table")).to_be_visible()
    Keys(store).revoke("ann")
    tab.get_by_label("Since").select_option("7d")
    expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()
    sign_in(tab, Keys(store).create("bob", [Scope.READ])[0])
    expect(tab.locator("details.account")).to_contain_text("bob")
    expect(tab.get_by_role("heading", name="Failures")).to_be_visible()


def test_subscriptions_use_the_session_and_end_with_its_key(
    tab: Page, key: str, store: AccessStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "RECHECK_SECONDS", 0.3)
    visit(tab, "/failures?since=all")
    with tab.expect_websocket() as opened:
        sign_in(tab, key)
    socket = opened.value
    acknowledged = socket.wait_for_event("framereceived")
    assert "connection_ack" in str(acknowledged)
    expect(tab.get_by_role("table")).to_be_visible()
    button = tab.get_by_role("button", name=re.compile("new failure"))
    written = 0
    # A failure before the subscription has begun is not delivered, so a further one follows.
    while not button.count():
        written += 1
        failure = run(f"new-{written}", "load", ["raw"], ["orders"], minute=9, status="FAIL")
        write_events(database, failure)
        tab.wait_for_timeout(1_500)
    with socket.expect_event("close"):
        Keys(store).revoke("ann")
    expect(tab.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_page_of_another_origin_can_do_nothing_with_the_session(
    tab: Page, keyed_url: str, key: str
) -> None:
    """The other page has another port of the same host, so the browser does send the cookie."""
    visit(tab, "/")
    sign_in(tab, key)
    expect(tab.locator("details.account")).to_be_visible()
    with listening(Starlette(routes=ui.routes())) as foreign:
        other = tab.context.new_page()
        other.goto(f"{foreign}/openapi.json")
        answers = other.evaluate(
            """async (address) => {
              const attempts = [
                ["/graphql", {method: "POST", headers: {"content-type": "application/json"},
                              body: '{"query": "{ __typename }"}'}],
                ["/graphql", {method: "POST", headers: {"content-type": "text/plain"},
                              body: '{"query": "{ __typename }"}'}],
                ["/graphql?query=%7B__typename%7D", {}],
                ["/session", {}],
                ["/session", {method: "DELETE"}],
              ];
              const found = [];
              for (const [path, options] of attempts) {
                const all = {credentials: "include", ...options};
                const read = await fetch(address + path, all).then((r) => r.text(), () => "");
                await fetch(address + path, {...all, mode: "no-cors", headers: {}}).catch(() => "");
                found.push(read);
              }
              return found;
            }""",
            keyed_url,
        )
        assert answers == [""] * 5
        socket = other.evaluate(
            """(address) => new Promise((done) => {
              const socket = new WebSocket(address, "graphql-transport-ws");
              socket.onopen = () => socket.send('{"type": "connection_init"}');
              socket.onmessage = ({data}) => done(data);
              socket.onclose = ({code}) => done(String(code));
            })""",
            keyed_url.replace("http", "ws") + "/graphql",
        )
        assert socket in ("4403", "1006")
    visit(tab, "/failures")
    expect(tab.get_by_label("API key")).to_have_count(0)
