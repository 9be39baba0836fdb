"""Column measures against a baseline; every number is worked out by hand."""

from __future__ import annotations

import json

import pytest

from headwater.lineage.questions.measure_changes import (
    DISTINCT_COUNT,
    MEAN,
    NULL_SHARE,
    MeasureChange,
    find_change,
    measures_in,
)


def facet(row_count: int | None = None, **columns: dict[str, float]) -> str:
    content: dict[str, object] = {"columnMetrics": columns}
    if row_count is not None:
        content["rowCount"] = row_count
    return json.dumps(content)


def test_a_mean_beyond_two_standard_deviations() -> None:
    # The baseline has mean 10 and standard deviation 0.1: 10.25 is 2.5 % and 2.5 deviations away.
    change = find_change("a", MEAN, 10.25, [10.1, 9.9, 10.0])
    assert change is not None
    assert change.mean == pytest.approx(10)
    assert change.deviation == pytest.approx(0.1)
    assert change.deviations == pytest.approx(2.5)
    assert change.share == pytest.approx(0.025)
    assert change.version_count == 3
    assert find_change("a", MEAN, 10.19, [10.1, 9.9, 10.0]) is None


def test_a_mean_beyond_five_percent() -> None:
    # One earlier value has no standard deviation.
    assert find_change("a", MEAN, 105.0, [100.0]) is None
    change = find_change("a", MEAN, 105.1, [100.0])
    assert change == MeasureChange("a", MEAN, 105.1, 100.0, None, 1)
    assert change.deviations is None
    # Noisy values: 8 % is within one standard deviation, and still more than 5 %.
    assert find_change("a", MEAN, 108.0, [90.0, 100.0, 110.0]) is not None
    assert find_change("a", MEAN, 94.9, [90.0, 100.0, 110.0]) is not None
    assert find_change("a", MEAN, 96.0, [90.0, 100.0, 110.0]) is None


def test_a_mean_near_zero_has_no_meaningful_share() -> None:
    assert find_change("a", MEAN, 0.2, [-0.1, 0.0, 0.1, 0.1]) is None
    assert find_change("a", MEAN, 0.5, [-0.1, 0.0, 0.1, 0.1]) is not None
    change = find_change("a", MEAN, 3.0, [0.0])
    assert change is not None
    assert change.share is None


def test_a_share_of_nulls_counts_in_points() -> None:
    assert find_change("a", NULL_SHARE, 0.05, [0.01]) is None
    change = find_change("a", NULL_SHARE, 0.34, [0.01])
    assert change is not None
    assert change.share == pytest.approx(0.33)


def test_equal_values_allow_one_percent() -> None:
    equal = [1_000.0, 1_000.0, 1_000.0]
    assert find_change("a", DISTINCT_COUNT, 1_010.0, equal) is None
    assert find_change("a", DISTINCT_COUNT, 1_011.0, equal) is not None
    assert find_change("a", NULL_SHARE, 0.001, [0.0, 0.0, 0.0]) is None
    # Sums of decimal fractions differ by rounding only.
    assert find_change("a", MEAN, 0.1 + 0.2, [0.3, 0.3, 0.3]) is None


def test_no_baseline_and_a_bounded_one() -> None:
    assert find_change("a", MEAN, 5.0, []) is None
    change = find_change("a", MEAN, 5.0, [1.0] * 10 + [5.0] * 90)
    assert change is not None
    assert (change.mean, change.version_count) == (1.0, 10)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (facet(a={"sum": 30, "count": 3}), {("a", MEAN): 10.0}),
        (
            facet(10, a={"sum": 16, "nullCount": 2, "distinctCount": 4}),
            {("a", MEAN): 2.0, ("a", NULL_SHARE): 0.2, ("a", DISTINCT_COUNT): 4.0},
        ),
        (facet(a={"count": 6, "nullCount": 2}), {("a", NULL_SHARE): 0.25}),
        (facet(0, a={"sum": 0, "count": 0, "nullCount": 0}), {}),
        (facet(a={"sum": 3}), {}),
        ("[]", {}),
    ],
)
def test_measures_of_a_facet(metrics: str, expected: dict[tuple[str, str], float]) -> None:
    assert measures_in(metrics) == expected
