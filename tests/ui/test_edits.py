"""Editing as a steward in Chromium: each edit is an event, and the page shows what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import FACET, Event, run, write_events
from tests.ui.axe import findings
from tests.ui.conftest import serving_page, visit

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
ORDERS, LOAD = "/datasets/dataset%3Adb%3Aorders", "/jobs/job%3Aetl%3Aload_orders"
DONE = "Done. The page shows it."


def story() -> list[Event]:
    events: list[dict[str, Any]] = run("r1", "load_orders", ["raw"], ["orders"])
    for event in events:
        for output in event["outputs"]:
            output["facets"] = {
                "schema": {
                    **FACET,
                    "fields": [{"name": name, "type": "string"} for name in ("id", "mail")],
                },
                "documentation": {**FACET, "description": "By the producer."},
                "ownership": {**FACET, "owners": [{"name": "team:load"}]},
            }
    return events


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    empty(database)
    write_events(database, story(), run("r2", "copy", ["raw"], ["orders2"]))


def opened(page: Page, path: str = ORDERS) -> Locator:
    """Open a page, and the forms of its edits."""
    visit(page, path)
    section = page.locator("#edits")
    section.scroll_into_view_if_needed()
    section.locator("summary", has_text="Edit").click()
    return section


def rows(section: Locator) -> list[list[str]]:
    """Return who, what, from and to of each edit in the history."""
    section.locator("tbody tr").first.wait_for()
    return [row.locator("td").all_inner_texts()[1:] for row in section.locator("tbody tr").all()]


def test_a_description_is_set_and_withdrawn(page: Page) -> None:
    section = opened(page)
    section.get_by_label("Description").last.fill("One row for each order.")
    section.get_by_role("button", name="Save").click()
    expect(section).to_contain_text(DONE)
    head = page.locator(".node-head")
    expect(head).to_contain_text("One row for each order.")
    expected = ["anonymous", "description", "By the producer.", "One row for each order."]
    assert rows(section) == [expected]
    section.get_by_role("button", name="Withdraw: show the producer's text").click()
    expect(head).to_contain_text("By the producer.")


def test_owners_by_keyboard(page: Page) -> None:
    section = opened(page)
    section.get_by_label("New owner").focus()
    page.keyboard.type("ann")
    page.keyboard.press("Enter")
    about = page.locator("#about")
    expect(about).to_contain_text("team:load, ann")
    section.get_by_role("button", name="Remove owner team:load").focus()
    page.keyboard.press("Enter")
    expect(about).not_to_contain_text("team:load")
    expect(about).to_contain_text("ann")


def test_tags_of_a_dataset_and_of_a_column(page: Page) -> None:
    section = opened(page)
    section.get_by_label("New tag").fill("tier=1")
    section.get_by_role("button", name="Add tag").click()
    expect(page.locator("#about")).to_contain_text("tier=1")
    section.get_by_label("Tag of").select_option("mail")
    section.get_by_label("New tag").fill("pii=email")
    section.get_by_role("button", name="Add tag").click()
    columns = page.locator("#columns").get_by_role("row").filter(has_text="mail")
    expect(columns).to_contain_text("pii=email")
    section.get_by_role("button", name="Remove tag pii=email").click()
    expect(columns).not_to_contain_text("pii=email")
    assert rows(section)[0] == ["anonymous", "tag (mail)", "pii=email", ""]


def test_certifying_and_withdrawing_it(page: Page) -> None:
    section = opened(page, LOAD)
    section.get_by_role("button", name="Certify").click()
    about = page.locator("#about")
    expect(about).to_contain_text("certified")
    section.get_by_role("button", name="Withdraw the certification").click()
    expect(about).not_to_contain_text("certified")


def test_a_deprecation_asks_first_and_warns_then(page: Page) -> None:
    section = opened(page)
    section.get_by_label("Reason").fill("It counts each order twice.")
    section.get_by_label("Replacement").fill("dataset:db:orders2")
    section.get_by_label("Not to be used from").fill("2026-12-31")
    section.get_by_role("button", name="Deprecate …").click()
    question = section.get_by_role("alertdialog")
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    section.get_by_role("button", name="Deprecate …").click()
    section.get_by_role("button", name="Yes, do it").click()
    head = page.locator(".node-head")
    expect(head).to_contain_text("It counts each order twice.")
    expect(head).to_contain_text("Not to be used from 2026-12-31.")
    expect(head.locator('[data-urn="dataset:db:orders2"]')).to_be_visible()
    section.get_by_role("button", name="Withdraw the deprecation …").click()
    section.get_by_role("button", name="Yes, do it").click()
    expect(head).not_to_contain_text("It counts each order twice.")


def test_names_are_joined_and_split(page: Page) -> None:
    section = opened(page)
    section.get_by_label("Other name (urn").fill("dataset:db:orders2")
    section.get_by_role("button", name="Join: one dataset").click()
    about = page.locator("#about")
    expect(about).to_contain_text("orders2")
    section.get_by_role("button", name="Split: two datasets …").click()
    section.get_by_role("button", name="Yes, do it").click()
    expect(about).not_to_contain_text("orders2")


def test_a_refused_edit_says_why_and_changes_nothing(page: Page) -> None:
    section = opened(page)
    section.get_by_label("Other name (urn").fill("dataset:db:orders")
    section.get_by_role("button", name="Join: one dataset").click()
    expect(section.get_by_role("alert")).to_contain_text("`other`")
    expect(section).to_contain_text("Nobody has edited it.")


def test_only_a_steward_gets_the_forms(
    browser: Browser, database: Database, tmp_path: Path
) -> None:
    store = AccessStore(tmp_path / "access.db")
    reader = Keys(store).create("rita", [Scope.READ])[0]
    steward = Keys(store).create("sam", [Scope.READ, Scope.STEWARD])[0]
    with serving_page(database, store, are_keys_required=True) as url:
        context = browser.new_context(base_url=url)
        page = context.new_page()
        visit(page, ORDERS)
        page.get_by_label("API key").fill(reader)
        page.get_by_role("button", name="Sign in").click()
        section = page.locator("#edits")
        section.scroll_into_view_if_needed()
        expect(section).to_contain_text("rita has: read.")
        expect(section.locator("form")).to_have_count(0)
        section.get_by_role("link", name="Sign in").click()
        page.get_by_label("API key").fill(steward)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"**{ORDERS}")
        section.scroll_into_view_if_needed()
        section.locator("summary", has_text="Edit").click()
        section.get_by_label("New owner").fill("sam")
        section.get_by_role("button", name="Add owner").click()
        expect(section).to_contain_text(DONE)
        assert rows(section) == [["sam", "owner", "", "sam"]]
        context.close()
    store.close()


@pytest.mark.usefixtures("history")
def test_hostile_edits_are_text(page: Page) -> None:
    hostile = '<img src=x onerror="document.title=1">\u202egnp'
    section = opened(page)
    section.get_by_label("Description").last.fill(hostile)
    section.get_by_role("button", name="Save").click()
    expect(section).to_contain_text(DONE)
    expect(page.locator(".node-head")).to_contain_text("<img src=x")
    assert page.locator("img[src=x]").count() == 0


@pytest.fixture(autouse=True)
def at_the_end(database: Database) -> Iterator[None]:
    yield
    empty(database)


def test_axe_finds_nothing_in_the_forms(page: Page) -> None:
    section = opened(page)
    section.get_by_label("Reason").fill("Old.")
    section.get_by_role("button", name="Deprecate …").click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert findings(page) == []
    page.set_viewport_size({"width": 320, "height": 600})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
