"""Hostile texts on every view: they are text, run nothing, and break neither layout nor order."""

from __future__ import annotations

import pytest
from playwright.sync_api import Dialog, Page

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import write_events
from tests.ui.conftest import visit
from tests.ui.hostile import MARKUP, history, paths

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
# A text with a sign of direction must stand in an element that isolates it, or alone in a block.
NOT_ISOLATED = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(text.data)) continue;
    let element = text.parentElement;
    const isolates = () => /isolate|plaintext/.test(getComputedStyle(element).unicodeBidi);
    const isInline = () => getComputedStyle(element).display === "inline";
    while (isInline() && !isolates()) element = element.parentElement;
    const isAlone = element.textContent.trim() === text.data.trim();
    const isPlain = text.parentElement.closest("option, title, textarea, text");
    if (!isolates() && !isAlone && !isPlain) found.push(element.outerHTML.slice(0, 300));
  }
  return found;
}"""


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history())


@pytest.mark.parametrize("view", paths())
def test_hostile_texts_are_text(page: Page, view: str) -> None:
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        visit(page, paths()[view])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(NOT_ISOLATED) == []
    assert MARKUP in page.evaluate(
        "document.body.textContent + document.querySelector('input').value"
    )
    assert page.locator('img[src="x"], script:not([src])').count() == 0
    assert page.locator('[href^="javascript:"], [src^="javascript:"]').count() == 0
    assert page.evaluate("window.hostile") is None
    assert dialogs == []
