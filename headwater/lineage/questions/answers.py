"""All answers of the graph, page by page and counted, in the order of their creation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.lineage.list_pages import EARLIEST, LATEST, read_time_page
from headwater.lineage.pagination import FIRST_PAGE, Page, PageRequest
from headwater.lineage.view import GraphView

_STATEMENT = "read/lists/answers"


@dataclass(frozen=True)
class AnswerFilter:
    """Conditions on answers; an empty one matches everything.

    `since` and `until` (exclusive) bound the creation. With `namespace`, an answer must rest on
    data of this namespace, directly or through other answers.
    """

    since: datetime | None = None
    until: datetime | None = None
    namespace: str = ""


def answers(
    view: GraphView,
    *,
    filter: AnswerFilter = AnswerFilter(),
    page: PageRequest = FIRST_PAGE,
    oldest_first: bool = False,
) -> Page[Row]:
    """Return a page of the visible answers, newest first unless `oldest_first`.

    Each entry has the properties of the answer. Raises QueryError for a malformed cursor.
    """
    found = read_time_page(
        view, _STATEMENT, page, oldest_first=oldest_first, **_parameters(view, filter)
    )
    return found.map(lambda row: dict(row["properties"]))


def count_answers(view: GraphView, filter: AnswerFilter = AnswerFilter()) -> int:
    """Return the number of answers on all pages."""
    [row] = view.read("read/lists/answers_count", **_parameters(view, filter))
    return int(row["count"])


def _parameters(view: GraphView, filter: AnswerFilter) -> dict[str, Any]:
    return {
        "since": filter.since or EARLIEST,
        "until": filter.until or LATEST,
        "namespace": filter.namespace,
        "visible": view.visibility.regexes,
    }
