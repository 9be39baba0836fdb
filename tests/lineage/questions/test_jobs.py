"""The list of all jobs: orders, filters, pages in both directions, counts and visibility."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.lineage.list_pages import CatalogFilter, CatalogOrder
from headwater.lineage.pagination import PageRequest, page_request
from headwater.lineage.questions.jobs import count_jobs, jobs
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import facet, job_event
from tests.run_builders import run, write_events

pytestmark = pytest.mark.neo4j
BY_NAME = ["build", "declared", "load", "publish", "web page"]
NEWEST_FIRST = ["web page", "publish", "build", "load", "declared"]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write five jobs; the newest run of `load` failed, that of `build` is claimed by `web` too."""
    empty(database)
    facets = {
        "ownership": facet(owners=[{"name": "ann"}]),
        "tags": facet(tags=[{"key": "tier", "value": "gold"}]),
    }
    shared = run("b1", "build", minute=20)
    claimed = [{**event, "job": {"namespace": "web", "name": "web page"}} for event in shared]
    write_events(
        database,
        [job_event("declared", 0, facets=facets)],
        run("l1", "load", minute=5),
        run("l2", "load", minute=10, status="FAIL"),
        run("b0", "build", minute=2),
        shared,
        run("p1", "publish", minute=30, status="FAIL"),
        claimed,
        [{**claimed[0], "eventTime": "2026-01-01T01:00:00Z", "run": {"runId": "w"}}],
    )
    yield view
    empty(database)


def listed(view: GraphView, status: str = "", **conditions: Any) -> list[str]:
    """Return the listed names; the count must agree, in each order."""
    filter = CatalogFilter(**conditions)
    names = [row["name"] for row in jobs(view, filter=filter, status=status).entries]
    for order in CatalogOrder:
        entries = jobs(view, filter=filter, status=status, order=order).entries
        assert sorted(row["name"] for row in entries) == sorted(names)
    assert count_jobs(view, filter, status=status) == len(names)
    return names


def test_the_order(history: GraphView) -> None:
    orders = {
        order: [row["name"] for row in jobs(history, order=order).entries] for order in CatalogOrder
    }
    assert orders == {
        CatalogOrder.NAME: BY_NAME,
        CatalogOrder.NEWEST: NEWEST_FIRST,
        CatalogOrder.OLDEST: NEWEST_FIRST[::-1],
    }


def test_filters(history: GraphView) -> None:
    quarter_past = datetime(2026, 1, 1, 0, 15, tzinfo=UTC)
    assert listed(history, status="FAIL") == ["load", "publish"]
    assert listed(history, status="COMPLETE") == ["build"]
    assert listed(history, namespace="web") == ["web page"]
    assert listed(history, namespace="web", status="FAIL") == []
    assert listed(history, since=quarter_past) == ["build", "publish", "web page"]
    assert listed(history, until=quarter_past) == ["declared", "load"]
    assert listed(history, owner="ann") == listed(history, tag="tier") == ["declared"]
    assert listed(history, tag="tier=gold") == ["declared"]
    assert listed(history, tag="tier=silver") == listed(history, owner="bob") == []
    with pytest.raises(QueryError, match="status 'LATE' is none of"):
        jobs(history, status="LATE")


def test_hidden_jobs_are_neither_listed_nor_counted(history: GraphView) -> None:
    assert listed(history.visible_to(Visibility(("web",)))) == ["web page"]
    assert listed(history.visible_to(Visibility(("nowhere",)))) == []


@pytest.mark.parametrize("size", [1, 2, 5, 6])
@pytest.mark.parametrize("order", CatalogOrder)
@pytest.mark.parametrize("namespace", ["", "etl"])
def test_pages_of_both_directions_are_the_list(
    history: GraphView, size: int, order: CatalogOrder, namespace: str
) -> None:
    filter = CatalogFilter(namespace=namespace)
    expected = [row["name"] for row in jobs(history, filter=filter, order=order).entries]
    for is_backward in (False, True):
        collected: list[str] = []
        cursor = None
        while True:
            page = PageRequest(size, cursor, is_backward)
            found = jobs(history, filter=filter, page=page, order=order)
            names = [row["name"] for row in found.entries]
            collected = names + collected if is_backward else collected + names
            cursor = found.cursors[0 if is_backward else -1]
            if not (found.has_previous if is_backward else found.has_next):
                break
        assert collected == expected


def test_a_cursor_of_another_order(history: GraphView) -> None:
    [cursor] = jobs(history, page=page_request(1)).cursors
    with pytest.raises(QueryError, match="cursor"):
        jobs(history, page=page_request(1, cursor), order=CatalogOrder.NEWEST)
