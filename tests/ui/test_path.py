"""The way from the first view to the cause of a failure and to whom to tell, by mouse and by keyboard."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import write_events
from tests.ui.conftest import visit, wait_ready
from tests.ui.stories import history

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
STOPS_MAX = 40
FOCUSED = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    """Write the history as one of today, so that the first view shows its failure."""
    today = datetime.now(UTC).date().isoformat()
    empty(database)
    write_events(database, *json.loads(json.dumps(history()).replace("2026-01-01T", f"{today}T")))


def expect_the_cause_and_whom_to_tell(page: Page) -> None:
    details = page.locator("#failure-details")
    expect(details).to_contain_text("Tell: team:orders, team:insight")
    expect(details).to_contain_text("no space left")
    expect(details.get_by_role("link", name="best-customer").first).to_be_visible()
    expect(details.get_by_role("heading", name="Replay plan")).to_be_visible()


def test_by_mouse(page: Page) -> None:
    visit(page, "/")
    page.get_by_role("link", name="Failed runs of the last day").click()
    page.get_by_role("button", name="Details: load_orders").click()
    expect_the_cause_and_whom_to_tell(page)


def test_by_keyboard(page: Page) -> None:
    visit(page, "/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    press_until(page, "Failed runs of the last day")
    wait_ready(page)
    expect(page.get_by_role("button", name="Details: load_orders")).to_be_visible()
    press_until(page, "Details: load_orders")
    expect_the_cause_and_whom_to_tell(page)


def test_by_search(page: Page) -> None:
    visit(page, "/")
    page.keyboard.press("/")
    page.keyboard.type("best-customer")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    stale = page.locator("#stale")
    expect(stale).to_contain_text("team:orders")
    expect(stale.get_by_role("link", name="load_orders")).to_be_visible()


def press_until(page: Page, name: str) -> None:
    """Press Tab until the element of that name has the focus, then Enter."""
    for _ in range(STOPS_MAX):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED).strip() == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"{STOPS_MAX} stops do not lead to {name!r}")
