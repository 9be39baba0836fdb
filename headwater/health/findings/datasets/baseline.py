"""The baseline of a number of a dataset: earlier values of the same kind. Pure.

The baseline of a value is the newest ten earlier ones, and at least five. If the history holds at
least four values of each weekday on which there are any, and the weekdays differ, it is the newest
ten of the same weekday instead. Weekdays differ if their means are further apart than two standard
deviations within a weekday and 5 % of the overall mean. While there are fewer values, two further
conditions keep a weekly pattern from being reported:

- A value at a weekend needs an earlier one at a weekend, and the same holds of working days.
- A value within 10 % of one on an earlier date is usual, if both are of the same weekday or both of
  weekends.

Days are those of UTC.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, pvariance

from headwater.lineage.questions.measure_changes import (
    DEVIATIONS_MAX,
    NULL_SHARE,
    SHARE_MAX,
    MeasureChange,
    find_shift,
)
from headwater.lineage.questions.outliers import EARLIER_MAX

ROW_COUNT = "row count"
EARLIER_MIN = 5
# Earlier values that are looked at: ten weeks of days.
LOOKBACK = 70
WEEKDAY_MIN = 4
# Two values of one weekday that differ by less are the same pattern.
WEEKDAY_SHARE_MAX = 0.1
_SATURDAY = 5


@dataclass(frozen=True)
class Point:
    """A value, and when its version was made or its run reported it."""

    at: datetime
    value: float


@dataclass(frozen=True)
class Shift:
    """A value that left its baseline; `is_weekday`: the baseline is of the same weekday."""

    change: MeasureChange
    is_weekday: bool


def is_judged(point: Point, earlier: Sequence[Point]) -> bool:
    """Return True if there are enough earlier values, earliest first, to compare a value with."""
    of_weekday = _of_weekday(point, earlier)
    if of_weekday is not None:
        return len(of_weekday) >= WEEKDAY_MIN
    is_seen = any(_is_weekend(one) == _is_weekend(point) for one in earlier)
    return len(earlier) >= EARLIER_MIN and is_seen


def find_baseline_shift(
    column: str, measure: str, point: Point, earlier: Sequence[Point]
) -> Shift | None:
    """Return the shift of a value against earlier ones, earliest first; None within bounds."""
    if not is_judged(point, earlier):
        return None
    if measure == ROW_COUNT and not any(one.value for one in earlier):
        # Nothing was usual, so no number of rows is unusual.
        return None
    of_weekday = _of_weekday(point, earlier)
    baseline = earlier if of_weekday is None else of_weekday
    values = [one.value for one in reversed(baseline[-EARLIER_MAX:])]
    change = find_shift(column, measure, point.value, values)
    if change is None:
        return None
    if _by_weekday(earlier) is None and _is_usual(measure, point, earlier):
        return None
    return Shift(change, of_weekday is not None)


def _of_weekday(point: Point, earlier: Sequence[Point]) -> Sequence[Point] | None:
    """Return the earlier values of the weekday, if weekdays are to be told apart."""
    by_day = _by_weekday(earlier)
    if by_day is None:
        return None
    days = [_values(some) for some in by_day.values()]
    means = [fmean(values) for values in days]
    within = math.sqrt(fmean(pvariance(values) for values in days))
    apart = max(means) - min(means)
    if apart <= max(DEVIATIONS_MAX * within, SHARE_MAX * abs(fmean(means))):
        return None
    return by_day.get(point.at.weekday(), [])


def _by_weekday(earlier: Sequence[Point]) -> dict[int, list[Point]] | None:
    """Return the values of each weekday with any; None while one of them has too few."""
    by_day: dict[int, list[Point]] = defaultdict(list)
    for one in earlier:
        by_day[one.at.weekday()].append(one)
    is_enough = len(by_day) > 1 and all(len(some) >= WEEKDAY_MIN for some in by_day.values())
    return dict(by_day) if is_enough else None


def _is_usual(measure: str, point: Point, earlier: Sequence[Point]) -> bool:
    """Return True if it equals a value of the same weekday, or of a weekend, on an earlier date."""
    for one in earlier:
        is_weekend = _is_weekend(one) and _is_weekend(point)
        is_comparable = is_weekend or one.at.weekday() == point.at.weekday()
        if not is_comparable or one.at.date() == point.at.date():
            continue
        bound = SHARE_MAX if measure == NULL_SHARE else WEEKDAY_SHARE_MAX * abs(one.value)
        if abs(point.value - one.value) <= bound:
            return True
    return False


def _values(points: Sequence[Point]) -> list[float]:
    return [one.value for one in points]


def _is_weekend(point: Point) -> bool:
    return point.at.weekday() >= _SATURDAY
