"""Each view by WCAG 2.2 AA, as far as a machine sees: axe-core, keyboard, zoom, motion, text spacing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.run_builders import write_events
from tests.ui.axe import findings
from tests.ui.conftest import visit
from tests.ui.stories import history
from tests.ui.views import EMPTY, FILLED

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
DESKTOP, PHONE = (1280, 800), (390, 844)


@pytest.fixture(scope="module", autouse=True)
def stories(database: Database) -> None:
    empty(database)
    write_events(database, *history())


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
