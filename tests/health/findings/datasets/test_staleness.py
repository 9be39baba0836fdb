"""When data was due, as windows; the rules that use them have their own tests."""

from __future__ import annotations

from headwater.health.findings.datasets.history import Producer
from headwater.health.findings.datasets.staleness import iso, stale_windows
from tests.health.findings.datasets.histories import day, history, version

LOAD = (Producer("job:etl:load", day(-1)),)


def test_the_shortest_promise_counts() -> None:
    given = history(versions=(version(0),), producers=LOAD, tags=("freshness=7d", "Freshness=36h"))
    [window] = stale_windows(given, day(2))
    assert (window.due, window.source, window.ended_at) == (day(1.5), "tag", None)


def test_each_late_version_is_a_window() -> None:
    given = history(
        versions=tuple(version(number) for number in (0, 1, 4, 5, 8)),
        producers=LOAD,
        tags=("freshness=2d",),
    )
    windows = stale_windows(given, day(9))
    assert [(one.due, one.ended_at) for one in windows] == [(day(3), day(4)), (day(7), day(8))]


def test_times_as_text() -> None:
    assert iso(day(0)) == "2026-01-05T06:00:00Z"
