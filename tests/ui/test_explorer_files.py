"""The explorer's written selector, and the files that it saves, in Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import ds, job, run, write_events
from tests.ui.conftest import visit, wait_ready

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
HOSTILE = '<img src=x onerror="document.title=1">'
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    """Write raw -> load -> orders -> report_job -> report and a hostile name; load fails at last."""
    empty(database)
    write_events(
        database,
        run("l1", "load", ["raw"], ["orders"], rows=5),
        run("r1", "report_job", ["orders"], ["report"], minute=10),
        run("h1", "odd", ["orders"], [HOSTILE], minute=20),
        run("l2", "load", ["raw"], [], minute=30, status="FAIL"),
    )


def urns(page: Page) -> set[str]:
    found = page.locator(".node").evaluate_all("all => all.map((one) => one.dataset.urn)")
    return set(found)


def saved(page: Page, label: str, tmp_path: Path) -> Path:
    """Choose an entry of the menu; return the file that the browser saved."""
    page.get_by_text("Save", exact=True).click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_selector_narrows_the_graph_and_stands_in_the_address(page: Page) -> None:
    visit(page, f"/lineage?urn={ds('orders')}")
    page.get_by_label("Only").fill("orders+ kind:job,state:failed")
    page.keyboard.press("Enter")
    wait_ready(page)
    expect(page.locator(f'[data-urn="{ds("raw")}"]')).to_have_count(0)
    shown = {ds("orders"), job("load"), job("report_job"), job("odd"), ds("report")}
    assert shown < urns(page)
    assert ds("raw") not in urns(page)
    assert "only=orders%2B+kind%3Ajob%2Cstate%3Afailed" in page.url
    page.reload()
    wait_ready(page)
    assert page.get_by_label("Only").input_value() == "orders+ kind:job,state:failed"
    assert ds("raw") not in urns(page)


def test_a_wrong_selector_names_the_place_and_keeps_the_graph(page: Page) -> None:
    visit(page, f"/lineage?urn={ds('orders')}")
    before = urns(page)
    page.get_by_label("Only").fill("orders colour:red")
    expect(page.locator(".only-error")).to_contain_text("Sign 8: “colour” is none of name, tag")
    page.keyboard.press("Enter")
    assert urns(page) == before


def test_what_a_selector_emptied_is_brought_back(page: Page) -> None:
    visit(page, f"/lineage?urn={ds('orders')}&only=nothing_at_all")
    page.get_by_role("button", name="nothing_at_all").click()
    wait_ready(page)
    assert ds("raw") in urns(page)


def test_pictures_are_saved(page: Page, tmp_path: Path) -> None:
    visit(page, f"/lineage?urn={ds('orders')}")
    svg = saved(page, "Picture (SVG)", tmp_path).read_text(encoding="utf-8")
    assert svg.startswith("<svg ")
    assert "of 7 nodes" in svg
    assert "upstream failed" in svg
    assert "<img" not in svg
    png = saved(page, "Picture (PNG)", tmp_path).read_bytes()
    assert png.startswith(PNG)
    assert int.from_bytes(png[16:20], "big") > 1_000


def test_a_saved_svg_is_a_picture_of_its_own(page: Page, tmp_path: Path) -> None:
    visit(page, f"/lineage?urn={ds('orders')}")
    path = saved(page, "Picture (SVG)", tmp_path)
    svg = path.read_text(encoding="utf-8")
    size = page.evaluate(
        """async (svg) => {
          const image = new Image();
          image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
          await image.decode();
          return [image.naturalWidth, image.naturalHeight];
        }""",
        svg,
    )
    assert size[0] > 5 * 232
    assert size[1] > 2 * 68


def test_data_is_saved(page: Page, tmp_path: Path) -> None:
    visit(page, f"/lineage?urn={ds('orders')}")
    value = json.loads(saved(page, "JSON", tmp_path).read_text(encoding="utf-8"))
    assert {node["urn"] for node in value["nodes"]} == urns(page)
    states = {node["urn"]: node["state"] for node in value["nodes"]}
    assert states[job("load")] == "FAILED"
    assert states[ds("report")] == "UPSTREAM_FAILED"
    mermaid = saved(page, "Mermaid", tmp_path).read_text(encoding="utf-8")
    assert mermaid.startswith("flowchart LR\n")
    assert "<img" not in mermaid
    csv = saved(page, "Nodes (CSV)", tmp_path).read_text(encoding="utf-8")
    assert len(csv.splitlines()) == 1 + len(value["nodes"])
