"""The dashboard on-call in Chromium, on a history worked out by hand (on_call_stories.py)."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from headwater.cypher.driver.database import Database
from headwater.health.figures.snapshots import take_snapshot
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.run_builders import write_events
from tests.ui.axe import findings
from tests.ui.conftest import visit, wait_ready
from tests.ui.on_call_stories import history, new_failure
from tests.ui.test_pages import cells, section

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
ON_CALL = "/dashboards/on-call"
THUMB_PIXELS = 44


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history())


def figure(page: Page, name: str) -> str:
    return page.locator(f'[data-figure="{name}"]').inner_text()


def test_what_needs_attention_comes_first(page: Page) -> None:
    visit(page, ON_CALL)
    expect(page).to_have_title("On call · Headwater")
    assert {
        name: figure(page, name)
        for name in (
            "open-failures",
            "afflicted-datasets",
            "afflicted-answers",
            "overdue-runs",
            "no-news-runs",
        )
    } == {
        "open-failures": "2",
        "afflicted-datasets": "2",
        "afflicted-answers": "1",
        "overdue-runs": "1",
        "no-news-runs": "1",
    }
    expect(page.get_by_text("of 3 failed runs", exact=True)).to_be_visible()
    expect(page.get_by_text("All is well")).to_have_count(0)
    page.get_by_role("link", name="Datasets out of date").click()
    expect(page.locator("#stale")).to_be_in_viewport()
    assert page.evaluate("scrollY") > 0


def test_failures_come_by_consequence_with_owners_and_the_last_good_version(page: Page) -> None:
    visit(page, ON_CALL)
    failures = section(page, "Failures by consequence")
    rows = cells(failures)
    assert [(row[0], row[2].split()[0]) for row in rows] == [
        ("open", "load_orders"),
        ("open", "load_orders"),
        ("resolved", "crawl"),
    ]
    assert "no space left on device" in rows[0][2]
    assert rows[0][3] == "1 certified dataset, 1 answer, 3 datasets and jobs"
    assert rows[0][4] == "team:orders, team:insight"
    # Written 3 h 59 min before the history was; a busy machine needs a minute to get here.
    assert rows[0][5].startswith(("orders 3 h", "orders 4 h"))
    assert rows[2][3:] == ["1 dataset or job", "nobody is named", "no good version"]
    urns = failures.locator("tbody tr td:nth-child(3) [data-urn]")
    assert urns.evaluate_all("nodes => nodes.map((node) => node.dataset.urn)") == [
        "run:bad-2",
        "run:bad-1",
        "run:crawl-1",
    ]
    failures.get_by_role("link", name="1 certified dataset").first.click()
    wait_ready(page)
    expect(page.locator("#failure-details")).to_be_visible()


def test_stale_and_partial_datasets_name_the_runs_they_wait_for(page: Page) -> None:
    visit(page, ON_CALL)
    rows = cells(section(page, "Stale or partial datasets"))
    assert [(row[0], row[1]) for row in rows] == [("orders db", "partial"), ("report db", "stale")]
    assert [row[3].count("no space left on device") for row in rows] == [2, 2]


def test_runs_that_are_late_or_silent(page: Page) -> None:
    visit(page, ON_CALL)
    [overdue] = cells(section(page, "Longer than usual"))
    assert (overdue[0], overdue[2], overdue[3]) == ("sum_up etl", "1 min", "1 min")
    assert overdue[1].startswith("1 h 4")
    [silent] = cells(section(page, "No news"))
    assert silent[0] == "child etl"


def test_pipelines_that_fail_most_lead_to_their_failures(page: Page) -> None:
    visit(page, ON_CALL)
    pipelines = section(page, "Pipelines that fail most")
    rows = cells(pipelines)
    assert [row[:2] for row in rows] == [["load_orders etl", "2 of 4"], ["crawl etl", "1 of 2"]]
    assert (rows[0][3], rows[0][4]) == ("no space left on device", "team:orders")
    pipelines.get_by_role("link", name="2 of 4").click()
    wait_ready(page)
    expect(page.get_by_text("2 of 2 failed runs")).to_be_visible()


def test_schema_changes_lead_to_the_difference(page: Page) -> None:
    visit(page, ON_CALL)
    changes = section(page, "Schema changes")
    [row] = cells(changes)
    assert (row[0], row[1], row[3]) == ("orders db", "added: customer", "load_orders")
    changes.get_by_role("link", name="added: customer").click()
    wait_ready(page)
    expect(section(page, "Schema history")).to_contain_text("1 added, 0 dropped, 0 retyped")


def test_consumers_show_while_one_types(page: Page) -> None:
    visit(page, ON_CALL)
    consumers = section(page, "Who consumes a dataset")
    field = consumers.get_by_role("combobox", name="Find a dataset")
    field.press_sequentially("orde")
    expect(consumers.locator('[data-urn="answer:best-customer"]')).to_be_visible()
    assert [(row[0], row[1], row[2]) for row in cells(consumers)] == [
        ("JOB make_report etl", "1", "team:insight"),
        ("ANSWER best-customer", "2", "nobody is named"),
    ]
    expect(consumers).to_contain_text("owned by team:orders")
    field.press("Enter")
    wait_ready(page)
    assert "dataset=dataset%3Adb%3Aorders" in page.url
    page.reload()
    wait_ready(page)
    expect(consumers.locator('[data-urn="answer:best-customer"]')).to_be_visible()
    field.fill("nothing like it")
    expect(consumers).to_contain_text("No dataset is found for “nothing like it”")


def test_the_arrows_choose_among_datasets(page: Page) -> None:
    visit(page, ON_CALL)
    consumers = section(page, "Who consumes a dataset")
    field = consumers.get_by_role("combobox", name="Find a dataset")
    field.press_sequentially("r")
    options = consumers.get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    names = [text.split()[0] for text in options.all_inner_texts()]
    assert len(names) > 1
    field.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    wait_ready(page)
    assert page.url.endswith(f"dataset%3Adb%3A{names[1]}")


def test_the_window_is_in_the_address(page: Page) -> None:
    visit(page, f"{ON_CALL}?since=1h")
    assert figure(page, "open-failures") == "0"
    expect(section(page, "Failures by consequence")).to_contain_text("No run failed.")
    page.get_by_label("Since").select_option("7d")
    wait_ready(page)
    assert page.url.endswith("?since=7d")
    expect(page.locator('[data-figure="open-failures"]')).to_have_text("2")


def test_an_empty_namespace_is_well(page: Page) -> None:
    visit(page, f"{ON_CALL}?namespace=quiet")
    expect(page.get_by_text("All is well")).to_be_visible()


def test_time_to_impact_with_its_trend(page: Page, database: Database) -> None:
    """Check the figure: a run counts from its failure to its last write in the graph."""
    take_snapshot(GraphView(database))
    visit(page, ON_CALL)
    trends = section(page, "Trends")
    expect(trends.locator('[data-figure="time-to-impact"]')).to_contain_text("h")
    expect(trends.locator('[data-figure="failing-runs"]')).to_contain_text("%")


def test_axe_finds_nothing(page: Page) -> None:
    visit(page, f"{ON_CALL}?dataset=dataset%3Adb%3Aorders")
    section(page, "Trends").locator("[data-figure]").first.wait_for()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert "\n".join(findings(page)) == "", (width, scheme)


def test_one_column_and_targets_for_thumbs_on_a_phone(browser: Browser, page_url: str) -> None:
    context = browser.new_context(
        base_url=page_url, viewport={"width": 390, "height": 844}, color_scheme="dark"
    )
    page = context.new_page()
    visit(page, ON_CALL)
    section(page, "Schema changes").locator("table").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.locator("main a, main button, main select, main input, main [role=option]")
    heights = small.evaluate_all(
        "nodes => nodes.filter((node) => node.offsetParent)"
        ".map((node) => [node.outerHTML.slice(0, 90), node.getBoundingClientRect().height])"
    )
    assert [one for one in heights if one[1] < THUMB_PIXELS] == []
    assert len(heights) > 20
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 28)"
    context.close()


def test_a_new_failure_waits_behind_a_button(page: Page, database: Database) -> None:
    visit(page, ON_CALL)
    rows = section(page, "Failures by consequence").locator("tbody tr")
    expect(rows).to_have_count(3)
    show = page.get_by_role("button", name=re.compile(r"Show \d+ new failures"))
    # The subscription reports later changes only, so runs fail until it has begun.
    number = 0
    while not show.count():
        number += 1
        write_events(database, new_failure(number))
        page.wait_for_timeout(1000)
    expect(rows).to_have_count(3)
    show.click()
    expect(rows).to_have_count(3 + number)
    expect(page.locator('[data-figure="open-failures"]')).to_have_text(str(2 + number))
