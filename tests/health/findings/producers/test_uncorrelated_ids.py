"""Days of parent runs, with the episodes of ids that match nothing."""

from __future__ import annotations

import pytest

from headwater.health.findings.producers.history import ParentRuns, ProducerHistory
from headwater.health.findings.producers.uncorrelated_ids import detect_uncorrelated_ids
from tests.health.findings.producers.daily_counts import URN, Row, day, rows


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
