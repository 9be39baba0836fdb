"""Columns with a tag, and where they flow, on one history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_audit
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions.columns import columns, count_columns
from headwater.lineage.questions.search import SearchFilters, search
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import columns as column_lineage
from tests.event_builders import (
    dataset,
    dataset_event,
    deleted,
    node,
    run_event,
    schema,
    symlinks,
    write_batch,
    write_in_any_order,
)

pytestmark = pytest.mark.neo4j


def tags(*listed: tuple[str, str | None]) -> dict[str, Any]:
    return {
        "tags": {
            "tags": [{"key": key, **({"field": field} if field else {})} for key, field in listed]
        }
    }


HISTORY = [
    dataset_event("people", 1, {**schema(id="int", mail="text"), **tags(("pii", "mail"))}),
    dataset_event("hidden", 1, tags(("pii", "ssn"), ("pii", "gone"))),
    dataset_event("hidden", 2, tags(("pii", "ssn"))),
    dataset_event("whole", 1, {**schema(id="int"), **tags(("pii", None))}),
    run_event(
        "r1",
        minute=5,
        job="copy",
        inputs=["people"],
        outputs=[dataset("mails", column_lineage(mail=[("people", "mail")]))],
    ),
    run_event(
        "r2",
        minute=6,
        job="count",
        inputs=["mails"],
        outputs=[dataset("counts", column_lineage(n=[("mails", "mail")]))],
    ),
]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Fold the events in a random order."""
    write_in_any_order(database, *HISTORY)
    yield view
    empty(database)


def test_columns_with_a_tag(history: GraphView) -> None:
    found = columns(history, "pii")
    assert [(row["dataset"], row["name"], row["current"]) for row in found.entries] == [
        # No schema lists this column: its tag alone makes it known.
        ("hidden", "ssn", False),
        ("people", "mail", True),
    ]
    assert count_columns(history, "pii") == 2
    assert columns(history, "gold").entries == []
    first = columns(history, "pii", page=PageRequest(1))
    second = columns(history, "pii", page=PageRequest(1, first.cursors[0]))
    assert [row["name"] for row in second.entries] == ["mail"]
    back = columns(history, "pii", page=PageRequest(1, is_backward=True))
    assert [row["name"] for row in back.entries] == ["mail"]
    nobody = GraphView(history.database, Visibility(("other",)))
    assert (columns(nobody, "pii").entries, count_columns(nobody, "pii")) == ([], 0)


def test_where_tagged_columns_flow(history: GraphView) -> None:
    def rows(**parameters: str) -> list[tuple[Any, ...]]:
        found = run_audit(history.database, "tagged_columns", parameters).rows
        keys = ("dataset", "column", "steps", "reachedDataset", "reachedColumn", "job")
        return [tuple(row[key] for key in keys) for row in found]

    of_mail = [
        ("people", "mail", 0, "people", "mail", None),
        ("people", "mail", 1, "mails", "mail", "job:etl:copy"),
        ("people", "mail", 2, "counts", "n", "job:etl:count"),
    ]
    assert rows(tag="pii") == [("hidden", "ssn", 0, "hidden", "ssn", None), *of_mail]
    assert ("whole", "id", 0, "whole", "id", None) in rows(tag="pii", ofDatasets="true")
    assert rows(tag="gold") == []


def test_a_search_finds_a_dataset_by_the_tag_of_a_column(history: GraphView) -> None:
    found = search(history, "people", filters=SearchFilters(tag="pii"))
    assert [hit.node.name for hit in found.page.entries] == ["people"]
    assert search(history, "people", filters=SearchFilters(tag="mail")).count == 0


def test_a_tag_that_is_withdrawn_leaves_no_trace(database: Database) -> None:
    empty(database)
    write_batch(database, [dataset_event("t", 1, {**schema(id="int"), **tags(("pii", "id"))})])
    write_batch(database, [dataset_event("t", 2, tags(("pii", "gone")))])
    assert node(database, "column:db:t:id").get("tags") is None
    assert node(database, "column:db:t:gone")["tags"] == ["pii"]
    write_batch(database, [dataset_event("t", 3, deleted("tags"))])
    assert node(database, "column:db:t:id")["current"] is True
    assert database.ask("MATCH (c:Column) RETURN c.name AS name", {}) == [{"name": "id"}]
    write_batch(database, [dataset_event("other", 4, tags(("pii", "x")))])
    write_batch(database, [dataset_event("t", 5, symlinks("other"))])
    found = database.ask("MATCH (c:Column) WHERE c.tags IS NOT NULL RETURN c.name AS name", {})
    assert found == [{"name": "x"}]
