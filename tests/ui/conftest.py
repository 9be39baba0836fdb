"""The page in Chromium, on the graph of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.applications import Starlette

from headwater.access import session_http
from headwater.access.events import authorize_event
from headwater.access.principal import Principal
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.governance.policies.store import PolicyStore
from headwater.graphql.context import Installation
from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.transport.http import graphql_routes
from headwater.graphql.transport.websocket import Callers
from headwater.lineage.view import GraphView
from headwater.schema.naming import load_naming
from headwater.ui import routes as ui
from tests.browser import CHROMIUM, FLAGS, HAS_CHROMIUM, MILLISECONDS_MAX, listening
from tests.guards import guard_of
from tests.run_builders import write_events


@contextmanager
def serving_page(
    database: Database,
    store: AccessStore,
    *,
    are_keys_required: bool = False,
    policies: Path | None = None,
) -> Iterator[str]:
    """Serve the page with the keys of a store; yield its address. Mutations are folded at once.

    policies: the directory of the policies in force.
    """
    guard = guard_of(store, required=are_keys_required)

    async def submit(principal: Principal, events: list[dict[str, Any]]) -> None:
        for event in events:
            authorize_event(principal, msgspec.json.encode(event), load_naming())
        await anyio.to_thread.run_sync(write_events, database, events)

    graphql = graphql_routes(
        GraphView(database),
        submit,
        callers=Callers(guard.admit_socket),
        persisted=PersistedQueries(own=ui.documents()),
        installation=Installation(policies=PolicyStore(policies)),
    )
    routes = [*ui.routes(), *graphql, *session_http.routes(guard)]
    with listening(Starlette(routes=guard.routes(routes))) as url:
        yield url


@pytest.fixture(scope="module")
def page_url(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the page on the graph of the tests, for callers without keys."""
    store = AccessStore(tmp_path_factory.mktemp("access") / "access.db")
    with serving_page(database, store) as url:
        yield url
    store.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not HAS_CHROMIUM:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, page_url: str) -> Iterator[Page]:
    """Yield a tab. A test fails at an error of the page, and at a request to another host."""
    problems: list[str] = []
    context = browser.new_context(base_url=page_url, viewport={"width": 1280, "height": 800})
    # A busy machine plans each question once, for seconds.
    context.set_default_timeout(MILLISECONDS_MAX)
    page = context.new_page()
    page.on(
        "console",
        lambda message: problems.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: (
            problems.append(request.url)
            if not request.url.startswith((page_url, "data:", "blob:"))
            else None
        ),
    )
    yield page
    context.close()
    assert problems == []


def visit(page: Page, path: str) -> None:
    """Open an address of the page, and wait until its view has loaded."""
    page.goto(path)
    wait_ready(page)


def wait_ready(page: Page) -> None:
    page.wait_for_selector('body[data-ready="true"]')
