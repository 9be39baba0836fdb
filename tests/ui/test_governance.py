"""Policies, contracts, personal data and models on the page of a dataset, and in the explorer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.schema.urns import dataset_urn
from tests.browser import MILLISECONDS_MAX
from tests.canonical import empty
from tests.run_builders import ds, write_events
from tests.ui.axe import findings
from tests.ui.conftest import serving_page, visit, wait_ready
from tests.ui.governance_stories import history, hostile_history, write_policies
from tests.ui.hostile import MARKUP, NAME
from tests.ui.test_hostile import NOT_ISOLATED
from tests.ui.test_pages import cells, documents_asked, section

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
# The words of each state in the explorer.
MARKS = {
    "contacts": "▲ unmasked: email",
    "hashed": "■ masked: email",
    "counts": "▽ decides rows only: email",
    "blob": "? unknown: email",
}
# Whether a section is not loaded yet; then it is scrolled to.
SCROLL_TO_AWAITED = """() => {
  const section = document.querySelector(".awaited");
  section?.scrollIntoView();
  return section !== null;
}"""
SECTIONS = "#policies, #contracts, #model, #personal-data"
PHONE: ViewportSize = {"width": 390, "height": 844}


def path_of(name: str) -> str:
    return f"/datasets/dataset%3Adb%3A{name}"


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the policies in force."""
    return write_policies(tmp_path_factory.mktemp("governance") / "policies")


@pytest.fixture(scope="module")
def page_url(database: Database, policies: Path) -> Iterator[str]:
    """Yield the address of the page of a server with policies."""
    empty(database)
    write_events(database, history())
    store = AccessStore(policies.parent / "access.db")
    with serving_page(database, store, policies=policies) as url:
        yield url
    store.close()


def test_a_violated_policy_has_its_reason_and_what_to_do(page: Page) -> None:
    asked = documents_asked(page)
    visit(page, path_of("blob"))
    assert "page.DatasetPolicies" not in asked
    policies = section(page, "Policies")
    expect(policies).to_contain_text("2 violated, 0 that cannot be assessed")
    [row, *_] = cells(policies)
    assert row[:3] == ["P1 urgent", "no-blobs", "violated"]
    assert row[3] == "blob is a blob without a description"
    assert row[4] == "Ask team:privacy, or read the runbook. Runbook"
    assert row[6] == "blocks a change"
    policies.get_by_text("Why, and the values that it reads").first.click()
    expect(policies).to_contain_text("Blobs cannot be searched for personal data.")
    expect(policies).to_contain_text("team:legal")


def test_approvals_stand_below_with_who_gave_them(page: Page) -> None:
    visit(page, path_of("blob"))
    policies = section(page, "Policies")
    expect(policies).to_contain_text("1 approval, 0 in force")
    approval = cells(policies, table=1)[0]
    assert approval[:4] == ["ended", "owners", "Nobody wants it.", "ann"]
    assert approval[5] == "2026-01-02"


def test_what_to_do_follows_from_the_rule(page: Page) -> None:
    visit(page, path_of("sales"))
    policies = section(page, "Policies")
    expect(policies).to_contain_text("Add an owner under Edits.")
    expect(policies).to_contain_text("Nobody approved an exception.")


def test_a_dataset_without_violations_says_how_many_policies_hold(page: Page) -> None:
    visit(page, "/datasets/dataset%3Asecret%3Avault")
    policies = section(page, "Policies")
    expect(policies).to_contain_text("It violates no policy.")
    expect(policies).to_contain_text("2 policies are in force here.")
    expect(section(page, "Contracts")).to_contain_text("No data contract is known.")


def test_a_contract_shows_promises_and_who_broke_them(page: Page) -> None:
    visit(page, path_of("orders"))
    contracts = section(page, "Contracts")
    contract = contracts.locator('[data-contract="orders"]')
    expect(contract.locator("h3")).to_have_text("Orders of the shop broken")
    promises = cells(contract, table=0)
    assert [row[:4] for row in promises] == [
        ["broken", "type", "id", "integer"],
        ["broken", "column", "amount", "present"],
        ["no facts", "type", "amount", "number"],
        ["kept", "column", "id", "present"],
    ]
    violations = contract.locator("table").nth(1)
    expect(violations).to_contain_text("still broken")
    expect(violations.locator('[data-urn="job:etl:load"]').first).to_be_visible()
    expect(violations.locator('[data-urn="run:o2"]').first).to_be_visible()
    expect(violations.locator('[data-urn="job:etl:report"]').first).to_be_visible()


