"""The frame of the page in Chromium: first view, search by keyboard, themes, addresses."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import run, write_events
from tests.ui.conftest import visit, wait_ready

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    empty(database)
    write_events(
        database,
        run("ok", "load_orders", ["raw"], ["orders"]),
        run("bad", "load_orders", ["raw"], ["orders"], minute=5, status="FAIL"),
        run("odd", "load_odd", ["raw"], [HOSTILE]),
    )


def test_the_first_view_shows_what_happened_last(page: Page) -> None:
    visit(page, "/")
    runs = page.get_by_role("region").filter(has_text="Newest runs")
    expect(runs.locator("[data-urn]")).to_have_count(3)
    expect(runs.locator('[data-urn="run:bad"]').locator("xpath=..")).to_contain_text("failed")


def test_search_by_keyboard(page: Page) -> None:
    visit(page, "/")
    page.keyboard.press("/")
    page.keyboard.type("orders")
    suggestions = page.get_by_role("listbox").get_by_role("option")
    expect(suggestions).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(suggestions.first).to_have_attribute("aria-selected", "true")
    expect(suggestions.first).to_have_attribute("data-urn", "dataset:db:orders")
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets/dataset%3Adb%3Aorders")
    visit(page, "/")
    page.get_by_role("combobox", name="Search").focus()
    expect(suggestions).to_have_count(1)


def test_all_results_have_an_address_and_back_returns(page: Page) -> None:
    visit(page, "/")
    page.get_by_role("combobox", name="Search").fill("orders")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?text=orders")
    wait_ready(page)
    expect(page.get_by_role("row")).to_have_count(3)
    page.go_back()
    expect(page.get_by_text("Newest runs")).to_be_visible()


def test_a_hostile_name_is_text(page: Page) -> None:
    visit(page, "/search?text=onerror")
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    assert page.title() == "Search for “onerror” · Headwater"


def test_nothing_found_says_what_to_do(page: Page) -> None:
    visit(page, "/search?text=zzzz")
    expect(page.get_by_text("Nothing matches “zzzz”.")).to_be_visible()


def test_the_theme_stays_chosen(page: Page) -> None:
    visit(page, "/")
    page.get_by_label("Theme").select_option("dark")
    visit(page, "/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 28)"


def test_a_script_that_reads_a_colour_gets_the_one_in_force(page: Page) -> None:
    ground = "getComputedStyle(document.documentElement).getPropertyValue('--ground')"
    visit(page, "/sign-in")
    seen = []
    for scheme, chosen in (("light", "system"), ("dark", "system"), ("dark", "light")):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.get_by_label("Theme").select_option(chosen)
        seen.append(page.evaluate(ground))
    assert seen == ["rgb(247, 249, 251)", "rgb(16, 22, 28)", "rgb(247, 249, 251)"]
