"""The quality of datasets and versions, each result worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.quality import Assertion, ColumnMeasure, Measure, Quality, quality
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, write_in_any_order
from tests.run_builders import Event, ds, run_of, version

pytestmark = pytest.mark.neo4j

MEASURED = {
    "rowCount": 10,
    "bytes": 100,
    "columnMetrics": {
        "id": {"nullCount": 2, "distinctCount": 8, "min": 1, "max": 9.5, "quantiles": {"0.5": 4}},
        "mail": {"nullCount": 0},
    },
}


def check(name: str, success: bool, column: str | None = None, **more: str) -> Event:
    return {"assertion": name, "success": success, **({"column": column} if column else {}), **more}


def checked(
    run_id: str, minute: int, *checks: Event, metrics: Event | None = None, name: str = "t"
) -> Event:
    usage: Event = {"dataQualityAssertions": {"assertions": list(checks)}} if checks else {}
    if metrics is not None:
        usage["dataQualityMetrics"] = metrics
    return run_event(
        run_id, "COMPLETE", minute, job="check", inputs=[dataset(name, usage=usage, side="input")]
    )


HISTORY = [
    run_event("make-1", "COMPLETE", 0, outputs=["t", "other"]),
    checked(
        "check-1",
        10,
        check("not_null", False, "id", expected="0", actual="2", severity="error"),
        check("unique", True, "id"),
        metrics=MEASURED,
    ),
    run_event("make-2", "COMPLETE", 20, outputs=["t"]),
    checked(
        "check-2", 30, check("not_null", True, "id"), check("range", True), check("range", False)
    ),
    dataset_event(
        "t",
        40,
        {
            "dataQualityMetrics": {"rowCount": 11, "columnMetrics": {}},
            "dataQualityAssertions": {
                "assertions": [check("fresh", True), {"assertion": "broken"}]
            },
        },
    ),
    run_event(
        "make-3",
        "COMPLETE",
        50,
        outputs=[dataset("u", usage={"dataQualityMetrics": {"rowCount": 3, "columnMetrics": {}}})],
    ),
    run_event("w", "COMPLETE", 0, outputs=["x"]),
    run_event("l", "FAIL", 5, outputs=["x"]),
    checked("c", 10, check("ok", True), metrics=MEASURED, name="x"),
]


@pytest.fixture(scope="module")
def history(database: Database, view: GraphView, graph_driver: Driver) -> Iterator[GraphView]:
    """Fold the events in a random order."""
    del graph_driver
    write_in_any_order(database, *HISTORY)
    yield view
    empty(database)


def of(view: GraphView, urn: str) -> Quality:
    return quality(view, [urn])[urn]


def moment(minute: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def result(
    name: str, column: str | None, success: bool, run: str, run_id: str, minute: int, **more: Any
) -> Assertion:
    details = {"severity": None, "expected": None, "actual": None, **more}
    return Assertion(
        name,
        column,
        success,
        **details,
        reported_at=moment(minute),
        run=run_of(run),
        version=version("t", run_id),
    )


def test_every_check_by_its_newest_result_those_that_failed_first(history: GraphView) -> None:
    found = of(history, ds("t")).assertions
    # If one event has two results of one check, the failed one counts.
    assert found[0] == result("range", None, False, "check-2", "make-2", 30)
    assert found[1] == Assertion("fresh", None, True, None, None, None, moment(40), None, None)
    assert found[2] == result("not_null", "id", True, "check-2", "make-2", 30)
    assert found[3] == result("unique", "id", True, "check-1", "make-1", 10)
    assert (len(found), of(history, ds("t")).failed) == (4, 1)


def test_a_version_has_its_own_results_only(history: GraphView) -> None:
    first = of(history, version("t", "make-1"))
    assert first.assertions == [
        result(
            "not_null",
            "id",
            False,
            "check-1",
            "make-1",
            10,
            expected="0",
            actual="2",
            severity="error",
        ),
        result("unique", "id", True, "check-1", "make-1", 10),
    ]
    columns = [
        ColumnMeasure("id", 2, 8, None, None, 1.0, 9.5, {"0.5": 4.0}),
        ColumnMeasure("mail", 0, None, None, None, None, None, {}),
    ]
    assert first.measures == [
        Measure(10, 100, None, columns, moment(10), run_of("check-1"), version("t", "make-1"))
    ]
    assert of(history, version("t", "make-2")).measures == []


def test_facets_of_the_dataset_apply_from_their_event_time(history: GraphView) -> None:
    newest, before = of(history, ds("t")).measures
    assert newest == Measure(11, None, None, [], moment(40), None, None)
    assert (before.row_count, before.run) == (10, run_of("check-1"))


def test_measurements_of_the_outputs_of_a_run(history: GraphView) -> None:
    expected = Measure(3, None, None, [], moment(50), run_of("make-3"), version("u", "make-3"))
    assert of(history, version("u", "make-3")) == of(history, ds("u")) == Quality([], [expected])


def test_no_checks_unknown_datasets_and_hidden_datasets(history: GraphView) -> None:
    assert of(history, ds("other")) == of(history, ds("unknown")) == Quality()
    assert quality(history.visible_to(Visibility(("etl",))), [ds("t")]) == {}
    # Checks of hidden jobs stay hidden; the dataset's own facets are visible.
    without_runs = of(history.visible_to(Visibility(("db",))), ds("t"))
    assert [one.name for one in without_runs.assertions] == ["fresh"]
    assert [one.row_count for one in without_runs.measures] == [11]


def test_a_complete_and_an_incomplete_version_read_together_are_measured_once(
    history: GraphView,
) -> None:
    found = of(history, ds("x"))
    assert [(one.row_count, one.version) for one in found.measures] == [(10, version("x", "w"))]
    assert [(one.name, one.version) for one in found.assertions] == [("ok", version("x", "w"))]
    assert len(of(history, version("x", "l")).measures) == 1
