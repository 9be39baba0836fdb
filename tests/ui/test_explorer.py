"""The explorer in Chromium: the graph around a node, more of it, paths, times, keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import answer, ds, job, run, write_events
from tests.ui.conftest import visit, wait_ready

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    """Write source -> ingest -> raw -> load -> orders -> report_N -> report_N, and a late reader."""
    empty(database)
    write_events(
        database,
        run("i", "ingest", ["source"], ["raw"]),
        run("l", "load", ["raw"], ["orders"], minute=10, derived={"orders": ["raw"]}),
        run("r1", "make_report", ["orders"], ["report"], minute=20, derived={"report": ["orders"]}),
        run("r2", "make_copy", ["orders"], ["copy"], minute=30),
        run("o", "make_odd", ["copy"], [HOSTILE], minute=40),
        answer("best", "report", minute=50),
        run("late", "late_reader", ["orders"], ["late"], minute=5000),
        run("f", "fan_out", ["wide"], [f"leaf_{number:03}" for number in range(80)], minute=60),
        run("c1", "there", ["ping"], ["pong"], minute=70),
        run("c2", "back", ["pong"], ["ping"], minute=80),
    )


def lineage_of(name: str, **parameters: str) -> str:
    more = "".join(f"&{key}={value}" for key, value in parameters.items())
    return f"/lineage?urn={ds(name)}{more}"


def node(page: Page, urn: str) -> Locator:
    return page.locator(f'.node[data-urn="{urn}"]')


def urns(page: Page) -> set[str]:
    """Return the urns of the drawn nodes."""
    found = page.locator(".node").evaluate_all("all => all.map((one) => one.dataset.urn)")
    return set(found)


def test_one_hop_each_way_in_one_request(page: Page) -> None:
    asked: list[str] = []
    page.on(
        "request", lambda request: asked.append(request.url) if "graphql" in request.url else None
    )
    visit(page, lineage_of("orders"))
    assert urns(page) == {
        *map(ds, ("raw", "orders", "report", "copy", "late")),
        *map(job, ("load", "make_report", "make_copy", "late_reader")),
    }
    assert len(asked) == 1
    expect(page.locator(".shown-count")).to_have_text("9 of 9 shown")
    expect(page.locator(".summary")).to_contain_text("2 upstream, 6 downstream")


def test_a_node_is_chosen_by_a_click_and_freed_by_escape(page: Page) -> None:
    visit(page, lineage_of("orders"))
    node(page, ds("copy")).click()
    panel = page.get_by_role("complementary", name="Details")
    expect(panel).to_contain_text("copy")
    expect(node(page, ds("report"))).to_have_class(re.compile("is-dim"))
    expect(node(page, ds("raw"))).not_to_have_class(re.compile("is-dim"))
    assert "sel=" in page.url
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(node(page, ds("report"))).not_to_have_class(re.compile("is-dim"))


def test_another_centre_is_a_step_back_returns_from(page: Page) -> None:
    visit(page, lineage_of("orders"))
    node(page, ds("copy")).dblclick()
    page.wait_for_url(re.compile("urn=dataset%3Adb%3Acopy"))
    expect(node(page, ds(HOSTILE))).to_be_visible()
    wait_ready(page)
    page.go_back()
    expect(node(page, ds("raw"))).to_be_visible()


def test_a_wide_graph_opens_with_its_budget(page: Page) -> None:
    visit(page, lineage_of("wide"))
    assert len(urns(page)) == 60
    expect(page.locator(".shown-count")).to_have_text("60 of 82 shown")
    page.get_by_role("button", name="Show all 82").click()
    expect(page.locator(".node")).to_have_count(82)
    assert "whole=true" in page.url


def test_a_side_opens_and_folds_in_its_place(page: Page) -> None:
    visit(page, lineage_of("wide"))
    centre = node(page, job("fan_out"))
    before = centre.locator(".box").bounding_box()
    stub = centre.locator(".stub", has_text="+22")
    stub.click()
    expect(page.locator(".node")).to_have_count(82)
    after = centre.locator(".box").bounding_box()
    assert before
    assert after
    assert (after["x"], after["y"]) == pytest.approx((before["x"], before["y"]), abs=1)
    centre.hover()
    centre.locator(".stub", has_text="−").last.click()
    expect(page.locator(".node")).to_have_count(2)


def test_an_address_with_opened_sides_is_one_request(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "graphql" in one.url else None)
    visit(page, lineage_of("orders", open=f"%3C{ds('raw')}"))
    assert {ds("source"), job("ingest")} <= urns(page)
    assert len(asked) == 1


def test_more_hops_are_asked_for_where_they_are_missing(page: Page) -> None:
    visit(page, lineage_of("orders"))
    page.get_by_role("button", name="Fit all").click()
    node(page, ds("raw")).hover()
    before = node(page, ds("raw")).locator(".box").bounding_box()
    node(page, ds("raw")).locator(".stub", has_text="+1").click()
    expect(node(page, ds("source"))).to_be_visible()
    after = node(page, ds("raw")).locator(".box").bounding_box()
    assert before
    assert after
    assert (after["x"], after["y"]) == pytest.approx((before["x"], before["y"]), abs=1)
    page.wait_for_url(re.compile("open=%3Cdataset%3Adb%3Araw"))


def test_everything_downstream_of_a_node(page: Page) -> None:
    visit(page, lineage_of("orders", sel=ds("raw")))
    page.get_by_role("link", name="Everything downstream").click()
    expect(node(page, ds(HOSTILE))).to_be_visible()
    expect(node(page, ds("source"))).to_have_count(0)
    assert "direction=DOWNSTREAM&depth=50" in page.url


def test_the_list_has_the_same_nodes_at_the_same_address(page: Page) -> None:
    visit(page, lineage_of("orders"))
    drawn = urns(page)
    page.get_by_role("button", name="List", exact=True).click()
    rows = page.locator("tbody [data-urn]")
    expect(rows).to_have_count(len(drawn))
    assert set(rows.evaluate_all("all => all.map((one) => one.dataset.urn)")) == drawn
    assert page.url.endswith(lineage_of("orders", view="list").replace(":", "%3A").split("?")[1])
    page.set_viewport_size({"width": 320, "height": 700})
    visit(page, lineage_of("orders"))
    expect(rows).to_have_count(len(drawn))


def test_a_past_graph_has_the_edges_of_its_time(page: Page) -> None:
    visit(page, lineage_of("orders", asOf="2026-01-02T00:00:00Z"))
    assert ds("late") not in urns(page)
    assert ds("copy") in urns(page)
    expect(page.get_by_text("At 2026-01-02 00:00 UTC")).to_be_visible()


def test_the_difference_of_two_times_is_drawn_and_said(page: Page) -> None:
    visit(page, lineage_of("orders", **{"from": "2026-01-02T00:00:00Z"}))
    expect(node(page, ds("late"))).to_contain_text("added")
    expect(node(page, ds("copy"))).not_to_contain_text("added")
    expect(page.locator(".summary")).to_contain_text("2 added")


def test_an_empty_graph_says_which_choice_emptied_it(page: Page) -> None:
    visit(page, lineage_of("report", direction="DOWNSTREAM"))
    expect(page.get_by_text("Nothing is connected to it here")).to_be_visible()
    page.get_by_role("button", name="Show both directions, not downstream only").click()
    expect(node(page, ds("orders"))).to_be_visible()


def test_only_the_ways_between_two_nodes(page: Page) -> None:
    visit(page, lineage_of("source", to=ds("report")))
    assert urns(page) == {
        *map(ds, ("source", "raw", "orders", "report")),
        *map(job, ("ingest", "load", "make_report")),
    }
    page.get_by_role("button", name="Show everything around the centre").click()
    expect(page.locator(".node")).to_have_count(3)


def test_the_ways_are_found_against_the_flow_too(page: Page) -> None:
    visit(page, lineage_of("report", to=ds("raw")))
    assert urns(page) == {
        *map(ds, ("raw", "orders", "report")),
        *map(job, ("load", "make_report")),
    }
    visit(page, lineage_of("report", to=ds("copy")))
    expect(page.get_by_text("No way leads from the centre to “copy”, or back.")).to_be_visible()


def test_the_slider_goes_back_in_time(page: Page) -> None:
    visit(page, lineage_of("orders"))
    page.get_by_text("Time: now").click()
    page.get_by_label("The last").select_option("day")
    slider = page.get_by_role("slider", name="Time of the graph")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile("asOf="))
    page.get_by_role("button", name="Back to now").click()
    expect(page.get_by_text("Time: now")).to_be_visible()


def test_a_cycle_is_drawn(page: Page) -> None:
    visit(page, lineage_of("ping"))
    assert urns(page) == {ds("ping"), ds("pong"), job("there"), job("back")}
    expect(page.locator(".line")).to_have_count(4)


def test_keys_move_select_and_centre(page: Page) -> None:
    visit(page, lineage_of("orders"))
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowLeft")
    expect(node(page, ds("orders"))).to_have_class(re.compile("is-focused"))
    page.keyboard.press("ArrowLeft")
    expect(node(page, job("load"))).to_have_class(re.compile("is-focused"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("load")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("c")
    page.wait_for_url(re.compile("urn=dataset%3Adb%3Araw"))


def test_hostile_names_are_text(page: Page) -> None:
    visit(page, lineage_of(HOSTILE))
    expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    assert page.title().startswith("<img")


def test_the_start_finds_a_centre(page: Page) -> None:
    visit(page, "/lineage")
    page.get_by_placeholder("Find a dataset, a job or an answer").fill("orders")
    page.locator(f'[data-urn="{ds("orders")}"] a').click()
    expect(node(page, ds("raw"))).to_be_visible()
    visit(page, "/lineage")
    expect(page.locator(f'main [data-urn="{ds("orders")}"]')).to_be_visible()
