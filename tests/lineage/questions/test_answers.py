"""The list of all answers: order, filters, pages in both directions, counts and visibility."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions.answers import AnswerFilter, answers, count_answers
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.run_builders import answer, write_events

pytestmark = pytest.mark.neo4j
NEWEST_FIRST = ["mixed", "over-web", "web-only", "idea", "plain"]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Write answers over two namespaces; `idea` cites nothing, `missing` is only cited."""
    empty(database)
    page = {"namespace": "web", "name": "page"}
    write_events(
        database,
        answer("plain", "orders", minute=10),
        answer("idea", minute=20),
        answer("web-only", page, minute=30),
        answer("over-web", {"answerId": "web-only"}, {"answerId": "missing"}, minute=30),
        answer("mixed", "orders", page, minute=40),
    )
    yield view
    empty(database)


def listed(view: GraphView, **conditions: Any) -> list[str]:
    """Return the listed ids; the count must agree."""
    filter = AnswerFilter(**conditions)
    found = [row["answerId"] for row in answers(view, filter=filter).entries]
    assert count_answers(view, filter) == len(found)
    return found


def test_order_and_filters(history: GraphView) -> None:
    half_past = datetime(2026, 1, 1, 0, 30, tzinfo=UTC)
    assert listed(history) == NEWEST_FIRST
    assert listed(history, since=half_past) == ["mixed", "over-web", "web-only"]
    assert listed(history, until=half_past) == ["idea", "plain"]
    assert listed(history, namespace="web") == ["mixed", "over-web", "web-only"]
    assert listed(history, namespace="db") == ["mixed", "plain"]


def test_an_answer_is_listed_if_all_that_it_rests_on_is_visible(history: GraphView) -> None:
    assert listed(history.visible_to(Visibility(("db",)))) == ["plain"]
    assert listed(history.visible_to(Visibility(("web",)))) == ["over-web", "web-only"]
    both = history.visible_to(Visibility(("web", "db")))
    assert listed(both) == ["mixed", "over-web", "web-only", "plain"]


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("oldest_first", [False, True])
def test_pages_of_both_directions_are_the_list(
    history: GraphView, size: int, oldest_first: bool
) -> None:
    expected = NEWEST_FIRST[::-1] if oldest_first else NEWEST_FIRST
    for is_backward in (False, True):
        collected: list[str] = []
        cursor = None
        while True:
            page = PageRequest(size, cursor, is_backward)
            found = answers(history, page=page, oldest_first=oldest_first)
            ids = [row["answerId"] for row in found.entries]
            collected = ids + collected if is_backward else collected + ids
            cursor = found.cursors[0 if is_backward else -1]
            if not (found.has_previous if is_backward else found.has_next):
                break
        assert collected == expected
