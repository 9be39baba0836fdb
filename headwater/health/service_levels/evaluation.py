"""The state of a service level: its value, its budget of errors, and how fast that burns.

The budget is the share of bad parts (or days) that the objective allows in the window. Its rest is
1 minus the share of bad parts over that share: 1 is untouched, 0 is spent, below 0 is overspent.

The burn rate is how many times faster than allowed the budget is spent: at 1 it lasts exactly the
window. It is measured over two pairs of windows (an hour and its last 5 minutes, 6 hours and their
last 30 minutes), because a long window alone stays high after the end, and a short one alone jumps
at single errors. The rate of a pair is the lower of its two, and of the pairs the higher counts
(https://sre.google/workbook/alerting-on-slos/). Above `URGENT_BURN_RATE` it is urgent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from headwater.health.figures import snapshots
from headwater.health.figures.definitions import FIGURES, Direction, Unit
from headwater.health.figures.figures import evaluate as evaluate_figure
from headwater.health.metrics import LAG_SECONDS
from headwater.health.platform import quantile
from headwater.health.service_levels import samples as sampled
from headwater.health.service_levels.definitions import Budget, ServiceLevel, Source
from headwater.health.service_levels.measures import MEASURES
from headwater.health.service_levels.samples import Counts, Sample
from headwater.lineage.pagination import require_between
from headwater.lineage.view import GraphView

URGENT_BURN_RATE = 4.0
# Below this rest of the budget, a level that is met is at risk.
RISKY_BUDGET = 0.25
BURN_WINDOWS = (
    (timedelta(hours=1), timedelta(minutes=5)),
    (timedelta(hours=6), timedelta(minutes=30)),
)
# The days over which days burn the budget.
BURN_DAYS = 7
_P95 = 0.95
# The upper bounds of the histogram of the ingest lag, in seconds; the last bucket has none.
LAG_BOUNDS = (*LAG_SECONDS, float("inf"))


class Verdict(StrEnum):
    """How well a level is kept."""

    OK = "OK"
    AT_RISK = "AT_RISK"
    MISSED = "MISSED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class LevelState:
    """A service level at an instant; values are None if there was nothing to measure."""

    level: ServiceLevel
    value: float | None
    counts: Counts
    budget_left: float | None
    burn_rate: float | None
    as_of: datetime

    @property
    def is_met(self) -> bool | None:
        return self.level.is_met_by(self.value)

    @property
    def is_urgent(self) -> bool:
        """Return True if the budget burns more than `URGENT_BURN_RATE` times too fast."""
        return self.burn_rate is not None and self.burn_rate > URGENT_BURN_RATE

    @property
    def verdict(self) -> Verdict:
        """Return MISSED below the target, AT_RISK with a spent or burning budget."""
        if self.is_met is None:
            return Verdict.UNKNOWN
        if not self.is_met:
            return Verdict.MISSED
        is_spent = self.budget_left is not None and self.budget_left < RISKY_BUDGET
        return Verdict.AT_RISK if is_spent or self.is_urgent else Verdict.OK


@dataclass(frozen=True)
class DayValue:
    """The value of a level on one day; None if there was nothing to measure."""

    day: date
    value: float | None


def budget_left(bad_share: float | None, objective: float) -> float | None:
    """Return the rest of the budget of errors; None without anything counted."""
    # Rounded, so that a budget that is just used up is 0 and not a little less.
    return None if bad_share is None else round(1 - bad_share / (1 - objective), 9) + 0.0


def burn_rate(level: ServiceLevel, counts_of: Callable[[timedelta], Counts]) -> float | None:
    """Return the burn rate of the faster pair of windows; None without anything counted."""
    rates: list[float] = []
    for long, short in BURN_WINDOWS:
        shares = [counts_of(window).bad_share for window in (long, short)]
        if any(share is not None for share in shares):
            rates.append(min(share or 0.0 for share in shares) / (1 - level.objective))
    return max(rates) if rates else None


def evaluate(view: GraphView, level: ServiceLevel, now: datetime | None = None) -> LevelState:
    """Return the state of a level."""
    instant = now or datetime.now(UTC)
    return _EVALUATIONS[level.source](view, level, instant)


def _of_figure(view: GraphView, level: ServiceLevel, now: datetime) -> LevelState:
    figure = evaluate_figure(view, FIGURES[level.figure], now)
    points = snapshots.history(view, [level.figure], days=level.window_days, now=now)[level.figure]
    earlier = [DayValue(one.day, one.value) for one in points if one.day < now.date()]
    values = [*earlier, DayValue(now.date(), figure.value)]
    counts = Counts(figure.numerator or 0, figure.denominator or 0)
    if level.good is Direction.DOWN and level.unit is Unit.SHARE:
        counts = Counts(counts.total - counts.good, counts.total)
    return _of_days(level, values, counts, now)


def _of_days(
    level: ServiceLevel, values: Sequence[DayValue], counts: Counts, now: datetime
) -> LevelState:
    """Return the state of a level with one value a day; the last one is that of now."""
    value = values[-1].value
    if level.budget is Budget.DAYS:
        bad = frozenset(one.day for one in values if level.is_met_by(one.value) is False)
        days = level.window_days
        left, rate = _budget_of_days(level, bad, now.date())
        known = any(one.value is not None for one in values)
        counts = Counts(days - len(bad), days)
        return LevelState(
            level, value, counts, left if known else None, rate if known else None, now
        )
    bad_shares = [_bad_share(level, one.value) for one in values if one.value is not None]
    mean = sum(bad_shares) / len(bad_shares) if bad_shares else None
    rate = None if value is None else _bad_share(level, value) / (1 - level.objective)
    return LevelState(level, value, counts, budget_left(mean, level.objective), rate, now)


def _bad_share(level: ServiceLevel, value: float) -> float:
    return 1 - value if level.good is Direction.UP else value


def _budget_of_days(
    level: ServiceLevel, bad: frozenset[date], today: date
) -> tuple[float | None, float | None]:
    """Return the rest of the budget and its burn rate; a day without a value counts as good."""
    recent = sum(day > today - timedelta(days=BURN_DAYS) for day in bad)
    left = budget_left(len(bad) / level.window_days, level.objective)
    return left, recent / BURN_DAYS / (1 - level.objective)


def _of_history(view: GraphView, level: ServiceLevel, now: datetime) -> LevelState:
    measure = MEASURES[level.id](view, (now - timedelta(days=level.window_days), now))
    if level.budget is Budget.DAYS:
        if measure.value is None:
            return LevelState(level, None, measure.counts, None, None, now)
        left, rate = _budget_of_days(level, measure.bad_days, now.date())
        return LevelState(level, measure.value, measure.counts, left, rate, now)
    rate = burn_rate(level, lambda window: MEASURES[level.id](view, (now - window, now)).counts)
    left = budget_left(measure.counts.bad_share, level.objective)
    return LevelState(level, measure.value, measure.counts, left, rate, now)


def _of_graph(view: GraphView, level: ServiceLevel, now: datetime) -> LevelState:
    measure = MEASURES[level.id](view, (now, now))
    earlier = _daily_values(view, level, level.window_days, now)
    values = [one for one in earlier if one.day < now.date()]
    return _of_days(level, [*values, DayValue(now.date(), measure.value)], measure.counts, now)


def _of_counters(view: GraphView, level: ServiceLevel, now: datetime) -> LevelState:
    """Return the state of a level of samples; a caller who does not see everything sees none."""
    since = now - timedelta(days=level.window_days)
    is_shown = view.visibility.is_unrestricted
    found = sampled.read_samples(view, level.id, since) if is_shown else []
    if level.budget is Budget.DAYS:
        values = _values_of_days(level, found)
        last = values[-1].value if values else None
        if found and found[-1].target is not None:
            level = replace(level, target=found[-1].target)
        return _of_days(level, [*values, DayValue(now.date(), last)], Counts(), now)
    counts = sampled.sum_of(found)
    rate = burn_rate(level, lambda window: sampled.counts_since(found, now - window, now))
    left = budget_left(counts.bad_share, level.objective)
    return LevelState(level, _counter_value(level, found), counts, left, rate, now)


_EVALUATIONS = {
    Source.FIGURE: _of_figure,
    Source.HISTORY: _of_history,
    Source.GRAPH: _of_graph,
    Source.COUNTERS: _of_counters,
}


def _counter_value(level: ServiceLevel, found: Sequence[Sample]) -> float | None:
    if level.unit is Unit.SECONDS:
        return quantile_of(sampled.buckets_of(found))
    counts = sampled.sum_of(found)
    return counts.good / counts.total if counts.total else None


def quantile_of(buckets: Sequence[float]) -> float | None:
    """Return the 95th percentile of the counts of each bucket of the lag; None without any."""
    total, cumulative = 0.0, {}
    for bound, count in zip(LAG_BOUNDS, buckets, strict=False):
        total += count
        cumulative[bound] = total
    return quantile(_P95, cumulative)


def history(
    view: GraphView, level: ServiceLevel, *, days: int, now: datetime | None = None
) -> list[DayValue]:
    """Return the daily values of a level in the last days, today included, oldest first.

    A caller who does not see everything gets none. Raises QueryError for days outside the bounds.
    """
    require_between("days", days, 1, snapshots.DAYS_MAX)
    instant = now or datetime.now(UTC)
    if level.source is Source.FIGURE:
        points = snapshots.history(view, [level.figure], days=days, now=instant)[level.figure]
        return [DayValue(one.day, one.value) for one in points]
    return _daily_values(view, level, days, instant)


def _daily_values(view: GraphView, level: ServiceLevel, days: int, now: datetime) -> list[DayValue]:
    if not view.visibility.is_unrestricted:
        return []
    since = datetime(now.year, now.month, now.day, tzinfo=UTC) - timedelta(days=days - 1)
    return _values_of_days(level, sampled.read_samples(view, level.id, since))


def _values_of_days(level: ServiceLevel, found: Sequence[Sample]) -> list[DayValue]:
    """Return the last value of each day; of a counter, the value of its counts of the day."""
    is_counter = level.source is Source.COUNTERS and level.budget is Budget.PARTS
    return [
        DayValue(day, _counter_value(level, of_day) if is_counter else of_day[-1].value)
        for day, of_day in sampled.by_day(found).items()
    ]
