"""Measures of columns, worked out by hand."""

from __future__ import annotations

from headwater.scenarios.measures import column_metrics
from headwater.scenarios.rows import Rows


def test_numbers_have_a_sum_and_nulls_are_counted() -> None:
    rows: Rows = [{"a": 1, "b": "x"}, {"a": 3, "b": "x"}, {"a": None, "b": None}]
    assert column_metrics(rows, {"a": "int", "b": "string"}) == {
        "a": {"nullCount": 1, "distinctCount": 2, "count": 2, "sum": 4, "min": 1, "max": 3},
        "b": {"nullCount": 2 - 1, "distinctCount": 1, "count": 2},
    }


def test_booleans_and_mixed_values_are_no_numbers() -> None:
    rows: Rows = [{"flag": True, "mixed": 1}, {"flag": False, "mixed": "x"}]
    found = column_metrics(rows, {"flag": "boolean", "mixed": "string", "absent": "int"})
    assert found["flag"] == {"nullCount": 0, "distinctCount": 2, "count": 2}
    assert found["mixed"] == {"nullCount": 0, "distinctCount": 2, "count": 2}
    assert found["absent"] == {"nullCount": 2, "distinctCount": 0, "count": 0}
