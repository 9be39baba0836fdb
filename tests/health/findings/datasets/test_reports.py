"""Facets of checks and measures, as detectors read them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from headwater.health.findings.datasets.history import Check
from headwater.health.findings.datasets.reports import checks_in, last_updated_in, report_of
from tests.health.findings.datasets.histories import day


def test_a_check_that_is_listed_twice_succeeds_only_if_both_do() -> None:
    results = [
        {"assertion": "unique", "column": "id", "success": True},
        {"assertion": "unique", "column": "id", "success": False, "severity": "ERROR"},
        {"assertion": "test", "name": "totals", "success": True},
    ]
    assert checks_in(json.dumps({"assertions": results})) == (
        Check("totals", "", True),
        Check("unique", "id", False, "error"),
    )
    assert checks_in(None) == ()
    assert checks_in("[") == ()


def test_measures_and_quantiles_of_columns() -> None:
    metrics = {
        "rowCount": 10,
        "lastUpdated": "2026-01-05T01:00:00Z",
        "columnMetrics": {
            "a": {"sum": 30.0, "count": 10, "nullCount": 1, "quantiles": {"0.5": 2.0, "0.9": 9.0}}
        },
    }
    text = json.dumps(metrics)
    report = report_of(
        at=day(0),
        run="run:1",
        job="job:etl:check",
        version="artifact:db:a:1",
        is_write=False,
        assertions=None,
        metrics=text,
    )
    assert report.measures == {
        ("a", "mean"): 3.0,
        ("a", "null share"): 0.1,
        ("a", "quantile 0.5"): 2.0,
        ("a", "quantile 0.9"): 9.0,
    }
    assert report.row_count == 10
    assert report.last_updated == datetime(2026, 1, 5, 1, tzinfo=UTC)


def test_a_malformed_time_is_none() -> None:
    assert last_updated_in(json.dumps({"columnMetrics": {}, "lastUpdated": "yesterday"})) is None
    assert last_updated_in(None) is None
