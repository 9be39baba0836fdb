"""The dashboard debug in Chromium, on a history worked out by hand (on_call_stories.py)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette

from headwater.access import session_http
from headwater.access.guard import principal_of
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.transport.http import graphql_routes
from headwater.health.platform import PlatformReader
from headwater.ingest.spool.reader import SpoolReader
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView
from headwater.rest.app import rest_routes
from headwater.ui import routes as ui
from tests.browser import listening
from tests.canonical import empty
from tests.guards import guard_of
from tests.run_builders import FACET, Event, write_events
from tests.ui.axe import findings
from tests.ui.conftest import visit, wait_ready
from tests.ui.on_call_stories import history
from tests.ui.test_pages import cells, section

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
DEBUG = "/dashboards/debug"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"


def traced_history() -> list[list[Event]]:
    """Return the history; r2 names a trace, and the offsets of the partitions that it read."""
    stories = history()
    for event in stories[4]:
        assert event["run"]["runId"] == "r2"
        event["run"]["facets"]["tracing"] = {**FACET, "traceparent": f"00-{TRACE}-{SPAN}-01"}
        [read] = event["inputs"]
        partitions = [
            {"partition": number, "startOffset": 10 * number, "endOffset": 10 * number + 7}
            for number in (1, 0)
        ]
        read["inputFacets"] = {"kafkaOffsets": {**FACET, "partitions": partitions}}
    return stories


@pytest.fixture(scope="module")
def page_url(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the page with REST, a spool that holds the events, and its counts."""

    async def submit(*_: Any) -> None:
        raise AssertionError("nothing is submitted here")

    empty(database)
    stories = traced_history()
    write_events(database, *stories)
    folder = tmp_path_factory.mktemp("debug")
    with closing(Spool(folder / "spool.db")) as spool:
        bodies = [json.dumps(event).encode() for event in chain.from_iterable(stories)]
        spool.append(bodies, received=1)
        view, store = GraphView(database), AccessStore(folder / "access.db")
        routes = [
            *ui.routes(),
            *graphql_routes(
                view,
                submit,
                persisted=PersistedQueries(own=ui.documents()),
                read_platform=PlatformReader(view, spool).read,
            ),
            *rest_routes(
                lambda request: view.visible_to(principal_of(request).visibility),
                submit,
                SpoolReader(spool.path),
            ),
        ]
        guard = guard_of(store, required=False)
        routes += session_http.routes(guard)
        with listening(Starlette(routes=guard.routes(routes))) as url:
            yield url
        store.close()


def test_a_run_is_found_by_its_job_and_by_its_id(page: Page) -> None:
    visit(page, DEBUG)
    expect(page).to_have_title("Debug · Headwater")
    choose = section(page, "Choose a run")
    rows = cells(choose)
    assert [(row[0], row[1]) for row in rows[:3]] == [
        ("running", "s4"),
        ("failed", "bad-2"),
        ("no news", "child"),
    ]
    field = choose.get_by_role("searchbox", name="Run id or job")
    field.fill("load_ord")
    choose.get_by_role("list", name="Runs and jobs found").get_by_role("link").first.click()
    wait_ready(page)
    expect(choose.locator("caption")).to_contain_text("Newest runs of load_orders: 4 of 4")
    assert [row[1] for row in cells(choose)] == ["bad-2", "bad-1", "r2", "r1"]
    field.fill("bad-1")
    expect(choose.get_by_role("list", name="Runs and jobs found")).to_contain_text("bad-1")
    field.press("Enter")
    wait_ready(page)
    assert page.url.endswith("?run=bad-1")
    field.fill("no such thing")
    expect(choose).to_contain_text("No run and no job is found for “no such thing”")


