"""The pages of nodes and failures in Chromium, on a history worked out by hand (stories.py)."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import run, write_events
from tests.ui.conftest import visit
from tests.ui.stories import LOGS, SQL, history

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
HOSTILE = '<img src=x onerror="document.title=1"> \u202eabc 🦆 ' + "long" * 200
ORDERS = "/datasets/dataset%3Adb%3Aorders"
REPORT = "/datasets/dataset%3Adb%3Areport"
LOAD_ORDERS = "/jobs/job%3Aetl%3Aload_orders"


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history(), run("odd", "load_odd", ["raw"], [HOSTILE], minute=3))


def section(page: Page, title: str) -> Locator:
    """Return a section of the page, scrolled to."""
    heading = page.get_by_role("heading", name=title, exact=True, level=2)
    heading.scroll_into_view_if_needed()
    return page.locator("section.panel").filter(has=heading)


def cells(frame: Locator, *, table: int = 0) -> list[list[str]]:
    """Return the texts of a table below its head."""
    body = frame.locator("table").nth(table).locator(":scope > tbody > tr")
    expect(body.first).to_be_visible()
    return [
        [" ".join(text.split()) for text in row.locator(":scope > td").all_inner_texts()]
        for row in body.all()
    ]


def documents_asked(page: Page) -> list[str]:
    """Return a list that grows by each document that the page asks."""
    names: list[str] = []
    page.on(
        "request",
        lambda request: (
            names.append(json.loads(request.post_data or "{}").get("documentId", ""))
            if request.url.endswith("/graphql") and request.method == "POST"
            else None
        ),
    )
    return names


def test_a_dataset_shows_who_owns_it_and_its_last_state(page: Page) -> None:
    asked = documents_asked(page)
    visit(page, ORDERS)
    expect(page).to_have_title("orders · Headwater")
    head = page.locator('header[data-urn="dataset:db:orders"]')
    expect(head).to_contain_text("failed")
    expect(head).to_contain_text("One row for each order.")
    expect(head.locator('[data-urn="run:bad"]')).to_be_visible()
    expect(section(page, "About")).to_contain_text("team:orders")
    expect(section(page, "About").locator(".tag")).to_have_text(["certified"])
    expect(section(page, "Written by").locator("[data-urn]")).to_have_attribute(
        "data-urn", "job:etl:load_orders"
    )
    oldest = section(page, "Freshness").locator('[data-urn="dataset:db:raw"]')
    expect(oldest).to_be_visible()
    assert asked[0] == "page.Dataset"
    assert "page.Facets" not in asked


def test_the_columns_of_a_dataset_lead_to_their_lineage(page: Page) -> None:
    visit(page, ORDERS)
    columns = section(page, "Columns")
    assert [row[:4] for row in cells(columns)] == [
        ["1", "id", "long", ""],
        ["2", "amount", "double", ""],
        ["3", "customer", "string", "pii=name"],
    ]
    link = columns.get_by_role("link", name="customer: from where")
    expect(link).to_have_attribute(
        "href", "/lineage?urn=column%3Adb%3Aorders%3Acustomer&direction=UPSTREAM&depth=10"
    )


def test_the_versions_of_a_dataset_with_a_chart_of_their_rows(page: Page) -> None:
    visit(page, ORDERS)
    versions = section(page, "Versions")
    expect(versions.get_by_role("img", name="Rows by version").locator("canvas")).to_be_visible()
    assert [row[1:3] for row in cells(versions)] == [
        ["failed", "5"],
        ["complete", "120"],
        ["complete", "100"],
    ]


def test_two_schemas_are_compared_and_the_choice_is_in_the_address(page: Page) -> None:
    visit(page, ORDERS)
    schemas = section(page, "Schema history")
    assert cells(schemas) == [
        ["± retyped", "amount", "int", "double"],
        ["+ added", "customer", "", "string"],
        ["− dropped", "note", "string", ""],
    ]
    expect(schemas).to_contain_text("1 added, 1 dropped, 1 retyped, 1 unchanged")
    schemas.get_by_label("From").select_option(index=0)
    expect(schemas).to_contain_text("Both have the same columns.")
    chosen = page.url
    visit(page, chosen)
    expect(section(page, "Schema history")).to_contain_text("Both have the same columns.")


def test_the_checks_of_a_dataset_begin_with_the_failed_ones(page: Page) -> None:
    visit(page, ORDERS)
    checks = cells(section(page, "Quality checks"))
    assert [row[:3] for row in checks] == [
        ["failed", "positive", "amount"],
        ["passed", "not_null", "id"],
    ]


def test_the_readers_of_a_dataset_in_a_window(page: Page) -> None:
    visit(page, f"{ORDERS}?days=7")
    usage = section(page, "Readers and cost")
    expect(usage).to_contain_text("No run read it in this window.")
    usage.get_by_label("Window").select_option("3650")
    assert [row[0] for row in cells(usage)] == ["make_report etl"]
    assert "days=3650" in page.url
    expect(usage).to_contain_text("1 reader, 1 run, 1 min")


def test_the_answers_that_cite_a_dataset(page: Page) -> None:
    visit(page, REPORT)
    answers = section(page, "Answers that cite it")
    assert [row[:2] for row in cells(answers)] == [["best-customer", "Ann bought most."]]


def test_facets_are_asked_for_when_they_are_opened(page: Page) -> None:
    asked = documents_asked(page)
    visit(page, ORDERS)
    facets = section(page, "Facets")
    facets.get_by_text("What producers sent").click()
    facets.get_by_text("documentation", exact=True).click()
    expect(facets.locator("code")).to_contain_text('"description": "One row for each order."')
    assert asked.count("page.Facets") == 1


def test_the_address_of_a_version_opens_its_dataset(page: Page) -> None:
    visit(page, "/datasets/artifact%3Adb%3Aorders%3Ar2")
    expect(page.locator('header[data-urn="dataset:db:orders"]')).to_be_visible()


def test_a_job_shows_its_runs_newest_right_and_its_code(page: Page) -> None:
    visit(page, LOAD_ORDERS)
    expect(page).to_have_title("load_orders · Headwater")
    runs = section(page, "Runs")
    bars = runs.locator("svg a")
    assert [bar.get_attribute("data-urn") for bar in bars.all()] == ["run:r1", "run:r2", "run:bad"]
    expect(bars.last).to_have_attribute(
        "aria-label", "failed, started 2026-01-01 02:00:00 UTC, 1 min"
    )
    assert [(row[0], row[3], row[-1]) for row in cells(runs)] == [
        ("failed", "bad", "no space left"),
        ("complete", "r2", ""),
        ("complete", "r1", ""),
    ]
    code = section(page, "Code")
    expect(code.locator("code")).to_have_text(SQL)
    assert code.locator(".line-numbers").inner_text().split() == ["1", "2", "3"]
    expect(section(page, "Reads").locator('[data-urn="dataset:db:raw"]')).to_be_visible()
    expect(section(page, "Writes").locator('[data-urn="dataset:db:orders"]')).to_be_visible()


def test_a_table_sorts_and_saves_itself(page: Page) -> None:
    visit(page, LOAD_ORDERS)
    runs = section(page, "Runs")
    runs.get_by_role("button", name="started").click()
    assert [row[3] for row in cells(runs)] == ["r1", "r2", "bad"]
    with page.expect_download() as saved:
        runs.get_by_role("button", name="CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == '"state","started","duration","run","error"'
    assert [line.split(",")[3] for line in lines[1:]] == ['"r1"', '"r2"', '"bad"']


def test_a_failed_run_shows_its_error_and_what_it_touches(page: Page) -> None:
    visit(page, "/runs/bad")
    expect(page.locator('header[data-urn="run:bad"]')).to_contain_text("It failed")
    error = section(page, "Error")
    expect(error).to_contain_text("no space left")
    error.get_by_text("Stack trace").click()
    expect(error.locator("code")).to_contain_text("at Loader.java:7")
    consequences = section(page, "Consequences")
    expect(consequences).to_contain_text("Not resolved")
    expect(consequences).to_contain_text("Tell: team:orders, team:insight")
    stale = consequences.locator(".affected").filter(has_text="Stale")
    urns = [node.get_attribute("data-urn") for node in stale.locator("[data-urn]").all()]
    assert urns == [
        "answer:best-customer",
        "dataset:db:orders",
        "dataset:db:report",
        "job:etl:make_report",
    ]
    written = cells(section(page, "What it wrote"))
    assert [(row[0], row[-1]) for row in written] == [("orders db", "5")]
    logs = page.get_by_role("link", name="Logs")
    expect(logs).to_have_attribute("href", LOGS)
    expect(page.get_by_role("link", name="Raw events")).to_have_attribute(
        "href",
        "/api/v1/events/lineage?after=2026-01-01T02%3A00%3A00Z"
        "&before=2026-01-01T02%3A01%3A01.000Z&limit=100",
    )


def test_a_complete_run_shows_the_versions_that_it_read(page: Page) -> None:
    visit(page, "/runs/report")
    read = section(page, "What it read")
    assert [(row[0], row[-1]) for row in cells(read)] == [("orders db", "120")]
    expect(read.locator('[data-urn="artifact:db:orders:r2"]')).to_be_visible()
    expect(page.get_by_role("heading", name="Consequences")).to_have_count(0)


def test_an_answer_tells_its_story_down_to_the_sources(page: Page) -> None:
    visit(page, "/answers/best-customer")
    expect(page.locator("blockquote")).to_have_text("Ann bought most.")
    story = section(page, "Where it comes from")
    first = story.locator("ul.story > li")
    expect(first).to_have_count(1)
    expect(first).to_contain_text("cites a version of report")
    urns = [node.get_attribute("data-urn") for node in first.locator("[data-urn]").all()]
    assert urns[:3] == ["artifact:db:report:report", "run:report", "artifact:db:orders:r2"]
    assert {"run:r2", "source:db:raw"} <= set(urns)
    stale = cells(section(page, "What is out of date"))
    assert [(row[0], row[-1]) for row in stale] == [("orders db", "team:orders")]
    evidence = page.get_by_role("link", name="Evidence pack")
    expect(evidence).to_have_attribute("href", "/api/v1/evidence?urn=answer%3Abest-customer")


def test_failures_say_who_is_affected_and_what_to_run_again(page: Page) -> None:
    visit(page, "/failures?since=all")
    row = page.get_by_role("row").filter(has_text="load_orders")
    expect(row).to_contain_text("open")
    expect(row).to_contain_text("1 answer, 2 datasets, 1 job")
    expect(row).to_contain_text("team:orders, team:insight")
    row.get_by_role("button", name="Details: load_orders").click()
    page.wait_for_url("**/failures?since=all&open=run%3Abad")
    details = page.locator("#failure-details")
    causes = cells(details.locator("section").filter(has_text="Root-cause candidates").first)
    assert [row[0] for row in causes] == ["failed", "schema changed"]
    expect(details).to_contain_text("last good version: 2026-01-01 01:01:00 UTC")
    page.go_back()
    expect(details).to_have_count(0)


def test_an_empty_list_says_which_filter_emptied_it(page: Page) -> None:
    visit(page, "/failures?since=all&pipeline=nothing")
    expect(page.get_by_text("No failed run passes the filters: Pipeline nothing.")).to_be_visible()
    page.get_by_role("link", name="Show all failures").click()
    expect(page.get_by_role("row").filter(has_text="load_orders")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/datasets/dataset%3Adb%3Anothing", "dataset"),
        ("/jobs/job%3Aetl%3Anothing", "job"),
        ("/runs/nothing", "run"),
        ("/answers/nothing", "answer"),
    ],
)
def test_an_unknown_node_offers_the_search(page: Page, path: str, kind: str) -> None:
    visit(page, path)
    expect(page.get_by_role("heading", name=f"This {kind} is not known here")).to_be_visible()
    link = page.get_by_role("link", name="Search for “nothing”")
    expect(link).to_have_attribute("href", "/search?text=nothing")


def test_a_hostile_name_is_text_and_stays_in_its_place(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    visit(page, "/runs/odd")
    expect(section(page, "What it wrote").get_by_role("link", name="<img")).to_be_visible()
    assert page.title() == "load_odd · Headwater"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_new_failures_wait_behind_a_button(page: Page, database: Database) -> None:
    visit(page, "/failures?since=all")
    rows = page.get_by_role("row").filter(has_text="load_late")
    button = page.get_by_role("button", name=re.compile("new failure"))
    written = 0
    # A failure before the subscription has begun is not delivered, so a further one follows.
    while not button.count():
        written += 1
        failure = run(f"late-{written}", "load_late", [], ["late"], minute=written, status="FAIL")
        write_events(database, failure)
        page.wait_for_timeout(2_000)
    expect(button).to_have_text(re.compile(r"^\d+ new$"))
    expect(rows).to_have_count(0)
    button.click()
    expect(rows).to_have_count(written)
    expect(button).to_have_count(0)


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("urns.js urnOfId('run', '0198C2F4-0000-7000-8000-00000000000A')",
         "run:0198c2f4-0000-7000-8000-00000000000a"),
        ("urns.js urnOfId('run', 'run:bad')", "run:bad"),
        ("urns.js urnOfId('run', 'a b (1)')", "run:a%20b%20%281%29"),
        ("urns.js urnOfId('answer', 'a%20b')", "answer:a%20b"),
        ("urns.js urnOfId('answer', '100%')", "answer:100%25"),
        ("urns.js columnUrn('dataset:db:t', 'a.b[0]')", "column:db:t:a.b%5B0%5D"),
        ("urns.js columnUrn('dataset:#abc', 'a')", ""),
        ("schemas.js splitTags(['a=1', 'x.y:pii', 'x:k'], ['x', 'x.y']).own", ["a=1"]),
        ("facets.js webAddress('javascript:alert(1)')", None),
        ("facets.js webAddress('https://x.example/a')", "https://x.example/a"),
        ("facets.js facetLinks({f: {_producer: 'https://p', logUrl: 'https://l'}})",
         [{"kind": "logs", "path": "f.logUrl", "url": "https://l/"}]),
        ("facets.js facetLinks({trace: {url: 'https://t'}})[0].kind", "trace"),
        ("facets.js facetLinks({catalog: {url: 'https://c'}})[0].kind", "other"),
        ("parts/run_bars.js barHeights([10, null, 0.01, 5], 100)", [100, 3, 3, 50]),
        ("pages/failures.js sinceInstant('24h', 86400000)", "1970-01-01T00:00:00.000Z"),
        ("pages/failures.js sinceInstant('all', 0)", None),
        ("pages/failures.js sinceInstant('2026-01-01', 0)", "2026-01-01T00:00:00.000Z"),
        ("format.js ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T03:05:59Z'))", "3 h 5 min ago"),
        ("format.js ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:08:07Z'))", "8 min ago"),
        ("texts.js t('dataset.columns.caption', {count: '1'})", "1 column"),
        ("texts.js t('dataset.columns.caption', {count: '1,000'})", "1,000 columns"),
        ("parts/time_chart.js timeLabels([0, 5])", ["00:00:00\n1970-01-01", "00:00:05"]),
        ("parts/time_chart.js timeLabels([0, 3600])", ["00:00\n1970-01-01", "01:00"]),
        ("parts/time_chart.js timeLabels([0, 86400])", ["1970-01-01", "1970-01-02"]),
    ],
)  # fmt: skip
def test_functions_of_the_pages(page: Page, call: str, result: object) -> None:
    file, expression = call.split(" ", 1)
    page.goto("/sign-in")
    script = f"import('/static/app/{file}').then((module) => module.{expression})"
    assert page.evaluate(script) == result
