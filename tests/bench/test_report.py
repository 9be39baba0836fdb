"""The figures of a measurement: ranks, spread, and the facts of the machine beside them."""

from __future__ import annotations

import json

import pytest

from bench.report import Report, percentile, repeat, spread


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1), (50, 50), (95, 95), (99, 99), (100, 100), (94.5, 95)]
)
def test_a_percentile_is_a_value_that_was_measured(percent: float, value: float) -> None:
    assert percentile(list(range(100, 0, -1)), percent) == value


def test_high_percentiles_of_few_values_are_the_largest_value() -> None:
    assert spread([3.0, 1.0, 2.0]) == {
        "repeats": 3,
        "min": 1.0,
        "median": 2.0,
        "p95": 3.0,
        "p99": 3.0,
        "max": 3.0,
    }


def test_no_values_have_no_spread_and_no_percentile() -> None:
    assert spread([]) == {"repeats": 0}
    with pytest.raises(ValueError, match="percentile"):
        percentile([], 50)


def test_warm_up_calls_are_not_counted() -> None:
    calls: list[int] = []
    assert len(repeat(lambda: calls.append(1), 3, warm=2)) == 3
    assert len(calls) == 5


def test_a_report_has_the_facts_that_its_figures_depend_on() -> None:
    report = json.loads(Report("nothing").text(runs=7))
    assert (report["bench"], report["runs"]) == ("nothing", 7)
    facts = {
        "cpu",
        "cores",
        "memoryGB",
        "loadBefore",
        "loadAfter",
        "python",
        "neo4j",
        "headwater",
        "commit",
        "seconds",
    }
    assert facts <= report["machine"].keys()
    assert report["machine"]["neo4j"].startswith("5.26")
