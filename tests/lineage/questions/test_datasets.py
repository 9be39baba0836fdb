"""The list of all datasets: orders, filters, pages in both directions, counts and visibility."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.list_pages import CatalogFilter, CatalogOrder
from headwater.lineage.pagination import PageRequest, page_request
from headwater.lineage.questions.datasets import count_datasets, datasets
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset_event, facet
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    empty(database)
    facets = {
        "ownership": facet(owners=[{"name": "ann"}]),
        "tags": facet(tags=[{"key": "pii", "value": "true"}]),
    }
    write_events(
        database,
        [
            dataset_event("b", 30, facets),
            dataset_event("a", 10),
            dataset_event("c", 20),
            dataset_event("a", 20, namespace="web"),
            dataset_event("b", 40, namespace="DB"),
        ],
    )
    yield view
    empty(database)


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['namespace']} {row['name']}" for row in rows]


def listed(view: GraphView, **conditions: Any) -> list[str]:
    """Return the listed names; the count must agree, in each order."""
    filter = CatalogFilter(**conditions)
    found = names(datasets(view, filter=filter).entries)
    for order in CatalogOrder:
        assert set(names(datasets(view, filter=filter, order=order).entries)) == set(found)
    assert count_datasets(view, filter) == len(found)
    return found


def test_the_order(history: GraphView) -> None:
    assert listed(history) == ["DB b", "db a", "db b", "db c", "web a"]
    newest = datasets(history, order=CatalogOrder.NEWEST)
    assert names(newest.entries) == ["DB b", "db b", "db c", "web a", "db a"]


def test_filters(history: GraphView) -> None:
    twenty_past = datetime(2026, 1, 1, 0, 20, tzinfo=UTC)
    assert listed(history, namespace="db") == ["db a", "db b", "db c"]
    assert listed(history, since=twenty_past) == ["DB b", "db b", "db c", "web a"]
    assert listed(history, until=twenty_past) == ["db a"]
    assert listed(history, owner="ann") == listed(history, tag="pii") == ["db b"]
    assert listed(history, namespace="web", owner="ann") == []


def test_hidden_datasets_are_neither_listed_nor_counted(history: GraphView) -> None:
    assert listed(history.visible_to(Visibility(("w*",)))) == ["web a"]
    assert listed(history.visible_to(Visibility(("w*",))), namespace="db") == []


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("order", CatalogOrder)
def test_pages_of_both_directions_are_the_list(
    history: GraphView, size: int, order: CatalogOrder
) -> None:
    expected = names(datasets(history, order=order).entries)
    for is_backward in (False, True):
        collected: list[str] = []
        cursor = None
        while True:
            found = datasets(history, page=PageRequest(size, cursor, is_backward), order=order)
            shown = names(found.entries)
            collected = shown + collected if is_backward else collected + shown
            cursor = found.cursors[0 if is_backward else -1]
            if not (found.has_previous if is_backward else found.has_next):
                break
        assert collected == expected


def test_a_new_dataset_between_two_pages(history: GraphView, database: Database) -> None:
    first = datasets(history, page=page_request(2))
    write_events(database, [dataset_event("aa", 50), dataset_event("0", 50)])
    second = datasets(history, page=page_request(2, first.cursors[-1]))
    assert names(first.entries + second.entries) == ["DB b", "db a", "db aa", "db b"]
