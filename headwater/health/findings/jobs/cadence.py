"""When the next execution of a job is due, by its schedule or by the rhythm of those before.

A schedule: the next execution is due at the next scheduled time after the newest start, if the job
keeps to its schedule: of the five gaps before, at least two ended in time. The grace is a tenth of
the period, at least ten minutes and at most an hour. A start less than ten minutes, or less than
half a period, before a scheduled time counts as the start for that time.

A rhythm: the job has at least five executions, is known for a day, and four fifths of the newest
ten gaps are within 25 % of their median. Four hours are enough for a job whose gaps are all so
regular; pauses that its history shows later, such as nights, are habits of its first day too. The
times are the nominal ones if all these executions have them, or else the starts. The next execution
is due a median after the newest one; the grace is half the median, and at least ten minutes. Two
habits make it later:

- If the median is shorter than two days, it is not due on a weekday (in UTC) on which the job did
  not run in the four weeks before.
- A pause as long as one before is a habit: the grace lasts until the pause is 25 % longer than the
  second longest before, or the longest if the job is known for less than two weeks. Weekdays
  without runs do not count in a pause.

In both cases a job without an execution for ten periods after the due time has stopped.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median

from headwater.health.findings.jobs.executions import Execution
from headwater.health.findings.jobs.history import Schedule
from headwater.health.findings.jobs.schedule import next_due

EXECUTIONS_MIN = 5
GAPS_MAX = 10
REGULAR_SHARE = 0.8
TOLERANCE = 0.25
GRACE_SHARE = 0.5
GRACE_MIN = timedelta(minutes=10)
KNOWN_MIN = timedelta(days=1)
REGULAR_KNOWN_MIN = timedelta(hours=4)
HABIT_KNOWN_MIN = timedelta(days=14)
WEEKDAYS_WITHIN = timedelta(days=28)
WEEKDAYS_BELOW = timedelta(days=2)
SCHEDULE_GRACE_SHARE = 0.1
SCHEDULE_GRACE_MAX = timedelta(hours=1)
SCHEDULE_GAPS = 5
SCHEDULE_GAPS_KEPT = 2
PERIODS_TO_STOP = 10
_DAY = timedelta(days=1)
_DAYS_OF_WEEK = 7


@dataclass(frozen=True)
class Due:
    """When the next execution is due.

    deadline: when it is missing. stopped: when the job counts as stopped.
    source: schedule or rhythm.
    """

    at: datetime
    deadline: datetime
    stopped: datetime
    period: timedelta
    source: str


def due_by_schedule(schedule: Schedule, executions: Sequence[Execution]) -> Due | None:
    """Return when the next execution is due; None if the job does not keep to its schedule."""
    starts = [one.started for one in executions[-SCHEDULE_GAPS - 1 :]]
    kept = 0
    for start, following in itertools.pairwise(starts):
        due = _scheduled_after(schedule, start)
        kept += due is not None and following <= due.deadline
    return _scheduled_after(schedule, starts[-1]) if kept >= SCHEDULE_GAPS_KEPT else None


def _scheduled_after(schedule: Schedule, start: datetime) -> Due | None:
    times = [start]
    for _ in range(3):
        time = next_due(schedule, times[-1])
        if time is None:
            return None
        times.append(time)
    first, second, third = times[1:]
    if schedule.crons and first - start < min(GRACE_MIN, (second - first) / 2):
        first, second = second, third
    period = second - first
    grace = min(max(GRACE_MIN, period * SCHEDULE_GRACE_SHARE), SCHEDULE_GRACE_MAX)
    stopped = first + PERIODS_TO_STOP * period + grace
    return Due(first, first + grace, stopped, period, "schedule")


def due_by_rhythm(
    executions: Sequence[Execution],
    active_days: Collection[date],
    *,
    is_truncated: bool,
    later_pauses: Sequence[timedelta] | None = None,
) -> Due | None:
    """Return when the next execution is due; None without a rhythm.

    active_days: the days on which the job ran.
    later_pauses: the pauses after the next execution, for a job that is known for less than a day;
      None if less than a day is too short.
    """
    times, lag = _times(executions)
    known = times[-1] - times[0]
    is_new = known < KNOWN_MIN and not is_truncated
    known_min = REGULAR_KNOWN_MIN if later_pauses is not None else KNOWN_MIN
    if len(times) < EXECUTIONS_MIN or (is_new and known < known_min):
        return None
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    period = _regular_gap(gaps[-GAPS_MAX:], share=1.0 if is_new else REGULAR_SHARE)
    if period is None:
        return None
    weekdays = _weekdays(times, active_days) if period < WEEKDAYS_BELOW else frozenset(range(7))
    due = _on_active_days(times[-1], times[-1] + period, weekdays)
    pauses = sorted(
        (
            later - earlier - _days_off(earlier, later, weekdays)
            for earlier, later in itertools.pairwise(times)
        ),
        reverse=True,
    )
    habit = pauses[1] if known >= HABIT_KNOWN_MIN else pauses[0]
    if is_new:
        habit = max([habit, *(later_pauses or ())])
    grace = max(GRACE_MIN, period * GRACE_SHARE, habit * (1 + TOLERANCE) - period)
    deadline = _on_active_days(due, due + grace, weekdays) + lag
    return Due(due + lag, deadline, deadline + PERIODS_TO_STOP * period, period, "rhythm")


def _on_active_days(start: datetime, end: datetime, weekdays: frozenset[int]) -> datetime:
    """Return the end moved by each day after the start on which the job does not run."""
    day = start.date()
    while day < end.date():
        day += _DAY
        if day.weekday() not in weekdays:
            end += _DAY
    return end


def _times(executions: Sequence[Execution]) -> tuple[list[datetime], timedelta]:
    """Return the times that may have a rhythm, and how much later than these the starts are."""
    if any(one.nominal is None for one in executions[-GAPS_MAX - 1 :]):
        return [one.started for one in executions], timedelta()
    nominals = [(one.nominal, one.started) for one in executions if one.nominal is not None]
    lags = [(start - nominal).total_seconds() for nominal, start in nominals[-EXECUTIONS_MIN:]]
    return [nominal for nominal, _ in nominals], timedelta(seconds=median(lags))


def _regular_gap(gaps: Sequence[timedelta], *, share: float) -> timedelta | None:
    """Return the median of the gaps; None if fewer than this share of them are regular."""
    middle = median([gap.total_seconds() for gap in gaps])
    regular = [gap for gap in gaps if abs(gap.total_seconds() - middle) <= TOLERANCE * middle]
    if middle <= 0 or len(regular) < share * len(gaps):
        return None
    return timedelta(seconds=middle)


def _weekdays(times: Sequence[datetime], active_days: Collection[date]) -> frozenset[int]:
    """Return the weekdays, from Monday as 0, on which the job ran in the last weeks."""
    newest = times[-1].date()
    days = {time.date() for time in times} | set(active_days)
    return frozenset(
        day.weekday() for day in days if timedelta() <= newest - day <= WEEKDAYS_WITHIN
    )


def _days_off(earlier: datetime, later: datetime, weekdays: frozenset[int]) -> timedelta:
    """Return the time of the days between two times on whose weekday the job does not run."""
    weeks, rest = divmod((later.date() - earlier.date()).days - 1, _DAYS_OF_WEEK)
    off = max(weeks, 0) * (_DAYS_OF_WEEK - len(weekdays))
    for number in range(1, rest + 1 if weeks >= 0 else 0):
        off += (earlier + number * _DAY).weekday() not in weekdays
    return off * _DAY
