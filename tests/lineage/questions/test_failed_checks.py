"""Failed checks of all datasets, each result worked out by hand; the audit query gives the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_audit
from headwater.lineage.pagination import PageRequest
from headwater.lineage.questions.failed_checks import FailedCheckFilter, failed_checks
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, facet, run_event, write_in_any_order
from tests.run_builders import Event, ds

pytestmark = pytest.mark.neo4j

ALL = PageRequest(100)


def check(name: str, success: bool, column: str | None = None, **more: str) -> Event:
    return {"assertion": name, "success": success, **({"column": column} if column else {}), **more}


def checked(run_id: str, minute: int, name: str, *checks: Event, **facets: Event) -> Event:
    usage: Event = {"dataQualityAssertions": {"assertions": list(checks)}} if checks else {}
    inputs = [dataset(name, usage=usage, side="input")]
    return run_event(run_id, minute=minute, job="check", inputs=inputs, facets=facets)


TESTS = [
    {"name": "row_count", "status": "fail", "expected": "9", "actual": "7", "severity": "error"},
    {"name": "fresh", "status": "pass"},
]
HISTORY = [
    run_event("make", minute=0, outputs=["t", "u"]),
    checked(
        "check-1",
        10,
        "t",
        check("not_null", False, "id", expected="0", actual="2"),
        check("unique", True, "id"),
        check("total", False),
    ),
    checked("check-2", 20, "t", check("not_null", True, "id")),
    # A test of a run names no dataset: it counts for the dataset that the run read.
    checked("test-1", 30, "u", check("not_null", False, "mail"), test=facet(tests=TESTS)),
    run_event("test-2", minute=40, job="check", facets={"test": facet(tests=TESTS)}),
    dataset_event(
        "alone", 50, {"dataQualityAssertions": {"assertions": [check("fresh", False, "at")]}}
    ),
]
# (minute, dataset, column, check, run), newest first.
EXPECTED = [
    (50, "alone", "at", "fresh", None),
    (40, None, None, "row_count", "test-2"),
    (30, "u", "mail", "not_null", "test-1"),
    (30, "u", None, "row_count", "test-1"),
    (10, "t", "id", "not_null", "check-1"),
    (10, "t", None, "total", "check-1"),
]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView) -> Iterator[GraphView]:
    """Fold the events in a random order."""
    write_in_any_order(database, *HISTORY)
    yield view
    empty(database)


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def found(view: GraphView, page: PageRequest = ALL, **filter: Any) -> list[tuple[Any, ...]]:
    checks = failed_checks(view, FailedCheckFilter(**filter), page).page.entries
    return [
        (
            one.assertion.reported_at,
            one.dataset,
            one.assertion.column,
            one.assertion.name,
            one.assertion.run,
        )
        for one in checks
    ]


def expected(*rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [
        (moment(minute), name and ds(name), column, check, run and f"run:{run}")
        for minute, name, column, check, run in rows
    ]


def test_every_failed_check_newest_first(history: GraphView) -> None:
    assert found(history) == expected(*EXPECTED)
    checks = failed_checks(history, FailedCheckFilter(), ALL)
    details = {one.assertion.name: one.assertion for one in checks.page.entries}
    assert (checks.count, checks.truncated) == (6, False)
    row_count = details["row_count"]
    assert (row_count.expected, row_count.actual, row_count.severity) == ("9", "7", "error")


@pytest.mark.parametrize(
    ("filter", "kept"),
    [
        ({"dataset": ds("t")}, [4, 5]),
        ({"column": "mail"}, [2]),
        ({"name": "row_count"}, [1, 3]),
        ({"run_id": "check-1"}, [4, 5]),
        ({"since": moment(30), "until": moment(50)}, [1, 2, 3]),
        ({"namespace": "db"}, [0, 2, 3, 4, 5]),
        ({"namespace": "other"}, []),
    ],
)
def test_filters(history: GraphView, filter: dict[str, Any], kept: list[int]) -> None:
    assert found(history, **filter) == expected(*(EXPECTED[number] for number in kept))


def test_pages(history: GraphView) -> None:
    first = failed_checks(history, FailedCheckFilter(), PageRequest(4)).page
    assert first.has_next
    after = PageRequest(4, first.cursors[-1])
    assert found(history, after) == expected(*EXPECTED[4:])


def test_checks_by_hidden_runs_and_of_hidden_datasets_are_left_out(history: GraphView) -> None:
    def seen(*namespaces: str) -> list[tuple[Any, ...]]:
        return found(GraphView(history.database, Visibility(namespaces)))

    assert seen("db") == expected(EXPECTED[0])
    assert seen("etl") == expected(EXPECTED[1])


def test_the_audit_query(history: GraphView) -> None:
    def rows(**parameters: str) -> list[tuple[Any, ...]]:
        result = run_audit(history.database, "failed_checks", parameters).rows
        return [
            (row["reportedAt"], row["dataset"], row["column"] or None, row["check"], row["runId"])
            for row in result
        ]

    assert rows() == [(moment(minute), *rest) for minute, *rest in EXPECTED]
    assert rows(dataset="t", column="id") == [(moment(10), "t", "id", "not_null", "check-1")]
    assert rows(check="row_count", runId="test-1") == [
        (moment(30), "u", None, "row_count", "test-1")
    ]
