"""Counts of events by the day of their receipt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.producer_days import (
    DAY,
    DAYS_MAX,
    SECOND,
    DayCounts,
    Days,
    count_day,
    join_days,
)

RECEIVED = 20_000 * DAY + 7 * SECOND


def counted(delay_seconds: float, *, is_future: bool = False) -> Days:
    return count_day(RECEIVED, round(delay_seconds * SECOND), is_future=is_future)


def test_an_event_is_counted_by_its_delay() -> None:
    assert counted(60) == {20_000: DayCounts(1)}
    assert counted(61) == {20_000: DayCounts(1, late=1)}
    assert counted(301) == {20_000: DayCounts(1, behind=1, late=1)}
    assert counted(-300) == {20_000: DayCounts(1)}
    assert counted(-301, is_future=True) == {20_000: DayCounts(1, future=1, ahead=1)}


def test_an_imported_event_is_not_counted() -> None:
    assert counted(86_400) == {20_000: DayCounts(1, behind=1, late=1)}
    assert counted(86_401) == {}


days = st.dictionaries(
    st.integers(0, 2 * DAYS_MAX), st.builds(DayCounts, *[st.integers(0, 9)] * 5), max_size=DAYS_MAX
)


@given(days, days, days)
def test_a_join_adds_in_any_order_and_keeps_the_newest_days(a: Days, b: Days, c: Days) -> None:
    assert join_days(a, b) == join_days(b, a)
    joined = join_days(join_days(a, b), c)
    assert joined == join_days(a, join_days(b, c))
    assert list(joined) == sorted({*a, *b, *c})[-DAYS_MAX:]
    for day, counts in joined.items():
        assert counts.events == sum(one[day].events for one in (a, b, c) if day in one)