def test_the_data_that_flowed_is_drawn_with_links(page: Page) -> None:
    visit(page, f"{DEBUG}?run=r2")
    flowed = section(page, "What flowed")
    picture = flowed.locator("svg[role=group]")
    expect(picture).to_have_attribute("aria-label", "load_orders read raw and wrote orders")
    boxes = picture.locator("a[data-urn]")
    assert boxes.evaluate_all("nodes => nodes.map((node) => node.dataset.urn)") == [
        "source:db:raw",
        "artifact:db:orders:r2",
        "run:r2",
    ]
    expect(boxes.nth(1)).to_contain_text("120 rows")
    assert picture.locator("path.edge").count() == 2
    link = flowed.get_by_role("link", name="Explore it")
    expect(link).to_have_attribute("href", "/lineage?urn=run%3Ar2&level=run")
    boxes.nth(1).click()
    wait_ready(page)
    assert page.url.endswith("/datasets/dataset%3Adb%3Aorders")


def test_traces_join_ids_with_nodes(page: Page) -> None:
    visit(page, f"{DEBUG}?run=r2")
    [row] = cells(section(page, "Traces"))
    assert row == [TRACE, SPAN, "load_orders", "orders db"]
    visit(page, f"{DEBUG}?run=r1")
    expect(section(page, "Traces")).to_contain_text("No facet of this run names a trace.")


def test_raw_events_of_the_run_alone(page: Page) -> None:
    visit(page, f"{DEBUG}?run=r2")
    events = section(page, "Raw events")
    expect(events).to_contain_text("2 of 2 events of this run, oldest first")
    summaries = events.locator("summary")
    assert [text.split(",")[0] for text in summaries.all_inner_texts()] == ["START", "COMPLETE"]
    summaries.first.click()
    expect(events.locator("code")).to_contain_text('"runId": "r2"')


def test_partitions_and_offsets(page: Page) -> None:
    visit(page, f"{DEBUG}?run=r2")
    assert cells(section(page, "Partitions and offsets")) == [
        ["raw db", "0", "0", "7", "–", "–"],
        ["raw db", "1", "10", "17", "–", "–"],
    ]
    visit(page, f"{DEBUG}?run=r1")
    expect(section(page, "Partitions and offsets")).to_contain_text("names partitions")


def test_the_schemas_of_its_datasets(page: Page) -> None:
    visit(page, f"{DEBUG}?run=r2")
    schemas = section(page, "Schema history")
    expect(schemas).to_contain_text("1 added, 0 dropped, 0 retyped, 2 unchanged")
    page.get_by_label("Schema of").select_option("raw")
    wait_ready(page)
    assert "dataset=dataset%3Adb%3Araw" in page.url
    expect(section(page, "Schema history")).to_contain_text("No schema is known.")


def test_the_platform_counts_what_waits(page: Page) -> None:
    visit(page, DEBUG)
    platform = section(page, "Platform")
    events = sum(len(story) for story in history())
    assert platform.locator('[data-figure="waiting-events"]').inner_text() == str(events)
    assert platform.locator('[data-figure="dead-letters"]').inner_text() == "0"
    expect(platform).to_contain_text(f"of {events} received")
    # The second reading, some seconds later, gives a rate.
    expect(platform.locator('[data-figure="ingest-rate"]')).to_have_text("0")


def test_axe_finds_nothing(page: Page) -> None:
    visit(page, f"{DEBUG}?run=r2")
    section(page, "Schema history").locator("table").wait_for()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert "\n".join(findings(page)) == "", (width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_unknown_run_says_so(page: Page) -> None:
    visit(page, f"{DEBUG}?run=nothing")
    expect(page.locator("main")).to_contain_text("there is no")


def test_ids_in_any_shape(page: Page) -> None:
    """Check the pure function, on facets of several producers."""
    visit(page, "/sign-in")
    found = page.evaluate(
        """async () => {
      const { tracesOf } = await import("/static/app/traces.js");
      const deep = { a: { b: { c: { d: { e: { f: { g: { trace_id: "deep" } } } } } } } };
      const facets = { one: { traceId: "t1", spanId: "s1" }, two: [{ trace_id: "t2" }], same: { traceId: "t1", spanId: "s1" } };
      return [tracesOf(facets), tracesOf(deep), tracesOf(null)];
    }"""
    )
    assert found == [
        [{"traceId": "t1", "spanId": "s1"}, {"traceId": "t2", "spanId": ""}],
        [],
        [],
    ]
