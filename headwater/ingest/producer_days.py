"""Counts of one producer's events by the day of their receipt, for findings about its clock.

An event is delayed by the time from its own time to its receipt. Events that are delayed by more
than a day are imports of a history, and show nothing about a clock: they are not counted. `join`
is associative and commutative. The newest 30 days stay.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

SECOND = 1_000_000
DAY = 86_400 * SECOND
DAYS_MAX = 30
# Longer than this, a clock is wrong: five minutes, the limit of Kerberos (RFC 4120, 5.4.1) too.
SKEW = 300 * SECOND
# Seed 2, L254 (M5): P95 of the latency of ingestion is below 60 seconds.
LATE = 60 * SECOND


class DayCounts(msgspec.Struct, array_like=True, frozen=True):
    """The events received on one day, without those delayed by more than a day.

    future: the events dated after their receipt by more than the limit of the API.
    ahead, behind: the events of a clock that is more than five minutes ahead or behind.
    late: the events delayed by more than a minute.
    """

    events: int = 0
    future: int = 0
    ahead: int = 0
    behind: int = 0
    late: int = 0


# By the number of the day since 1970, in UTC.
Days = dict[int, DayCounts]


def count_day(received: int, delay: int, *, is_future: bool) -> Days:
    """Return the counts of one event; `received` and `delay` are in microseconds."""
    if delay > DAY:
        return {}
    counts = DayCounts(1, int(is_future), int(delay < -SKEW), int(delay > SKEW), int(delay > LATE))
    return {received // DAY: counts}


def join_days(a: Mapping[int, DayCounts], b: Mapping[int, DayCounts]) -> Days:
    """Return the sums of both, of the newest days."""
    joined = dict(a)
    for day, counts in b.items():
        before = joined.get(day)
        joined[day] = counts if before is None else _add(before, counts)
    return {day: joined[day] for day in sorted(joined)[-DAYS_MAX:]}


def _add(a: DayCounts, b: DayCounts) -> DayCounts:
    return DayCounts(
        a.events + b.events,
        a.future + b.future,
        a.ahead + b.ahead,
        a.behind + b.behind,
        a.late + b.late,
    )
