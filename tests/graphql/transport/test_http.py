"""The page at /graphql in Chromium renders, runs a query, and loads from this server only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from tests.browser import CHROMIUM, FLAGS, HAS_CHROMIUM, MILLISECONDS_MAX, listening
from tests.run_builders import run, write_events

STATIC = Path(__file__).parents[3] / "headwater" / "ui" / "static"

pytestmark = pytest.mark.neo4j


def test_the_page_and_its_policy(client: TestClient) -> None:
    response = client.get("/graphql", headers={"accept": "text/html,*/*"})
    assert response.status_code == 200
    assert "default-src 'none'" in response.headers["content-security-policy"]
    links = re.findall(r'(?:src|href)="([^"]+)"', response.text)
    assert len(links) == 7
    for link in links:
        assert link.startswith("/static/")
        assert client.get(link).status_code == 200, link
    assert client.get("/static/vendor/../../../settings.py").status_code == 404


def test_licences_travel_along() -> None:
    vendor = STATIC / "vendor" / "graphiql-3.8.3"
    assert "MIT License" in (vendor / "LICENSE-graphiql").read_text()
    assert "MIT License" in (vendor / "LICENSE-react").read_text()


@pytest.fixture
def socket_url(application: Starlette) -> Iterator[str]:
    """Return the endpoint on a real socket."""
    with listening(application) as url:
        yield url


@pytest.mark.slow
@pytest.mark.skipif(not HAS_CHROMIUM, reason="no Chromium on this machine")
def test_in_a_browser(
    socket_url: str, database: Database, clean_graph: object, tmp_path: Path
) -> None:
    del clean_graph
    write_events(
        database,
        run("ok", "load", ["raw"], ["a"]),
        run("bad", "load", ["raw"], ["a"], minute=5, status="FAIL"),
    )
    requested: list[str] = []
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.on("request", lambda request: requested.append(request.url))
        page.on(
            "console",
            lambda message: errors.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(MILLISECONDS_MAX)
        # A click before the page has the schema and the document's operations runs the document as a whole.
        page.goto(f"{socket_url}/graphql", wait_until="networkidle")
        execute = page.get_by_role("button", name=re.compile("Execute query"))
        execute.and_(page.locator("[aria-haspopup=menu]")).click()
        page.get_by_role("menuitem", name="FailedRuns").click()
        expect(page.locator(".result-window")).to_contain_text("hasNextPage")
        result = page.locator(".result-window").inner_text()
        page.screenshot(path=str(tmp_path / "graphiql.png"))
        page.goto(
            f"{socket_url}/graphql?query=%7B%20search(text%3A%20%22raw%22)%20%7B%20edges%20%7B%20node%20%7B%20urn%20%7D%20%7D%20%7D%20%7D"
        )
        execute.click()
        expect(page.locator(".result-window")).to_contain_text("dataset:db:raw")
        browser.close()
    assert "bad" in result
    assert errors == []
    assert [url for url in requested if not url.startswith((socket_url, "data:", "blob:"))] == []
