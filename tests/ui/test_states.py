"""The states of views: loading, empty, cut, forbidden and failed, each with a word and what to do.

Each is brought about by real means: a slow answer, an ended server, a Neo4j that is not there, a key
without rights, an empty graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from tests.browser import MILLISECONDS_MAX
from tests.canonical import empty
from tests.run_builders import run, write_events
from tests.ui.conftest import serving_page, visit
from tests.ui.finding_stories import save_findings
from tests.ui.stories import history
from tests.ui.views import DATASET, FILLED

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
# More failures than a first page of them shows.
FAILURES = 30
# Without policies in force their page needs no graph.
UNASKED = {"sign-in", "on call", "policies"}
ASKING = {name: path for name, path in FILLED.items() if name not in UNASKED}
EMPTY_GRAPH = {
    "/": ["No run failed in the last day.", "No run yet.", "Send OpenLineage events"],
    "/failures?since=all": ["No run failed."],
    "/search?text=orders": ["Nothing matches “orders”.", "Search for a word"],
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AccessStore]:
    store = AccessStore(tmp_path / "access.db")
    yield store
    store.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """Yield a tab whose errors do not fail the test: it visits servers that do not answer."""
    context = browser.new_context()
    context.set_default_timeout(MILLISECONDS_MAX)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history())
    save_findings(database)


def test_a_slow_answer_shows_a_word_at_once_and_another_after_a_second(page: Page) -> None:
    visit(page, "/")

    def wait(route: Route) -> None:
        page.wait_for_timeout(3_000)
        route.continue_()

    page.route("**/graphql", wait)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Failures").click()
    expect(page.get_by_role("status").filter(has_text="Loading")).to_be_visible()
    expect(page.get_by_text("This takes longer than usual.").first).to_be_visible()
    expect(page.get_by_role("link", name="Show all failures")).to_be_visible()
    expect(page.get_by_text("This takes longer than usual.")).to_have_count(0)


def test_an_ended_server_is_named_and_a_retry_goes_on(tab: Page, page_url: str) -> None:
    tab.goto(f"{page_url}/failures?since=all")
    row = tab.get_by_role("row").filter(has_text="load_orders")
    expect(row).to_be_visible()
    tab.context.set_offline(True)
    row.get_by_role("button", name="Details: load_orders").click()
    alert = tab.get_by_role("alert").first
    expect(alert).to_contain_text("Headwater does not answer.")
    expect(alert).to_contain_text("Check that it runs")
    tab.context.set_offline(False)
    awaited: list[Route] = []
    tab.route("**/graphql", lambda route: awaited.append(route))
    alert.get_by_role("button", name="Retry").click()
    # A second click would end the first question, so there is nothing to click until the answer.
    expect(tab.get_by_role("status").filter(has_text="Loading Replay plan")).to_be_visible()
    expect(tab.get_by_role("alert")).to_have_count(0)
    for route in awaited:
        route.continue_()
    tab.unroute("**/graphql")
    expect(tab.get_by_role("heading", name="Replay plan")).to_be_visible()


def test_a_server_that_ends_leaves_what_was_shown(
    tab: Page, database: Database, store: AccessStore
) -> None:
    with serving_page(database, store) as url:
        tab.goto(f"{url}/runs/bad")
        expect(tab.get_by_role("heading", name="load_orders")).to_be_visible()
        # Other regions of the view have their answers too: only the one opened below fails.
        tab.wait_for_load_state("networkidle")
    expect(tab.get_by_role("heading", name="load_orders")).to_be_visible()
    tab.get_by_text("What producers sent, facet by facet").click()
    expect(tab.get_by_role("alert")).to_contain_text("Headwater does not answer.")


@pytest.mark.parametrize("view", ASKING)
def test_a_missing_neo4j_is_an_error_with_a_hint(tab: Page, away_url: str, view: str) -> None:
    if ASKING[view] in {"/lineage", "/dashboards"}:
        pytest.skip("this view asks nothing")
    tab.goto(f"{away_url}{ASKING[view]}")
    alert = tab.get_by_role("alert").first
    expect(alert).to_be_visible()
    expect(alert.locator("strong")).not_to_be_empty()
    expect(alert.locator("p")).not_to_be_empty()
    expect(alert.get_by_role("button", name="Retry")).to_be_visible()
    assert "undefined" not in tab.locator("main").inner_text()


@pytest.fixture(scope="module")
def away_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a page whose Neo4j is not there."""
    database = Database("bolt://127.0.0.1:1", "neo4j", "none")
    store = AccessStore(tmp_path_factory.mktemp("access") / "access.db")
    with serving_page(database, store) as url:
        yield url
    store.close()
    database.close()


def test_a_node_that_the_key_does_not_see_is_not_known(
    tab: Page, database: Database, store: AccessStore
) -> None:
    key = Keys(store).create("other", [Scope.READ], namespaces=["other"])[0]
    with serving_page(database, store, are_keys_required=True) as url:
        tab.goto(f"{url}{DATASET}")
        tab.get_by_label("API key").fill(key)
        tab.get_by_role("button", name="Sign in").click()
        expect(tab.get_by_role("heading", name="This dataset is not known here")).to_be_visible()
        expect(tab.locator("main")).to_contain_text("your key may not see it")


def test_without_a_key_each_view_asks_for_one(
    tab: Page, database: Database, store: AccessStore
) -> None:
    with serving_page(database, store, are_keys_required=True) as url:
        for path in FILLED.values():
            tab.goto(f"{url}{path}")
            tab.wait_for_selector('body[data-ready="true"]')
            expect(tab.get_by_label("API key")).to_be_visible()
            expect(tab.get_by_role("heading", level=1)).to_have_count(1)


def test_a_cut_list_says_how_much_is_shown_and_shows_more(page: Page, database: Database) -> None:
    for number in range(FAILURES):
        write_events(database, run(f"many-{number}", "many", [], ["m"], minute=200, status="FAIL"))
    visit(page, "/failures?since=all&pipeline=many")
    expect(page.get_by_text("25 of 30 shown")).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_text("30 of 30 failed runs")).to_be_visible()
    expect(page.get_by_text("25 of 30 shown")).to_have_count(0)


def test_a_node_whose_part_is_empty_says_so(page: Page) -> None:
    visit(page, "/datasets/dataset%3Adb%3Araw")
    main = page.locator("main")
    expect(main).to_contain_text("No known job writes it: its data comes from outside.")


# Last: it empties the graph of this file.
@pytest.mark.parametrize("path", EMPTY_GRAPH)
def test_an_empty_graph_says_what_to_do(page: Page, database: Database, path: str) -> None:
    empty(database)
    visit(page, path)
    for text in EMPTY_GRAPH[path]:
        expect(page.get_by_text(text).first).to_be_visible()
