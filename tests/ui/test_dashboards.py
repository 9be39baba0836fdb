"""The dashboards executive and trust, and the pages of figures, on a history worked out by hand.

The history is that of tests/health/figures/story.py, moved so that it ends two days ago.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from headwater.health.figures.definitions import FIGURES
from headwater.health.figures.snapshots import backfill, take_snapshot
from headwater.importers.inventory.assets import (
    Asset,
    ListedAsset,
    inventory_events,
    withdrawal_events,
)
from headwater.importers.report import ImportReport
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.health.figures.story import recent_start, write_story
from tests.run_builders import at, write_events
from tests.ui.conftest import visit
from tests.ui.test_pages import cells, documents_asked, section

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
DAYS = 60


@pytest.fixture(scope="module", autouse=True)
def story(database: Database) -> None:
    now = datetime.now(UTC)
    empty(database)
    write_story(database, start=recent_start(now))
    view = GraphView(database)
    take_snapshot(view, now)
    backfill(view, DAYS, now)


def figures(page: Page) -> dict[str, str]:
    """Return the text of each figure by its name."""
    shown = page.locator("[data-figure]")
    return {str(one.get_attribute("data-figure")): one.inner_text() for one in shown.all()}


def test_the_executive_dashboard_has_the_right_figures(page: Page) -> None:
    asked = documents_asked(page)
    visit(page, "/dashboards/executive")
    expect(page).to_have_title("Executive dashboard · Headwater")
    assert figures(page) == {
        "coverage": "85.7 %",
        "active-pipelines": "5",
        "critical-consumers": "2",
        "compliance-incidents": "2",
        "exposed-artifacts": "3",
        "open-actions": "3",
        "failing-runs": "12.5 %",
        "unknown-downstreams": "50 %",
    }
    assert sorted(asked) == [
        "page.CostFidelity",
        "page.Figures",
        "page.ServiceLevels",
        "page.TopDatasets",
    ]
    incidents = page.get_by_label("Compliance incidents", exact=True)
    expect(incidents).to_contain_text("of 8 datasets")
    expect(incidents).to_contain_text("above 0")
    coverage = page.get_by_label("Lineage coverage", exact=True).first
    expect(coverage).to_contain_text("12 of 14 datasets and jobs")
    expect(coverage).to_contain_text("good, bound 80 %")
    # What is beyond its threshold comes first.
    names = list(figures(page))
    assert set(names[:5]) == {
        "compliance-incidents", "exposed-artifacts", "open-actions", "failing-runs", "unknown-downstreams",
    }  # fmt: skip


def test_a_tile_has_its_trend_as_a_line_and_as_a_table(page: Page) -> None:
    visit(page, "/dashboards/executive")
    coverage = page.locator("section.tile").filter(has_text="Lineage coverage")
    words = re.compile("Trend: from 100 % on .* to 85.7 % on ")
    expect(coverage.get_by_role("img")).to_have_attribute("aria-label", words)
    coverage.get_by_text("as a table").click()
    rows = [row[1] for row in cells(coverage)]
    # The newest first: 12 of 14; before the last days, raw and archive with the job old.
    assert rows[0] == "85.7 %"
    assert rows[-1] == "100 %"
    assert len(rows) == 23


def test_a_tile_leads_to_the_list_that_makes_its_figure(page: Page) -> None:
    visit(page, "/dashboards/executive")
    page.get_by_role("link", name="Open actions").click()
    page.wait_for_url("**/dashboards/open-actions")
    nodes = section(page, "Behind it: these datasets and jobs")
    expect(nodes.locator("[data-urn]")).to_have_count(3)
    urns = [one.get_attribute("data-urn") for one in nodes.locator("[data-urn]").all()]
    assert urns == ["job:etl:ship", "dataset:db:mart", "dataset:db:orders"]
    definition = section(page, "Definition")
    expect(definition).to_contain_text("certified datasets without an owner")
    expect(definition).to_contain_text("at most 0; the target is 0")


def test_top_datasets_come_by_their_consumers(page: Page) -> None:
    visit(page, "/dashboards/executive")
    rows = cells(section(page, "Top datasets by consumers"))
    assert rows == [
        ["raw db", "6", "5", "1", "5"],
        ["orders db", "4", "3", "1", "3"],
        ["mart db", "3", "2", "1", "2"],
    ]


def test_the_heat_map_counts_datasets_by_cost_and_fidelity(page: Page) -> None:
    visit(page, "/dashboards/executive")
    heat = section(page, "Cost against fidelity")
    expect(heat.locator("thead th")).to_have_text(
        ["lineage", "no runs", "up to 1 min", "up to 1 h", "up to 1 d", "above 1 d"]
    )
    rows = heat.locator("tbody tr")
    assert [" ".join(row.inner_text().split()) for row in rows.all()] == [
        "no producer known 2 0 0 0 0",
        "by job 0 3 2 0 0",
        "by dataset 0 0 0 0 0",
        "by column 0 1 0 0 0",
    ]


def test_the_trust_dashboard_has_the_right_figures(page: Page) -> None:
    visit(page, "/dashboards/trust")
    expect(page).to_have_title("Trust dashboard · Headwater")
    assert figures(page) == {
        "unknown-downstreams": "50 %",
        "correlated-traces": "–",
        "model-completeness": "66.6 %",
        "coverage": "85.7 %",
        "median-blast-radius": "2",
        "certified-path-integrity": "100 %",
    }
    radius = page.locator("section.tile").filter(has_text="Median blast radius")
    expect(radius).to_contain_text("of 8 changes, last 30 days")
    expect(radius).to_contain_text("good, bound 20")


def test_service_levels_have_a_word_for_their_state(page: Page) -> None:
    visit(page, "/dashboards/executive")
    levels = section(page, "Service levels")
    rows = {row[0]: row[1:] for row in cells(levels)}
    assert len(rows) == 16
    # Two of 14 parts are bad now, of 20 % that may be; on the days before the history none was.
    value, target, left, rate, state = rows["Lineage coverage"]
    assert (value, target, rate, state) == ("85.7 %", "at least 80 %", "0.7", "ok")
    assert 28.5 < float(left.removesuffix(" %")) < 100
    assert rows["Query success"] == ["–", "at least 99 %", "–", "–", "no data"]
    # 14 of 48 required fields have a value.
    assert rows["Completeness"][0] == "29.1 %"
    assert rows["Completeness"][-1] == "missed"
    visit(page, "/dashboards/trust")
    assert len(cells(section(page, "Service levels"))) == 6


def test_the_coverage_lists_the_gaps_of_inventories(page: Page, database: Database) -> None:
    assets = [Asset("db", "ledger", "TABLE", ("ann", "bob")), Asset("db", "orders")]
    events = list(inventory_events("warehouse", at(0), assets, ImportReport()))
    write_events(database, events)
    try:
        visit(page, "/dashboards/coverage")
        gaps = section(page, "Listed by an inventory, without lineage")
        assert cells(gaps) == [["ledger db", "TABLE", "ann, bob", "warehouse"]]
    finally:
        gone = [ListedAsset("db", "ledger", False), ListedAsset("db", "orders", True)]
        write_events(database, list(withdrawal_events("warehouse", at(1), gone, ImportReport())))


def test_each_model_version_has_its_completeness_as_a_bar(page: Page) -> None:
    visit(page, "/dashboards/trust")
    models = section(page, "Completeness of model versions")
    assert [(row[0], row[3], row[4]) for row in cells(models)] == [
        ("model db", "100 %", "4 of 4"),
        ("oracle db", "0 %", "0 of 1"),
        ("model db", "100 %", "4 of 4"),
    ]
    widths = [bar.get_attribute("width") for bar in models.locator("rect:last-child").all()]
    assert widths == ["160", "0", "160"]


def test_the_list_of_dashboards_shows_every_figure(page: Page) -> None:
    visit(page, "/")
    page.get_by_role("link", name="Dashboards").click()
    page.wait_for_url("**/dashboards")
    expect(page.get_by_role("link", name="Executive")).to_be_visible()
    page.get_by_role("button", name=re.compile(r"^Show \d+ more$")).click()
    expect(page.locator("[data-figure]")).to_have_count(len(FIGURES))
    assert figures(page).keys() == FIGURES.keys()


def test_every_figure_has_a_page(page: Page) -> None:
    page.goto("/sign-in")
    listed = page.evaluate("import('/static/app/figures.js').then(({ FIGURES }) => FIGURES)")
    assert listed == list(FIGURES)
    visit(page, "/dashboards/median-blast-radius")
    expect(page.get_by_role("heading", name="Median blast radius", level=1)).to_be_visible()
    assert figures(page) == {"median-blast-radius": "2"}


@pytest.mark.parametrize("path", ["executive", "trust", "coverage"])
def test_dashboards_fit_a_phone(page: Page, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    visit(page, f"/dashboards/{path}")
    expect(page.locator("[data-figure]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def _day(day: int, value: object) -> str:
    return f"{{date: '2026-01-0{day}', value: {value}}}"


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("parts/tile.js figureText(0.9996, 'SHARE')", "99.9 %"),
        ("parts/tile.js figureText(null, 'SHARE')", "–"),
        ("parts/tile.js figureText(90, 'SECONDS')", "1 min 30 s"),
        ("parts/tile.js figureText(2.04, 'COUNT')", "2"),
        ("parts/tile.js sparkline([], 100, 20)", ""),
        (f"parts/tile.js sparkline([{_day(1, 0)}, {_day(3, 2)}], 106, 26)", "M3 23h0.1L103 3"),
        (f"parts/tile.js sparkline([{_day(1, 1)}, {_day(2, 'null')}, {_day(3, 1)}], 106, 26)",
         "M3 3h0.1M103 3h0.1"),
        ("parts/heat_map.js shade(0, 9)", 0),
        ("parts/heat_map.js shade(1, 9)", 1),
        ("parts/heat_map.js shade(9, 9)", 4),
        ("figures.js daily([], 1, '2026-01-02T00:00:00Z')", []),
        ("figures.js daily([{date: '2026-01-01', value: 2}], 1, '2026-01-02T00:00:00Z')",
         [{"date": "2026-01-01", "value": 2}, {"date": "2026-01-02", "value": 1}]),
        ("figures.js daily([{date: '2026-01-02', value: 2}], 1, '2026-01-02T00:00:00Z')",
         [{"date": "2026-01-02", "value": 1}]),
    ],
)  # fmt: skip
def test_functions_of_the_dashboards(page: Page, call: str, result: object) -> None:
    file, expression = call.split(" ", 1)
    page.goto("/sign-in")
    script = f"import('/static/app/{file}').then((module) => module.{expression})"
    assert page.evaluate(script) == result
