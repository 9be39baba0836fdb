"""Days of events, with the episodes of a wrong clock that follow."""

from __future__ import annotations

import pytest

from headwater.health.findings.producers.clock_skew import detect_clock_skew
from headwater.health.findings.producers.history import DAYS_MAX
from headwater.ingest.producer_days import DayCounts
from tests.health.findings.producers.daily_counts import GOOD, Row, counted, rows


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
