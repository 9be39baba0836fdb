"""An edit by the whole application: on disk at once, on the page when the worker has folded it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.worker import Worker
from headwater.server import create_app
from headwater.settings import Settings
from tests.browser import MILLISECONDS_MAX, listening
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.run_builders import run, write_events
from tests.ui.conftest import visit

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]


@pytest.fixture
def settings(tmp_path: Path, neo4j_server: Neo4jServer) -> Settings:
    return Settings(
        home=str(tmp_path),
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=neo4j_server.password,
        lineage_cache=False,
    )


@pytest.fixture
def tab(browser: Browser, settings: Settings, database: Database) -> Iterator[Page]:
    empty(database)
    write_events(database, run("r1", "load_orders", ["raw"], ["orders"]))
    app = create_app(settings)
    # The client of tests begins and ends what the application runs beside its requests.
    with TestClient(app), listening(app) as url:
        context = browser.new_context(base_url=url)
        context.set_default_timeout(MILLISECONDS_MAX)
        yield context.new_page()
        context.close()
    empty(database)


def test_the_page_waits_with_a_word_until_the_worker_has_folded_the_edit(
    tab: Page, settings: Settings, database: Database
) -> None:
    visit(tab, "/datasets/dataset%3Adb%3Aorders")
    section = tab.locator("#edits")
    section.scroll_into_view_if_needed()
    section.locator("summary", has_text="Edit").click()
    section.get_by_label("New owner").fill("ann@example.com")
    section.get_by_role("button", name="Add owner").click()
    status = section.locator(".edit-progress")
    expect(status).to_have_text("Saved on disk. Waiting until the graph shows it …")
    expect(tab.locator("#about")).not_to_contain_text("ann@example.com")
    with closing(Spool(settings.spool_path)) as spool:
        Worker(database, spool).run(until_done=True)
    expect(status).to_have_text("Done. The page shows it.")
    expect(tab.locator("#about")).to_contain_text("ann@example.com")
    # The spool alone gives the same edit again.
    empty(database)
    with closing(Spool(settings.spool_path)) as spool:
        Worker(database, spool).run(until_done=True)
    (row,) = database.read("read/nodes/properties", urns=["dataset:db:orders"])
    assert row["properties"]["owners"] == ["ann@example.com"]
