"""Findings of axe-core in a page: what a machine can see of WCAG 2.2 AA."""

from __future__ import annotations

import shutil
from functools import cache

import pytest
from playwright.sync_api import Page

from scripts.npm_packages import installed
from scripts.page_types import TOOLS

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN = """tags => axe.run(document, {runOnly: {type: "tag", values: tags}, rules: {"target-size": {enabled: true}}}).then(
  ({violations}) => violations.flatMap(({id, help, nodes}) =>
    nodes.map(({target, failureSummary}) => `${id}: ${help}: ${target}: ${failureSummary}`)))"""


@cache
def _source() -> str:
    if shutil.which("npm") is None:
        pytest.skip("axe-core needs `npm`, for example apt-get install npm")
    return (installed(TOOLS) / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def findings(page: Page) -> list[str]:
    """Return each violation of a rule, with the element and what is wrong with it."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_source())
    found: list[str] = page.evaluate(_RUN, TAGS)
    return found