def test_a_version_leads_to_what_it_changed(page: Page) -> None:
    visit(page, path_of("orders"))
    contracts = section(page, "Contracts")
    versions = contracts.locator("table").nth(2)
    expect(versions).to_contain_text("2.0.0")
    versions.get_by_role("link", name="2.0.0").click()
    expect(page).to_have_url(f"{page.url.split('?')[0]}?diff=orders%402.0.0")
    contracts = section(page, "Contracts")
    difference = contracts.locator("details[open]")
    expect(difference.locator("summary")).to_have_text(
        "What 2.0.0 of Orders of the shop changed: 4 promises, 2 may break readers"
    )
    assert [row[:3] for row in cells(difference)] == [
        ["+ added", "column", "amount"],
        ["− removed", "column", "day"],
        ["+ added", "type", "amount"],
        ["− removed", "type", "day"],
    ]


def test_a_model_shows_its_versions_and_what_changed(page: Page) -> None:
    visit(page, path_of("churn"))
    model = section(page, "Model")
    expect(model.locator('[data-urn="dataset:db:crm"]').first).to_be_visible()
    expect(model).to_contain_text("50 % lead to a source")
    assert cells(model, table=0) == [["auc", "0.8"]]
    model.get_by_text("Features: 2").click()
    untraced = model.get_by_role("row").filter(has_text="not traced")
    expect(untraced).to_contain_text("constant")
    changes = model.locator("table").last
    expect(changes).to_contain_text("depth")
    rows = [row.locator("td").all_inner_texts() for row in changes.locator("tbody > tr").all()]
    assert ["parameter", "depth", "3", "5"] in rows
    assert ["metric", "auc", "0.7", "0.8"] in rows
    assert ["feature", "tenure", "long", "double"] in rows
    model.get_by_label("Version").select_option(index=1)
    expect(page).to_have_url(f"{page.url.split('?')[0]}?version=artifact%3Adb%3Achurn%3At1")
    expect(section(page, "Model").locator("table").first).to_contain_text("0.7")


def test_a_dataset_that_is_no_model_has_no_such_section(page: Page) -> None:
    asked = documents_asked(page)
    visit(page, path_of("sales"))
    expect(page.get_by_role("heading", name="Model", exact=True)).to_have_count(0)
    assert "page.DatasetModel" not in asked


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("crm", "email classified here"),
        ("contacts", "email unmasked"),
        ("hashed", "email masked"),
        ("counts", "email decides rows only"),
        ("blob", "email unknown"),
    ],
)
def test_each_state_of_personal_data_has_a_shape_and_words(
    page: Page, name: str, words: str
) -> None:
    visit(page, path_of(name))
    chip = page.locator(".chips .chip")
    assert " ".join(chip.inner_text().split()) == words
    expect(chip.locator("svg")).to_be_visible()
    expect(section(page, "Personal data")).to_contain_text(words.removeprefix("email "))


def test_shapes_of_personal_data_differ(page: Page) -> None:
    shapes = set()
    for name in ("crm", "contacts", "hashed", "counts", "blob"):
        visit(page, path_of(name))
        shapes.add(page.locator(".chips .chip path").get_attribute("d"))
    assert len(shapes) == 5


def test_the_path_explains_how_personal_data_arrives(page: Page) -> None:
    visit(page, path_of("contacts"))
    columns = section(page, "Columns")
    assert [row[1:5] for row in cells(columns)] == [
        ["mail", "string", "", "email unmasked"],
        ["day", "string", "", ""],
    ]
    personal = section(page, "Personal data")
    row = personal.get_by_role("row").filter(has=page.get_by_text("1 step", exact=True))
    row.get_by_text("1 step", exact=True).click()
    steps = row.locator("ol.path > li")
    expect(steps).to_have_count(2)
    expect(steps.first).to_contain_text("crm")
    expect(steps.last.locator('[data-urn="job:etl:copy"]')).to_be_visible()
    expect(steps.last).to_contain_text("DIRECT:IDENTITY")
    expect(steps.last).to_contain_text("contacts")


def test_data_that_tells_the_same_names_the_certified_one(page: Page) -> None:
    visit(page, path_of("sales_copy"))
    note = page.locator("#rivals")
    expect(note).to_contain_text("Same columns (day, revenue), from the same sources.")
    certified = note.get_by_role("listitem").filter(has_text="certified: use this one")
    expect(certified.locator(f'[data-urn="{ds("sales")}"]')).to_be_visible()
    expect(note).to_contain_text("this dataset, not certified")
    visit(page, path_of("crm"))
    expect(page.locator("#rivals")).to_have_count(0)


