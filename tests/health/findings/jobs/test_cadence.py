"""When the next execution is due, worked out by hand. Day 0 is a Monday."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

import pytest

from headwater.health.findings.jobs.cadence import Due, due_by_rhythm, due_by_schedule
from headwater.health.findings.jobs.executions import Execution, group_executions
from headwater.health.findings.jobs.history import Schedule
from tests.health.findings.jobs.builders import DAY, START, minutes_of, run

HOUR = 60
SIX = Schedule(crons=("0 6 * * *",))


def executions(*minutes: float, nominals: Iterable[float] = ()) -> list[Execution]:
    times = dict(zip(minutes, nominals, strict=False))
    return group_executions(run(f"m{at:g}", at, nominal=times.get(at)) for at in minutes)


def hours(due: Due | None) -> tuple[float, ...] | None:
    """Return the due time, the deadline and the time of the stop, and the period, in hours."""
    if due is None:
        return None
    instants = (due.at, due.deadline, due.stopped)
    return (*(minutes_of(one) / HOUR for one in instants), due.period / timedelta(hours=1))


def rhythm(*minutes: float, days: Iterable[date] = (), is_truncated: bool = False) -> Due | None:
    return due_by_rhythm(executions(*minutes), list(days), is_truncated=is_truncated)


def test_a_daily_job_is_due_a_day_later_with_half_a_day_of_grace() -> None:
    # The grace is the longest pause, a day, and a quarter of it; half a day is more.
    found = rhythm(*(n * DAY for n in range(7)))
    assert hours(found) == (7 * 24, 7 * 24 + 12, 17 * 24 + 12, 24)
    assert found is not None
    assert found.source == "rhythm"


def test_without_five_executions_or_a_day_there_is_no_rhythm() -> None:
    assert rhythm(*(n * DAY for n in range(4))) is None
    assert rhythm(*(n * HOUR for n in range(24))) is None
    assert rhythm(*(n * HOUR for n in range(25))) is not None
    # If older runs were not read, it is known for longer.
    assert rhythm(*(n * HOUR for n in range(24)), is_truncated=True) is not None


@pytest.mark.parametrize(
    ("gaps", "is_regular"),
    [
        ([24, 24, 24, 24, 24], True),
        # A quarter more or less than the median is regular, more is not.
        ([24, 30, 18, 24, 24], True),
        ([24, 31, 24, 24, 24], True),
        ([24, 31, 17, 24, 24], False),
        ([24, 1, 60, 5, 100], False),
    ],
)
def test_four_fifths_of_the_gaps_must_be_near_their_median(
    gaps: list[float], is_regular: bool
) -> None:
    starts = [HOUR * sum(gaps[:n]) for n in range(len(gaps) + 1)]
    found = rhythm(*starts)
    assert (found is not None) is is_regular


def test_only_the_newest_ten_gaps_count() -> None:
    irregular = [0, 1 * HOUR, 7 * HOUR, 8 * HOUR]
    daily = [20 * HOUR + n * DAY for n in range(11)]
    found = rhythm(*irregular, *daily)
    assert found is not None
    assert found.period == timedelta(days=1)


def test_a_job_of_workdays_is_due_on_monday() -> None:
    # Three weeks, up to Friday of the third: day 18.
    starts = [n * DAY for n in range(19) if n % 7 < 5]
    # Monday is day 21; half a day of grace.
    assert hours(rhythm(*starts)) == (21 * 24, 21 * 24 + 12, 31 * 24 + 12, 24)


def test_days_of_runs_that_were_not_read_count_as_workdays() -> None:
    starts = [n * DAY for n in range(5)]
    # Monday to Friday only, so Saturday and Sunday are off; unless it ran on a Saturday before.
    assert hours(rhythm(*starts, is_truncated=True)) == (7 * 24, 7 * 24 + 12, 17 * 24 + 12, 24)
    saturday = START.date() - timedelta(days=2)
    found = rhythm(*starts, days=[saturday], is_truncated=True)
    assert found is not None
    assert minutes_of(found.at) == 5 * DAY


def test_nominal_times_have_the_rhythm_and_starts_the_lag() -> None:
    nominals = [n * DAY for n in range(6)]
    late = [nominal + 30 for nominal in nominals]
    found = due_by_rhythm(executions(*late, nominals=nominals), [], is_truncated=False)
    # Day 5 is a Saturday, so only Sunday (day 6) is off: due on day 7, half an hour later.
    assert hours(found) == (7 * 24 + 0.5, 7 * 24 + 12.5, 17 * 24 + 12.5, 24)


def test_a_schedule_is_due_at_its_next_time() -> None:
    starts = executions(*(n * DAY + 6 * HOUR + 1 for n in range(6)))
    found = due_by_schedule(SIX, starts)
    # A tenth of a day would be more than the hour that is allowed.
    assert hours(found) == (6 * 24 + 6, 6 * 24 + 7, 16 * 24 + 7, 24)
    assert found is not None
    assert found.source == "schedule"


def test_a_start_shortly_before_a_scheduled_time_is_for_that_time() -> None:
    starts = executions(*(n * DAY + 6 * HOUR - 9 for n in range(6)))
    assert hours(due_by_schedule(SIX, starts)) == (6 * 24 + 6, 6 * 24 + 7, 16 * 24 + 7, 24)


def test_the_grace_of_a_schedule_is_at_least_ten_minutes() -> None:
    hourly = Schedule(interval_seconds=3600)
    starts = executions(*(n * HOUR for n in range(6)))
    assert hours(due_by_schedule(hourly, starts)) == pytest.approx((6, 6 + 1 / 6, 16 + 1 / 6, 1))


def test_a_job_that_does_not_keep_to_its_schedule_is_not_due_by_it() -> None:
    # It runs every second day: no gap ends in time.
    assert due_by_schedule(SIX, executions(*(2 * n * DAY + 6 * HOUR for n in range(6)))) is None
    # Two gaps of the newest five did.
    kept = executions(*(day * DAY + 6 * HOUR for day in (0, 2, 4, 6, 7, 8)))
    found = due_by_schedule(SIX, kept)
    assert found is not None
    assert minutes_of(found.at) == 9 * DAY + 6 * HOUR
    # One is not enough.
    assert due_by_schedule(SIX, executions(*(d * DAY + 360 for d in (0, 2, 4, 6, 8, 9)))) is None
