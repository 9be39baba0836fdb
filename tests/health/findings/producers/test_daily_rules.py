"""Days of events and of parent runs, with the episodes of clocks, delays and ids that follow."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.clock_skew import detect_clock_skew
from headwater.health.findings.producers.history import DAYS_MAX, ParentRuns, ProducerHistory
from headwater.health.findings.producers.slow_hook import detect_slow_hook
from headwater.health.findings.producers.uncorrelated_ids import detect_uncorrelated_ids
from headwater.ingest.producer_days import DayCounts

FIRST = date(2026, 3, 2)
URN = "producer:p"
GOOD = DayCounts(100)
# An episode: its key, and the numbers of the days on which it began and was resolved.
Row = tuple[str, int, int | None]


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def counted(*days: DayCounts) -> ProducerHistory:
    return ProducerHistory(URN, "p", tuple((day(n), one) for n, one in enumerate(days)))


def rows(episodes: Sequence[Episode]) -> list[Row]:
    return [
        (
            one.key,
            _number(one.first_seen),
            None if one.resolved_at is None else _number(one.resolved_at),
        )
        for one in episodes
    ]


def _number(instant: datetime) -> int:
    assert instant == datetime(instant.year, instant.month, instant.day, tzinfo=UTC)
    return (instant.date() - FIRST).days


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([GOOD, DayCounts(100, behind=51, late=51)], [("2026-03-03", 1, None)]),
        ([GOOD, DayCounts(100, ahead=51), GOOD], [("2026-03-03", 1, 2)]),
        ([DayCounts(100, future=2), GOOD], [("2026-03-02", 0, 1)]),
        # A day with few events tells nothing; two bad days around it are one episode.
        (
            [DayCounts(100, ahead=99), DayCounts(19), DayCounts(100, ahead=99), GOOD],
            [("2026-03-02", 0, 3)],
        ),
        (
            [DayCounts(100, ahead=99), GOOD, DayCounts(100, ahead=99)],
            [("2026-03-02", 0, 1), ("2026-03-04", 2, None)],
        ),
        # It was so before the days that are known.
        ([DayCounts(100, ahead=99)] * DAYS_MAX, [("before", 0, None)]),
        # Half of the events is not the median, and one of a hundred is not too many.
        ([DayCounts(100, behind=50, late=50), DayCounts(100, future=1)], []),
        ([DayCounts(19, ahead=19)], []),
        ([], []),
    ],
)
def test_clock_skew(days: list[DayCounts], expected: list[Row]) -> None:
    assert rows(detect_clock_skew(counted(*days))) == expected


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([GOOD, DayCounts(100, late=6)], [("2026-03-03", 1, None)]),
        ([DayCounts(100, late=6), GOOD], [("2026-03-02", 0, 1)]),
        # The 95th percentile is in time.
        ([DayCounts(100, late=5)], []),
        ([DayCounts(19, late=19)], []),
        # That is the clock.
        ([DayCounts(100, behind=51, late=60)], []),
    ],
)
def test_slow_hook(days: list[DayCounts], expected: list[Row]) -> None:
    assert rows(detect_slow_hook(counted(*days))) == expected


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        # (all, known) of each day.
        ([(20, 17)], [("2026-03-02", 0, None)]),
        ([(20, 17), (20, 18)], [("2026-03-02", 0, 1)]),
        ([(20, 18)], []),
        ([(19, 0)], []),
    ],
)
def test_uncorrelated_ids(parents: list[tuple[int, int]], expected: list[Row]) -> None:
    days = tuple(ParentRuns(day(n), *one, ("run:x",)) for n, one in enumerate(parents))
    assert rows(detect_uncorrelated_ids(ProducerHistory(URN, "p", parents=days))) == expected
    cut = ProducerHistory(URN, "p", parents=days, has_earlier_parents=True)
    keys = ["before" if row[1] == 0 else row[0] for row in expected]
    assert [one.key for one in detect_uncorrelated_ids(cut)] == keys


def test_the_evidence() -> None:
    [found] = detect_clock_skew(counted(GOOD, DayCounts(200, future=4, ahead=150)))
    assert found.id == "finding:clock-skew:producer:p@2026-03-03"
    assert found.evidence == {
        "day": "2026-03-03",
        "days": 1,
        "events": 200,
        "aheadShare": 0.75,
        "behindShare": 0.0,
        "futureShare": 0.02,
    }
    [found] = detect_slow_hook(counted(DayCounts(200, late=20), GOOD))
    assert found.resolved_by == "the events of 2026-03-03"
    assert found.evidence == {
        "day": "2026-03-02",
        "days": 1,
        "events": 200,
        "late": 20,
        "lateShare": 0.1,
    }
    parents = (ParentRuns(day(0), 40, 30, ("run:x",)),)
    [found] = detect_uncorrelated_ids(ProducerHistory(URN, "p", parents=parents))
    assert found.evidence == {
        "day": "2026-03-02",
        "days": 1,
        "parentRuns": 40,
        "known": 30,
        "share": 0.75,
        "unknown": ["run:x"],
    }
