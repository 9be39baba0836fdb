"""Baselines of numbers, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from headwater.health.findings.datasets.baseline import (
    ROW_COUNT,
    Point,
    find_baseline_shift,
    is_judged,
)
from tests.health.findings.datasets.histories import day


def points(values: Sequence[float], first: int = 0) -> list[Point]:
    return [Point(day(first + number), value) for number, value in enumerate(values)]


def test_the_baseline_is_the_newest_ten_values() -> None:
    # The ten newest are 100, the five before them 200.
    shift = find_baseline_shift("", ROW_COUNT, Point(day(15), 120), points([200] * 5 + [100] * 10))
    assert shift is not None
    assert (shift.change.mean, shift.change.version_count, shift.is_weekday) == (100, 10, False)


@pytest.mark.parametrize(
    ("number", "count", "expected"),
    [
        (4, 4, False),  # Friday, with four values
        (7, 5, True),  # Monday, with those of a week
        (5, 5, False),  # Saturday, without one of a weekend
        (6, 6, True),  # Sunday, with a Saturday
    ],
)
def test_which_values_are_judged(number: int, count: int, expected: bool) -> None:
    assert is_judged(Point(day(number), 1), points([1] * count)) is expected


def test_weekdays_that_do_not_differ_share_a_baseline() -> None:
    shift = find_baseline_shift("", ROW_COUNT, Point(day(28), 50), points([100, 101] * 14))
    assert shift is not None
    assert (shift.is_weekday, shift.change.version_count) == (False, 10)


def test_both_bounds_count() -> None:
    # The mean is 100, the deviation sqrt(1000 / 4) = 15.8: 130 is 30 %, and 1.9 deviations.
    earlier = points([80, 90, 100, 110, 120])
    assert find_baseline_shift("", ROW_COUNT, Point(day(7), 130), earlier) is None
    assert find_baseline_shift("", ROW_COUNT, Point(day(7), 133), earlier) is not None


def test_a_bad_sunday_is_not_usual_because_saturday_was_bad() -> None:
    """With four weeks of equal days, no pattern of weekends is waited for."""
    earlier = points([100, 101] * 16 + [100])
    saturday, sunday = Point(day(33), 900), Point(day(34), 900)
    assert find_baseline_shift("", ROW_COUNT, saturday, earlier) is not None
    assert find_baseline_shift("", ROW_COUNT, sunday, [*earlier, saturday]) is not None
    # In the first weeks, weekends may be of their own kind.
    young = points([100, 101] * 6)
    assert (
        find_baseline_shift("", ROW_COUNT, Point(day(13), 900), [*young, Point(day(12), 900)])
        is None
    )
