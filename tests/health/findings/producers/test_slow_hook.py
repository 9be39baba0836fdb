"""Days of events, with the episodes of late delivery that follow."""

from __future__ import annotations

import pytest

from headwater.health.findings.producers.slow_hook import detect_slow_hook
from headwater.ingest.producer_days import DayCounts
from tests.health.findings.producers.daily_counts import GOOD, Row, counted, rows


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


def test_the_evidence() -> None:
    [found] = detect_slow_hook(counted(DayCounts(200, late=20), GOOD))
    assert found.resolved_by == "the events of 2026-03-03"
    assert found.evidence == {
        "day": "2026-03-02",
        "days": 1,
        "events": 200,
        "late": 20,
        "lateShare": 0.1,
    }