def test_the_explorer_marks_personal_data(page: Page) -> None:
    asked = documents_asked(page)
    address = "/lineage?urn=dataset%3Adb%3Acrm&direction=DOWNSTREAM&depth=2"
    visit(page, address)
    expect(page.locator(f'g.node[data-urn="{ds("contacts")}"]')).to_be_visible()
    page.locator('select[name="overlay"]').select_option("privacy")
    for name, words in MARKS.items():
        node = page.locator(f'g.node[data-urn="{ds(name)}"]')
        expect(node).to_have_attribute("aria-label", re.compile(f", {re.escape(words)}$"))
    assert asked.count("page.Explore") == 2
    visit(page, f"{address}&overlay=privacy&view=list")
    row = page.get_by_role("row").filter(has=page.locator(f'[data-urn="{ds("hashed")}"]'))
    expect(row.first).to_contain_text(MARKS["hashed"])
    visit(page, f"{address}&overlay=privacy&asOf=2026-01-01T12%3A00%3A00Z&view=list")
    expect(page.locator(".list-view")).not_to_contain_text("masked: email")


def test_a_section_that_fails_says_so_and_can_be_asked_again(
    browser: Browser, page_url: str
) -> None:
    context = browser.new_context(base_url=page_url)
    context.set_default_timeout(MILLISECONDS_MAX)
    page = context.new_page()
    visit(page, path_of("orders"))
    context.set_offline(True)
    for title in ("Contracts", "Policies"):
        failed = section(page, title)
        expect(failed.get_by_role("alert")).to_contain_text("Headwater does not answer.")
    context.set_offline(False)
    contracts = section(page, "Contracts")
    contracts.get_by_role("button", name="Retry").click()
    expect(contracts).to_contain_text("Orders of the shop")
    context.close()


def whole(page: Page, path: str) -> None:
    """Open a page and load all its sections."""
    visit(page, path)
    # A section may load between two looks at the page.
    while page.evaluate(SCROLL_TO_AWAITED):
        wait_ready(page)


def test_all_policies_with_their_violations(page: Page) -> None:
    visit(page, path_of("blob"))
    section(page, "Policies").get_by_role("link", name="All policies").click()
    expect(page).to_have_title("Policies · Headwater")
    rows = cells(section(page, "In force"))
    by_name = {row[1].split()[0]: row for row in rows if len(row) > 1}
    assert by_name["no-blobs"][:6] == [
        "P1 urgent",
        "no-blobs No blobs",
        "dataset",
        "blocks a change",
        "1",
        "0",
    ]
    assert by_name["owners"][3] == "warns of a change"
    page.get_by_role("link", name="1 violation of no-blobs: show").click()
    violations = section(page, "Violations of no-blobs")
    wait_ready(page)
    [row] = cells(violations)
    assert (row[0], row[1], row[3]) == ("P1 urgent", "no-blobs", "violated")
    assert row[2].lower() == "dataset blob"
    violations.get_by_role("link", name="All policies").click()
    expect(section(page, "Violations").locator("tbody > tr").first).to_contain_text("no-blobs")


def test_broken_files_are_named(page: Page, policies: Path) -> None:
    broken = policies / "broken.yaml"
    broken.write_text("policies: [{name: x, on: dataset, condition: '1 +'}]", encoding="utf-8")
    while True:
        visit(page, "/policies")
        if page.get_by_text("Files that cannot be used: 1.").count():
            break
        page.wait_for_timeout(500)
    page.get_by_text("What is wrong in them").click()
    expect(section(page, "In force").locator(".message code")).to_contain_text("broken.yaml")
    assert "no-blobs" in section(page, "In force").inner_text()
    broken.unlink()


def unfold(page: Page) -> None:
    """Open all folds of the sections that are tested here."""
    folds = page.locator(f"section:is({SECTIONS}) details:not([open]) > summary")
    while folds.count():
        folds.first.click()
        wait_ready(page)


@pytest.mark.parametrize("name", ["orders", "churn", "contacts", "blob", "sales_copy"])
def test_the_sections_are_accessible_and_fit_a_phone(page: Page, name: str) -> None:
    whole(page, path_of(name))
    unfold(page)
    found = findings(page)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert found + findings(page) == []


def test_folds_open_by_the_keyboard(page: Page) -> None:
    whole(page, path_of("blob"))
    section(page, "Policies").locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(section(page, "Policies")).to_contain_text("Blobs cannot be searched")
    page.locator(".chips .chip").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Personal data", exact=True)).to_be_in_viewport()


# Last: it writes more.
def test_hostile_texts_are_text(page: Page, database: Database) -> None:
    write_events(database, hostile_history())
    urn = dataset_urn("db", f"model {NAME}")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        whole(page, f"/datasets/{quote(urn, safe='')}")
        unfold(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(NOT_ISOLATED) == []
        assert page.locator('img[src="x"], script:not([src])').count() == 0
        assert page.evaluate("window.hostile") is None
    assert MARKUP in section(page, "Contracts").inner_text()
    assert MARKUP in section(page, "Model").inner_text()
    assert MARKUP in section(page, "Policies").inner_text()
