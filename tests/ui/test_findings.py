"""Findings on the page: the list with its filters, one finding, nodes, the explorer, and on call."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from headwater.health.findings.models import Consumer, Tier
from headwater.schema.urns import dataset_urn
from tests.canonical import empty
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import write_events
from tests.ui.conftest import visit
from tests.ui.finding_stories import DRIFT, FAILED, ROWS, STALE, path_of, save_findings
from tests.ui.hostile import NAME
from tests.ui.stories import history
from tests.ui.views import DATASET, JOB

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history())
    save_findings(database)


def test_the_list_filters_by_its_address(page: Page) -> None:
    visit(page, "/findings")
    rows = page.locator("tbody > tr")
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="P1 urgent")).to_contain_text("1 answer, 2 critical")
    page.get_by_label("State").select_option("all")
    expect(rows).to_have_count(4)
    page.get_by_label("Urgency").select_option("P1")
    expect(rows).to_have_count(1)
    assert page.url.endswith("/findings?state=all&tier=P1")
    page.get_by_label("Namespace").fill("nowhere")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No finding matches:")).to_contain_text("namespace nowhere")
    page.get_by_role("link", name="Show all open findings").click()
    expect(rows).to_have_count(3)


def test_one_finding_with_its_causes_and_consumers(page: Page) -> None:
    visit(page, path_of(STALE))
    expect(page.get_by_role("heading", level=1)).to_contain_text("A dataset has no new version")
    causes = page.locator("#causes")
    expect(causes).to_contain_text("Caused by")
    causes.get_by_role("link", name="The newest run failed").click()
    expect(page.locator("header.node-head")).to_have_attribute("data-finding", FAILED.id)
    expect(page.locator("#evidence")).to_contain_text("no space left")
    expect(page.locator("#causes")).to_contain_text("It causes 1 other finding")
    expect(page.locator("#affected")).to_contain_text("The first 2 of 4 downstream")
    runbook = page.get_by_role("link", name="What to do: the runbook")
    expect(runbook).to_have_attribute("href", "/runbooks/failed-run")


def test_values_stand_beside_what_they_were_compared_with(page: Page) -> None:
    visit(page, path_of(ROWS))
    evidence = page.locator("#evidence")
    rows = evidence.locator("table.comparisons tbody tr")
    expect(rows.first).to_contain_text("row count")
    expect(rows.first).to_contain_text("120")
    expect(rows.first).to_contain_text("200.5 ± 10.25")
    expect(rows.first).to_contain_text("−40 %")
    picture = rows.first.get_by_role("img")
    expect(picture).to_have_attribute("aria-label", "120 now, usually between 180 and 221")
    expect(evidence.get_by_role("img", name="Rows of each version")).to_be_visible()
    visit(page, path_of(DRIFT))
    columns = page.locator("#evidence tbody tr")
    expect(columns.filter(has_text="amount")).to_contain_text("double")


def test_nodes_show_their_findings(page: Page) -> None:
    visit(page, DATASET)
    section = page.locator("section#findings")
    expect(section.locator("tbody > tr")).to_have_count(3)
    expect(section).to_contain_text("2 open findings")
    visit(page, JOB)
    expect(page.locator("section#findings")).to_contain_text("The newest run failed")
    visit(page, "/runs/bad")
    expect(page.locator("section#findings")).to_contain_text("The newest run failed")
    visit(page, "/runs/report")
    page.locator("section#findings").scroll_into_view_if_needed()
    expect(page.locator("section#findings")).to_contain_text("No finding names this run.")
    visit(page, "/answers/best-customer")
    expect(page.locator("section#findings")).to_contain_text("No finding is known.")


def test_the_explorer_and_the_start_show_the_urgency(page: Page) -> None:
    visit(page, "/lineage?urn=dataset%3Adb%3Aorders&depth=3&view=list&overlay=findings")
    expect(page.get_by_role("row", name="job load_orders")).to_contain_text("P1 urgent")
    visit(page, "/")
    expect(page.locator("[aria-labelledby=home-findings]")).to_contain_text("P1 urgent 1")
    expect(page.locator("[aria-labelledby=home-findings]")).to_contain_text("P2 soon 1")


def test_on_call_groups_findings_by_cause(page: Page) -> None:
    visit(page, "/dashboards/on-call")
    section = page.locator("section#alerts")
    expect(section).to_contain_text("2 causes with open findings")
    row = section.locator("tbody > tr").first
    expect(row).to_contain_text("load_orders")
    expect(row).to_contain_text("A dataset has no new version")
    expect(row).to_contain_text("best-customer")
    expect(row).to_contain_text("team:orders")


def test_hostile_texts_are_text(page: Page, database: Database) -> None:
    urn = dataset_urn("db", f"table {NAME}")
    evidence: dict[str, Any] = {NAME: NAME, "columns": [{"name": NAME, "after": NAME}]}
    one = finding(
        episode("schema-drift", urn, 5, **evidence),
        Tier.P1,
        owners=[NAME],
        consumers=[Consumer(urn, "DATASET", (NAME,), is_critical=True)],
    )
    save(database, [(one, ["db"])])
    for path in (path_of(one), "/findings", "/dashboards/on-call", f"/findings?owner={urn}"):
        visit(page, path)
        assert page.evaluate("window.hostile") is None
        assert page.locator("img[src=x]").count() == 0
