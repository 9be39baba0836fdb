"""Features against their training data, on numbers worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.lineage.questions.feature_drift import (
    MeasuredData,
    find_drift,
    newest_measures,
    training_baseline,
)
from headwater.lineage.questions.measure_changes import Measures

START = datetime(2026, 1, 1, tzinfo=UTC)


def report(version: int, values: Measures, *, hour: int = 0, run: str = "r") -> MeasuredData:
    made = START + timedelta(days=version)
    at = made + timedelta(hours=hour)
    return MeasuredData("dataset:db:f", f"v{version}", at, made, run, values)


def tenure(value: float) -> Measures:
    return {("tenure", "mean"): value}


def test_the_baseline_is_the_training_and_the_versions_before_it() -> None:
    reports = [report(number, tenure(number)) for number in range(1, 15)]
    found = training_baseline([("dataset:db:f", "v12")], {"dataset:db:f": reports}, ["tenure"])
    assert found == {("tenure", "mean"): [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]}


def test_other_columns_and_unmeasured_versions_have_no_baseline() -> None:
    reports = {"dataset:db:f": [report(1, tenure(24.3))]}
    assert training_baseline([("dataset:db:f", "v1")], reports, ["plan"]) == {}
    assert training_baseline([("dataset:db:f", "v2")], reports, ["tenure"]) == {}
    assert training_baseline([("dataset:db:other", "v1")], reports, ["tenure"]) == {}


def test_a_mean_that_moved_from_24_to_18_months() -> None:
    """One version has no deviation, so 5 % of its mean is the bound: 1.215."""
    baseline = {("tenure", "mean"): [24.3]}
    (change,) = find_drift(baseline, tenure(18.7))
    assert (change.column, change.measure, change.value, change.mean) == (
        "tenure",
        "mean",
        18.7,
        24.3,
    )
    assert find_drift(baseline, tenure(23.2)) == []
    assert find_drift(baseline, {("plan", "mean"): 1.0}) == []


def test_two_standard_deviations_and_five_percent() -> None:
    """The baseline 20, 24, 28 has the mean 24 and the deviation 4: the bounds are 16 and 32."""
    baseline = {("tenure", "mean"): [28.0, 20.0, 24.0]}
    assert find_drift(baseline, tenure(16.5)) == []
    (change,) = find_drift(baseline, tenure(14.0))
    assert change.deviations == -2.5


def test_the_newest_version_and_of_it_the_newest_report_counts() -> None:
    reports = [
        report(2, tenure(5.0), hour=1, run="a"),
        report(2, {**tenure(6.0), ("plan", "mean"): 1.0}, hour=0, run="b"),
        report(1, tenure(9.0), hour=90),
        report(3, {}),
    ]
    assert newest_measures(reports) == {("tenure", "mean"): 5.0, ("plan", "mean"): 1.0}
    assert newest_measures([]) == {}
