"""Days of new names in a namespace, with the spikes that follow."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from headwater.health.findings.producers.cardinality import detect_cardinality, pattern_of
from headwater.health.findings.producers.history import Growth, NewNames, ProducerHistory

FIRST = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
NOON = timedelta(hours=12)


def growth(counts: dict[int, int], *, known: int = 0) -> ProducerHistory:
    """Return a namespace with so many new datasets on the days of these numbers."""
    days = tuple(
        NewNames(
            (FIRST + number * DAY).date(),
            count,
            FIRST + number * DAY + NOON,
            FIRST + number * DAY + NOON + timedelta(hours=1),
            tuple(f"run_{one}" for one in range(min(count, 5))),
        )
        for number, count in sorted(counts.items())
    )
    found = Growth("dataset", "lake", FIRST + known * DAY, days)
    return ProducerHistory("producer:p", "p", growths=(found,))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # (first day, resolved on day). The mean of the week before is 20.
        (dict.fromkeys(range(7), 20) | {7: 60}, [(7, 8)]),
        ({7: 50}, [(7, 8)]),
        ({7: 500, 8: 2000}, [(7, 9)]),
        ({7: 500, 9: 2000}, [(7, 8), (9, 10)]),
        # The second day is no spike: three times the mean of the week before is 214.
        ({7: 500, 8: 200}, [(7, 8)]),
        # Fewer than three times as many, fewer than 50, and a namespace of four days.
        (dict.fromkeys(range(7), 20) | {7: 59}, []),
        ({7: 49}, []),
        ({0: 1, 4: 500}, []),
    ],
)
def test_spikes(counts: dict[int, int], expected: list[tuple[int, int]]) -> None:
    found = detect_cardinality(growth(counts), FIRST + 30 * DAY)
    assert [
        ((one.first_seen - NOON - FIRST) / DAY, (one.resolved_at - FIRST) / DAY)
        for one in found
        if one.resolved_at is not None
    ] == expected
    assert len(found) == len(expected)


def test_a_spike_ends_after_a_whole_day_without_one() -> None:
    history = growth({7: 60})
    [found] = detect_cardinality(history, FIRST + 8 * DAY + NOON)
    assert (found.resolved_at, found.resolved_by) == (None, None)
    [found] = detect_cardinality(history, FIRST + 9 * DAY)
    assert found.resolved_at == FIRST + 8 * DAY


def test_the_evidence_has_the_pattern() -> None:
    [found] = detect_cardinality(growth({7: 60}), FIRST + 9 * DAY)
    assert found.id == "finding:cardinality:producer:p@dataset:lake:2026-03-08"
    assert found.evidence == {
        "kind": "dataset",
        "namespace": "lake",
        "day": date(2026, 3, 8).isoformat(),
        "new": 60,
        "meanBefore": 0.0,
        "pattern": "run_<number>",
        "examples": ["run_0", "run_1", "run_2"],
    }


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("orders", "orders"),
        ("orders_17", "orders_<number>"),
        ("/lake/day=2026-03-01/part", "/lake/day=<date>/part"),
        ("/logs/2026/03/01", "/logs/<date>"),
        ("tmp_0198c2f4-7f0a-7000-8000-000000000001", "tmp_<uuid>"),
        ("model.9f86d081884c", "model.<hex>"),
        ("facade", "facade"),
        ("g1a2b3c4d5_x9f86d081884c", "g<hex>_x<hex>"),
        # Each letter was the start of another attempt.
        ("a" * 200_000, "a" * 200_000),
    ],
)
def test_patterns(name: str, pattern: str) -> None:
    assert pattern_of(name) == pattern
