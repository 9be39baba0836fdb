"""More views of the explorer in Chromium: columns, runs, groups, overlays, large graphs, states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from tests.browser import MILLISECONDS_MAX
from tests.canonical import empty
from tests.run_builders import answer, ds, job, run, version, write_events
from tests.ui.conftest import serving_page, visit
from tests.ui.test_explorer import lineage_of, node, urns

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
WIDE = 400


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    """Write raw -> load -> orders -> mart.daily_N -> totals_N; the newest load failed after writing."""
    empty(database)
    write_events(
        database,
        run("l1", "load", ["raw"], ["orders"], minute=10, rows=100, derived={"orders": ["raw"]}),
        run("d1", "mart.daily_1", ["orders"], ["totals_1"], minute=20, rows=5),
        run("d2", "mart.daily_2", ["orders"], ["totals_2"], minute=21, rows=6),
        answer("best", "totals_1", minute=50),
        run("l2", "load", ["raw"], ["orders"], minute=60, rows=7, status="FAIL", error="no space"),
        run("w", "fan", ["wide"], [f"leaf_{number:03}" for number in range(WIDE)], minute=60),
    )


def test_the_latest_state_of_each_node_is_shown_in_words(page: Page) -> None:
    visit(page, lineage_of("orders"))
    words = {
        urn: node(page, urn).locator(".word").text_content()
        for urn in (job("load"), ds("orders"), job("mart.daily_1"), ds("totals_1"), ds("raw"))
    }
    assert words == {
        job("load"): "failed",
        ds("orders"): "partial",
        job("mart.daily_1"): "upstream failed",
        ds("totals_1"): "upstream failed",
        ds("raw"): "no runs",
    }
    expect(page.locator(".summary")).to_contain_text("1 failed")


def test_the_panel_has_the_facts_of_a_node(page: Page) -> None:
    visit(page, lineage_of("orders", sel=ds("totals_1")))
    panel = page.get_by_role("complementary", name="Details")
    expect(panel.locator("dl")).to_contain_text("Rows")
    expect(panel.locator("dl")).to_contain_text("5")
    cause = panel.locator(f'[data-urn="{job("load")}"]')
    expect(cause).to_be_visible()
    panel.get_by_role("link", name="Open its page").click()
    page.wait_for_url("**/datasets/dataset%3Adb%3Atotals_1")


def test_an_overlay_changes_the_last_line(page: Page) -> None:
    visit(page, lineage_of("orders"))
    page.locator("select[name=overlay]").select_option("rows")
    expect(node(page, ds("totals_2")).locator(".line-text")).to_have_text("6 rows")
    assert "overlay=rows" in page.url


def test_the_columns_of_a_dataset(page: Page) -> None:
    visit(page, lineage_of("orders", level="COLUMN"))
    assert urns(page) == {"column:db:orders:id", "column:db:raw:id"}


def test_a_column_has_its_kind_of_transformation_on_the_edge(page: Page) -> None:
    visit(page, "/lineage?urn=column:db:orders:id")
    assert urns(page) == {"column:db:orders:id", "column:db:raw:id"}
    page.locator(".line path").first.click(force=True)
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("load")


def test_the_versions_behind_an_answer(page: Page) -> None:
    visit(page, "/lineage?urn=answer:best&direction=UPSTREAM&depth=10")
    assert urns(page) >= {
        "answer:best",
        version("totals_1", "d1"),
        "run:d1",
        version("orders", "l1"),
        "run:l1",
    }
    assert version("orders", "l2") not in urns(page)


def test_a_group_opens_in_its_place(page: Page) -> None:
    visit(page, lineage_of("orders", group="family"))
    group = page.locator(".node.of-group")
    expect(group).to_have_count(2)
    expect(group.filter(has_text="mart")).to_contain_text("2 nodes")
    group.filter(has_text="mart").click()
    page.get_by_role("button", name="Open in place").click()
    expect(node(page, job("mart.daily_2"))).to_be_visible()
    expect(group).to_have_count(1)


def test_many_nodes_are_drawn_on_a_canvas(page: Page) -> None:
    visit(page, lineage_of("wide", whole="true"))
    stage = page.get_by_role("application")
    expect(stage).to_have_attribute("data-layer", "canvas")
    expect(page.locator(".shown-count")).to_have_text(f"{WIDE + 2} of {WIDE + 2} shown")
    stage.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("fan")
    drawn = page.locator("canvas.picture").evaluate(
        "(it) => it.getContext('2d').getImageData(0, 0, it.width, it.height).data.some(Boolean)"
    )
    assert drawn


def test_the_largest_answer_has_the_same_nodes(page: Page) -> None:
    visit(page, lineage_of("orders", depth="5"))
    drawn = urns(page)
    visit(page, lineage_of("orders", depth="5", large="true"))
    assert urns(page) == drawn


def test_the_wheel_pans_and_with_ctrl_it_zooms(page: Page) -> None:
    visit(page, lineage_of("orders"))
    box = node(page, ds("orders")).locator(".box")
    before = box.bounding_box()
    page.mouse.move(640, 500)
    page.mouse.wheel(0, 100)
    expect(page.locator(".graph > g")).to_have_attribute("transform", re.compile("scale"))
    page.wait_for_function(
        "y => document.querySelector('.is-start .box').getBoundingClientRect().y < y - 90",
        arg=before["y"] if before else 0,
    )
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function(
        "w => document.querySelector('.is-start .box').getBoundingClientRect().width > w + 20",
        arg=before["width"] if before else 0,
    )


def test_what_a_key_may_not_see_is_a_stub(
    browser: Browser, database: Database, tmp_path: Path
) -> None:
    store = AccessStore(tmp_path / "access.db")
    text, _ = Keys(store).create("reader", [Scope.READ], namespaces=["db"])
    with serving_page(database, store, are_keys_required=True) as url:
        context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 800})
        context.set_default_timeout(MILLISECONDS_MAX)
        page = context.new_page()
        visit(page, lineage_of("orders"))
        page.get_by_label("API key").fill(text)
        page.get_by_role("button", name="Sign in").click()
        expect(node(page, ds("orders"))).to_be_visible()
        expect(page.locator(".node.of-hidden").first).to_be_visible()
        expect(page.locator(".summary")).to_contain_text("hidden")
        expect(page.get_by_text("daily")).to_have_count(0)
        page.locator(".node.of-hidden").first.click()
        expect(page.get_by_role("complementary", name="Details")).to_contain_text("hidden")
        context.close()
    store.close()


def test_an_unknown_centre_is_an_error_that_says_so(page: Page) -> None:
    visit(page, lineage_of("nothing"))
    expect(page.get_by_role("alert")).to_contain_text("dataset:db:nothing")
