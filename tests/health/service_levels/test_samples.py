"""Sums of samples over windows, by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.health.service_levels.samples import (
    SLOTS,
    Counts,
    Sample,
    buckets_of,
    by_day,
    counts_since,
    sum_of,
)

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def sample(hour: int, *totals: int, buckets: tuple[float, ...] = ()) -> Sample:
    """Return a sample with one bad part of each slot that has any."""
    slots = [Counts(max(total - 1, 0), total) for total in totals]
    slots += [Counts()] * (SLOTS - len(slots))
    start = NOON + timedelta(hours=hour)
    return Sample("M9", start, start, sum(slots, Counts()), slots=tuple(slots), buckets=buckets)


def test_a_window_takes_the_slots_that_end_in_it() -> None:
    samples = [sample(-1, *[10] * SLOTS), sample(0, 4, 2)]
    now = NOON + timedelta(minutes=7)
    # The slot of 12:05 has begun, that of 12:00 ended within the last five minutes.
    assert counts_since(samples, now - timedelta(minutes=5), now) == Counts(4, 6)
    # From 11:37: the slots that end at 11:40, 11:45, 11:50, 11:55 and 12:00.
    assert counts_since(samples, now - timedelta(minutes=30), now) == Counts(45 + 4, 50 + 6)
    assert counts_since(samples, NOON + timedelta(hours=2), NOON + timedelta(hours=3)) == Counts()


def test_sums() -> None:
    samples = [sample(0, 3, buckets=(1.0, 2.0)), sample(12, 5, buckets=(4.0, 0.0)), sample(13)]
    assert sum_of(samples) == Counts(6, 8)
    assert buckets_of(samples) == [5.0, 2.0]
    assert [len(found) for found in by_day(samples).values()] == [1, 2]


def test_the_bad_share() -> None:
    assert Counts(3, 4).bad_share == 0.25
    assert Counts().bad_share is None
