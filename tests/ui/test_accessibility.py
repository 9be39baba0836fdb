"""Each view by WCAG 2.2 AA, as far as a machine sees: axe-core, keyboard, reflow, text spacing, motion."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import write_events
from tests.ui.axe import findings
from tests.ui.conftest import visit, wait_ready
from tests.ui.finding_stories import save_findings
from tests.ui.stories import history
from tests.ui.views import EMPTY, FILLED, JOB

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
SEARCH = "Search datasets, jobs and answers"
DESKTOP, PHONE = (1280, 800), (390, 844)


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history())
    save_findings(database)


@pytest.mark.parametrize("path", [*FILLED.values(), *EMPTY.values()])
def test_axe_finds_nothing(page: Page, path: str) -> None:
    visit(page, path)
    found = []
    for width, height in (DESKTOP, PHONE):
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found += [f"{width} px, {scheme}: {finding}" for finding in findings(page)]
    assert found == []


# WCAG 1.4.12. A style sheet that a script makes is allowed; a style element is not.
SPACING = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
    word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }`);
  document.adoptedStyleSheets = [sheet];
}"""
# A cut name has its whole text in its page's heading or in its title.
CLIPPED = """() => [...document.querySelectorAll("body *")].filter((element) => {
  const {overflowX, overflowY, textOverflow, clipPath} = getComputedStyle(element);
  if (clipPath !== "none" || textOverflow === "ellipsis" || !element.clientWidth) return false;
  return (overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1) ||
    (overflowY === "hidden" && element.scrollHeight > element.clientHeight + 1);
}).map((element) => element.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("path", FILLED.values())
def test_zoom_and_wide_spacing_hide_nothing_and_nothing_moves(page: Page, path: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    visit(page, path)
    # The second and the third are a window of 1280 px at a zoom of 200 % and of 400 %.
    for width in (1280, 640, 320):
        page.set_viewport_size({"width": width, "height": 512})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getAnimations().length") == 0
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate(SPACING)
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


FOCUSED = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const {outlineStyle, outlineWidth} = getComputedStyle(element);
  const {left, top, right, bottom, width, height} = element.getBoundingClientRect();
  return {
    name: (element.getAttribute("aria-label") ?? element.textContent).trim() || element.tagName,
    isMarked: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
    isInWindow: width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
  };
}"""


def tab_stops(page: Page, most: int = 150) -> list[dict[str, object]]:
    """Return what Tab reaches, in order, from the top of the page until it leaves it."""
    stops: list[dict[str, object]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:
            return stops
        stops.append(focused)
    raise AssertionError(f"more than {most} stops: {stops[-3:]}")


def tab_stops_of(page: Page, path: str) -> list[dict[str, object]]:
    visit(page, path)
    page.wait_for_load_state("networkidle")
    return tab_stops(page)


@pytest.mark.parametrize("path", [*FILLED.values(), *EMPTY.values()])
def test_what_has_the_focus_is_marked_and_in_the_window(page: Page, path: str) -> None:
    stops = tab_stops_of(page, path)
    if not all(stop["isInWindow"] for stop in stops):
        # What a busy machine filled in late moved it. The second visit finds it in the cache.
        stops = tab_stops_of(page, path)
    assert [stop["name"] for stop in stops[:3]] == ["Skip to the content", "Headwater", SEARCH]
    assert [stop for stop in stops if not (stop["isMarked"] and stop["isInWindow"])] == []


def test_the_skip_link_leads_to_the_content(page: Page) -> None:
    visit(page, "/failures?since=all")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_a_new_view_has_the_focus_and_a_title(page: Page) -> None:
    visit(page, "/")
    page.keyboard.press("/")
    page.keyboard.type("orders")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_title("orders · Headwater")
    wait_ready(page)
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_states_differ_in_shape_and_word(page: Page) -> None:
    visit(page, JOB)
    marks = page.locator(".state")
    expect(marks.first).to_be_visible()
    words = marks.all_inner_texts()
    shapes = [mark.locator("path").get_attribute("d") for mark in marks.all()]
    assert all(words)
    assert len(set(zip(words, shapes, strict=True))) == len(set(words)) == len(set(shapes)) == 3
