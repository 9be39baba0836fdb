"""Histories of durations, with the episodes that follow. An ordinary run takes 10 minutes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headwater.health.findings.jobs.duration import detect_durations
from headwater.health.findings.jobs.history import JobHistory, ParentFact, RunFact
from tests.health.findings.jobs.builders import DAY, Row, daily, job, moment, rows, run

# With the mean 10 and no deviation, the limit is 15 minutes.
TEN = daily(10, minutes=10)
# 8, 12, 8, 12, ...: the mean is 10, the standard deviation of a sample 2.108.
VARIED = [replace(one, ended=moment(n * DAY + 8 + 4 * (n % 2))) for n, one in enumerate(TEN)]
# Days 10, 11 and 12 are a Thursday, a Friday and a Saturday.
SLOW = run("slow", 10 * DAY, minutes=20)
NEXT = run("next", 11 * DAY, minutes=10)
# Each run half an hour after the last, so that no weekday has another run.
HOURS = [run(f"h{n}", 30 * n, minutes=10) for n in range(10)]


def episodes(history: JobHistory, minute: float = 20 * DAY) -> list[Row]:
    return rows(detect_durations(history, moment(minute)))


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([*TEN, SLOW], [("run:slow", 10 * DAY + 15, None, None)]),
        ([*TEN, SLOW, NEXT], [("run:slow", 10 * DAY + 15, 11 * DAY + 10, "run:next")]),
        # The limit is that of the mean: 15 is more than 10 + 2 * 2.108.
        ([*VARIED, SLOW], [("run:slow", 10 * DAY + 15, None, None)]),
        # A second slow run belongs to the first: 20 is over the limit of 10.9 + 2 * 3.02 = 16.9.
        (
            [*TEN, SLOW, run("slow2", 11 * DAY, minutes=20), run("ok", 12 * DAY, minutes=10)],
            [("run:slow", 10 * DAY + 15, 12 * DAY + 10, "run:ok")],
        ),
        # A slow run that fails is over.
        (
            [*TEN, run("slow", 10 * DAY, "FAIL", minutes=20)],
            [("run:slow", 10 * DAY + 15, 10 * DAY + 20, "run:slow")],
        ),
        # Under way for more than 15 minutes.
        ([*TEN, run("now", 20 * DAY - 16, "RUNNING")], [("run:now", 20 * DAY - 1, None, None)]),
        # Its end was not reported; the next success shows that it is over.
        (
            [*TEN, run("lost", 10 * DAY, "RUNNING"), NEXT],
            [("run:lost", 10 * DAY + 15, 11 * DAY + 10, "run:next")],
        ),
        # Five runs are enough.
        ([*TEN[:5], SLOW], [("run:slow", 10 * DAY + 15, None, None)]),
    ],
)
def test_slow_runs(runs: list[RunFact], expected: list[Row]) -> None:
    assert episodes(job(runs)) == expected


@pytest.mark.parametrize(
    "runs",
    [
        [*TEN, NEXT],
        [*TEN, run("not half as long again", 10 * DAY, minutes=15)],
        # The deviation is 30.6: up to 101 minutes are usual.
        [
            *[replace(one, ended=moment(n * DAY + 10 + 60 * (n % 2))) for n, one in enumerate(TEN)],
            run("as varied as ever", 10 * DAY, minutes=100),
        ],
        [*TEN[:4], SLOW],
        [*TEN, run("not yet", 20 * DAY - 14, "RUNNING")],
        [*TEN, run("abandoned", 10 * DAY, "ABANDONED", minutes=600)],
        # A full load on each Monday.
        [run("m0", 0, minutes=30), *TEN[1:7], run("m1", 7 * DAY, minutes=30), *TEN[8:]],
        # Its end was not reported either, but the next run ended 12 minutes after its start.
        [*HOURS, run("lost", 300, "RUNNING"), run("n", 302, minutes=10)],
        # Runs without datasets, and within a task that names datasets itself.
        [replace(one, reads=(), writes=()) for one in (*TEN, SLOW)],
        [replace(one, parent=ParentFact("COMPLETE", reads=("x",))) for one in (*TEN, SLOW)],
    ],
)
def test_no_slow_runs(runs: list[RunFact]) -> None:
    assert episodes(job(runs)) == []


def test_seconds_more_do_not_count() -> None:
    """50 seconds instead of 10 are five times as long, and nobody waits for them."""
    short = [*daily(10, minutes=1 / 6), run("slow", 10 * DAY, minutes=5 / 6)]
    assert episodes(job(short)) == []


def test_a_stream_has_no_duration() -> None:
    assert episodes(job([*TEN, SLOW], is_streaming=True)) == []


def test_an_instance_that_hangs_is_seen_beside_others_that_end() -> None:
    """Three instances of a mapped task start together; the first does not end."""
    now = [run("hangs", 300, "RUNNING", nominal=300, index=0)]
    now += [run(f"ok{n}", 300, minutes=10, nominal=300, index=n) for n in (1, 2)]
    assert episodes(job([*HOURS, *now]), 314) == []
    assert episodes(job([*HOURS, *now]), 316) == [("run:hangs", 315, None, None)]


def test_the_beginning_of_a_cut_history_is_unknown() -> None:
    """Without the earlier runs, nobody knows which run the episode began with."""
    runs = [*TEN, SLOW, NEXT, run("slow2", 12 * DAY, minutes=25)]
    assert [one[0] for one in episodes(job(runs, is_truncated=True))] == ["run:slow2"]


def test_the_evidence() -> None:
    [found] = detect_durations(job([*TEN, SLOW]), moment(20 * DAY))
    assert found.last_seen == moment(10 * DAY + 20)
    assert found.evidence == {
        "run": "run:slow",
        "isRunning": False,
        "seconds": 1200.0,
        "mean": 600.0,
        "deviation": 0.0,
        "limit": 900.0,
        "slowRuns": 1,
    }
