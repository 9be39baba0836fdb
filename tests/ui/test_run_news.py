"""Runs that change while one reads: a button shows them, and nothing moves by itself."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import run, write_events
from tests.ui.conftest import visit

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
PAUSE_MILLISECONDS = 1_500


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    empty(database)
    write_events(
        database,
        run("first", "load_orders", ["raw"], ["orders"]),
        run("open", "load_orders", ["raw"], ["orders"], minute=10)[:1],
        run("other", "copy", ["raw"], ["copies"]),
    )


def test_new_runs_of_a_job_wait_behind_a_button(page: Page, database: Database) -> None:
    visit(page, "/jobs/job%3Aetl%3Aload_orders")
    runs = page.locator("#runs")
    rows = runs.locator("tbody tr")
    expect(rows).to_have_count(2)
    button = runs.get_by_role("button", name=re.compile("changed run"))
    written = 0
    # A run before the subscription has begun is not delivered, so a further one follows.
    while not button.count():
        written += 1
        events = run(f"new-{written}", "load_orders", ["raw"], ["orders"], minute=20 + written)
        write_events(database, events, run(f"copy-{written}", "copy", ["raw"], ["copies"]))
        page.wait_for_timeout(PAUSE_MILLISECONDS)
    expect(rows).to_have_count(2)
    button.click()
    expect(rows).to_have_count(2 + written)
    expect(button).to_have_count(0)


def test_a_run_that_ends_and_newer_ones_are_offered(page: Page, database: Database) -> None:
    visit(page, "/runs/open")
    head = page.locator(".node-head")
    expect(head).to_contain_text("running")
    newer = head.get_by_role("link", name=re.compile("newer run"))
    written = 0
    while not newer.count():
        written += 1
        events = run(f"new-{written}", "load_orders", ["raw"], ["orders"], minute=20 + written)
        write_events(database, events)
        page.wait_for_timeout(PAUSE_MILLISECONDS)
    expect(head.get_by_role("button", name=re.compile("It is"))).to_have_count(0)
    write_events(database, run("open", "load_orders", ["raw"], ["orders"], minute=10))
    button = head.get_by_role("button", name="It is complete now: show")
    expect(button).to_be_visible()
    expect(head).to_contain_text("It has been running since")
    button.click()
    expect(head).to_contain_text("It completed")
    expect(button).to_have_count(0)
    newer.click()
    page.wait_for_url("**/jobs/job%3Aetl%3Aload_orders")
