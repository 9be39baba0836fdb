"""Data that is late, by a rhythm or by a promise, and data that is not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from headwater.health.findings.datasets.history import Producer, Version
from headwater.health.findings.datasets.stale import detect_stale
from tests.health.findings.datasets.histories import day, history, version

LOAD = (Producer("job:etl:load", day(-1)),)
STREAM = (Producer("job:etl:load", day(-1), is_streaming=True),)
RETIRED = (Producer("job:etl:load", day(-1), is_retired=True),)
FRESH = ("freshness=24h",)


def written(*days: float, **more: Any) -> tuple[Version, ...]:
    return tuple(version(number, **more) for number in days)


def late(number: float, **more: Any) -> list[tuple[str, datetime, datetime | None, str | None]]:
    content: dict[str, Any] = {"producers": LOAD, **more}
    found = detect_stale(history(**content), day(number))
    return [(one.rule, one.first_seen, one.resolved_at, one.resolved_by) for one in found]


def test_a_daily_dataset_is_late_after_half_a_day() -> None:
    daily = written(*range(7))
    assert late(7.5, versions=daily) == []
    assert late(7.6, versions=daily) == [("stale-dataset", day(7), None, None)]


def test_it_ends_with_the_next_version() -> None:
    found = late(30, versions=written(*range(7), 9, *range(10, 31)))
    assert found == [("stale-dataset", day(7), day(9), "artifact:db:orders:9")]


def test_it_ends_when_the_dataset_counts_as_stopped() -> None:
    [(_, _, end, by)] = late(60, versions=written(*range(7)))
    assert (end, by) == (day(17.5), "stopped")


@pytest.mark.parametrize(
    "more",
    [
        {"versions": written(0, 1, 5, 6, 13, 14, 15)},  # no rhythm
        {"versions": written(0, 1, 2)},  # too young
        {"versions": written(*range(7)), "producers": STREAM},
        {"versions": written(*range(7)), "producers": RETIRED},
        {"versions": written(*range(7)), "producers": ()},
        {"versions": written(*range(7)), "dropped_at": day(7)},
        {"versions": written(*range(7)), "deprecated_at": day(7)},
        {"versions": written(*(number for number in range(26) if number % 7 < 5))},  # a weekend
    ],
)
def test_nothing_is_late(more: dict[str, Any]) -> None:
    newest = 27 if len(more["versions"]) > 10 else 9
    assert late(newest, **more) == []


def test_a_promise_has_no_grace_and_needs_no_rhythm() -> None:
    once = written(0)
    assert late(1, versions=once, tags=FRESH) == []
    assert late(1.1, versions=once, tags=FRESH) == [("stale-dataset", day(1), None, None)]
    twice = late(3.5, versions=written(0, 3), tags=FRESH)
    assert twice == [("stale-dataset", day(1), day(3), "artifact:db:orders:3")]
    assert late(9, versions=once, tags=("freshness=soon",)) == []


def test_a_promise_holds_while_the_last_writer_writes_other_datasets() -> None:
    gone: dict[str, Any] = {"versions": written(0), "tags": FRESH, "producers": ()}
    assert late(2, **gone, former_producers=LOAD) == [("stale-dataset", day(1), None, None)]
    # It was moved to another job, is written by a stream, or somebody retired its job.
    assert late(2, **gone) == []
    assert late(2, **gone, former_producers=(Producer("job:etl:other", day(-1)),)) == []
    assert late(2, **gone, former_producers=STREAM) == []
    assert late(2, **gone, former_producers=RETIRED) == []
    # Without a promise it may just be written no longer.
    weeks = written(*range(7))
    assert late(9, versions=weeks, producers=(), former_producers=LOAD) == []


@pytest.mark.parametrize(
    ("updates", "tags", "expected"),
    [
        (range(7), (), [day(7)]),
        (range(8), (), []),
        ((0,), FRESH, [day(1)]),
        ((8,), FRESH, []),
        ((), FRESH, []),  # nothing is known of its data
        ((0,), (), []),
    ],
)
def test_sources(updates: Sequence[float], tags: tuple[str, ...], expected: list[datetime]) -> None:
    times = tuple(day(number) for number in updates)
    found = late(8.4, updates=times, tags=tags, producers=())
    assert [(rule, first) for rule, first, _, _ in found] == [
        ("stale-source", first) for first in expected
    ]


def test_a_finding_is_named_by_the_data_before() -> None:
    [found] = detect_stale(history(updates=(day(0),), tags=FRESH), day(2))
    assert found.key == "2026-01-05T06:00:00Z"
    assert found.evidence == {
        "last": "captured 2026-01-05T06:00:00Z",
        "lastAt": "2026-01-05T06:00:00Z",
        "due": "2026-01-06T06:00:00Z",
        "periodSeconds": 86400,
        "source": "tag",
    }
