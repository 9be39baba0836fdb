"""Histories of starts, with the episodes of missing runs that follow. Day 0 is a Monday."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from headwater.health.findings.jobs.history import JobHistory, RunFact, Schedule
from headwater.health.findings.jobs.missing_run import detect_missing_runs
from tests.health.findings.jobs.builders import DAY, Row, daily, job, moment, rows, run

HOUR = 60
SIX = Schedule(crons=("0 6 * * *",))
WORKDAYS = Schedule(crons=("0 6 * * 1-5",))
# Every day at 06:00:20, as a scheduler starts what is due at 06:00.
CRON = [run(f"d{day}", day * DAY + 6 * HOUR + 1 / 3) for day in range(8)]


def starts(*minutes: float) -> list[RunFact]:
    return [run(f"m{minute:g}", minute) for minute in minutes]


def episodes(history: JobHistory, minute: float) -> list[Row]:
    return rows(detect_missing_runs(history, moment(minute)))


# Two weeks of an hourly job; of one that runs each half hour from 9 to 17 o'clock on workdays; and
# of one on workdays.
HOURLY = starts(*range(0, 14 * DAY, HOUR))
OFFICE = starts(
    *(
        day * DAY + minute
        for day in range(21)
        if day % 7 < 5
        for minute in range(9 * HOUR, 17 * HOUR + 1, 30)
    )
)
WEEKDAYS = starts(*(day * DAY for day in range(21) if day % 7 < 5))


def test_a_daily_run_is_missing_half_a_day_later() -> None:
    history = job(daily(10))
    due = ("run:d9", 10 * DAY)
    assert episodes(history, 10 * DAY + 12 * HOUR) == []
    assert episodes(history, 10 * DAY + 12 * HOUR + 1) == [(*due, None, None)]
    # Ten days after the deadline it has stopped.
    assert episodes(history, 20 * DAY + 12 * HOUR - 1) == [(*due, None, None)]
    assert episodes(history, 30 * DAY) == [(*due, 20 * DAY + 12 * HOUR, "stopped")]


def test_the_next_start_ends_it() -> None:
    history = job([*daily(10), run("late", 10 * DAY + 18 * HOUR)])
    assert episodes(history, 10 * DAY + 20 * HOUR) == [
        ("run:d9", 10 * DAY, 10 * DAY + 18 * HOUR, "run:late")
    ]
    stopped = job([*daily(10), run("back", 40 * DAY)])
    assert episodes(stopped, 40 * DAY) == [("run:d9", 10 * DAY, 20 * DAY + 12 * HOUR, "stopped")]


def test_a_failed_run_has_started() -> None:
    history = job([*daily(10), run("failed", 10 * DAY, "FAIL")])
    assert episodes(history, 11 * DAY - 1) == []


def test_an_hourly_run_is_missing_after_half_an_hour() -> None:
    end = 14 * DAY
    assert episodes(job(HOURLY), end + 30) == []
    assert episodes(job(HOURLY), end + 31) == [(f"run:m{end - HOUR}", end, None, None)]


def test_a_run_each_five_minutes_has_a_grace_of_ten() -> None:
    end = 14 * DAY
    days = tuple((moment(0) + timedelta(days=day)).date() for day in range(14))
    history = job(starts(*range(end - 1000, end, 5)), is_truncated=True, active_days=days)
    assert episodes(history, end + 10) == []
    assert episodes(history, end + 11) == [(f"run:m{end - 5}", end, None, None)]


def test_a_new_hourly_job_is_known_after_four_hours() -> None:
    eight = starts(*range(0, 8 * HOUR, HOUR))
    assert episodes(job(eight), 8 * HOUR + 30) == []
    assert episodes(job(eight), 8 * HOUR + 31) == [(f"run:m{7 * HOUR}", 8 * HOUR, None, None)]
    late = run("late", 11 * HOUR)
    assert episodes(job([*eight, late]), 11 * HOUR) == [
        (f"run:m{7 * HOUR}", 8 * HOUR, 11 * HOUR, "run:late")
    ]
    assert episodes(job(starts(*range(0, 4 * HOUR, HOUR))), 8 * HOUR) == []


def test_the_first_night_of_a_new_job_is_none_once_it_has_nights() -> None:
    tuesday = [one for one in OFFICE if one.started < moment(2 * DAY)]
    night = (f"run:m{17 * HOUR}", 17 * HOUR + 30)
    history = job(one for one in tuesday if one.started < moment(DAY + 10 * HOUR))
    assert [one[:2] for one in episodes(history, DAY + 9 * HOUR + 30)] == [night]
    wednesday = [one for one in OFFICE if one.started < moment(2 * DAY + 10 * HOUR)]
    assert episodes(job(wednesday), 2 * DAY + 9 * HOUR + 30) == []


def test_one_late_run_does_not_hide_the_next() -> None:
    history = job([*daily(10), *daily(5, first=11)])
    assert episodes(history, 15 * DAY + 13 * HOUR + 12 * HOUR)[0][:3] == (
        "run:d9",
        10 * DAY,
        11 * DAY,
    )
    later = job([*daily(10), *daily(5, first=11), run("back", 17 * DAY)])
    assert [one[1] for one in episodes(later, 17 * DAY)] == [10 * DAY, 16 * DAY]


@pytest.mark.parametrize("instant", [19 * DAY, 20 * DAY + 23 * HOUR, 21 * DAY + 11 * HOUR])
def test_a_job_of_workdays_is_not_missing_at_the_weekend(instant: int) -> None:
    """Day 18 is a Friday: days 19 and 20 are a weekend, and Monday's run has until noon."""
    assert episodes(job(WEEKDAYS), instant) == []
    assert episodes(job(WEEKDAYS), 21 * DAY + 12 * HOUR + 1)[0][1:] == (21 * DAY, None, None)


def test_a_job_of_workdays_is_missing_on_a_tuesday() -> None:
    runs = [*WEEKDAYS, run("monday", 21 * DAY)]
    assert episodes(job(runs), 22 * DAY + 12 * HOUR + 1)[0][:2] == ("run:monday", 22 * DAY)


def test_the_first_weekend_of_a_new_job_is_none() -> None:
    history = job(daily(5))
    assert episodes(history, 6 * DAY + 23 * HOUR) == []
    assert episodes(history, 7 * DAY + 13 * HOUR)[0][1] == 7 * DAY


@pytest.mark.parametrize("hours", [4, 12, 16, 19])
def test_a_pause_overnight_is_a_habit(hours: int) -> None:
    """From 17:00 to 09:00 are 16 hours: after 25 % more the run of the morning is missing."""
    thursday = [one for one in OFFICE if one.started < moment(18 * DAY)]
    assert episodes(job(thursday), 17 * DAY + (17 + hours) * HOUR) == []
    assert len(episodes(job(thursday), 17 * DAY + (17 + 21) * HOUR)) == 1


def test_a_weekend_of_a_job_with_nights_is_none() -> None:
    assert episodes(job(OFFICE), 21 * DAY + 12 * HOUR) == []
    assert len(episodes(job(OFFICE), 21 * DAY + 14 * HOUR)) == 1


@pytest.mark.parametrize(
    "runs",
    [
        daily(4),
        # Known for less than a day.
        starts(0, 5, 10, 15, 20, 25, 30),
        # Now and then.
        starts(0, 6 * HOUR, 3 * DAY, 10 * DAY, 11 * DAY, 22 * DAY),
        # A loop in one application, once.
        [run(f"l{n}", n, execution="run:app") for n in range(30)],
    ],
)
def test_no_rhythm(runs: list[RunFact]) -> None:
    for minute in (1 * DAY, 12 * DAY, 30 * DAY):
        assert episodes(job(runs), runs[-1].started.minute + minute) == []


@pytest.mark.parametrize(
    "more",
    [
        {"is_streaming": True},
        {"is_contained": True},
        {"deleted_at": moment(10 * DAY)},
        {"deprecated_at": moment(10 * DAY)},
    ],
)
def test_jobs_that_are_not_examined(more: dict[str, object]) -> None:
    assert episodes(job(daily(10), **more), 12 * DAY) == []


def test_retries_are_no_further_executions() -> None:
    """Three tries a night are one execution: the next one is due a day after the first try."""
    tries = [
        run(f"d{day}t{number}", day * DAY + 10 * number, nominal=day * DAY)
        for day in range(8)
        for number in range(3)
    ]
    assert episodes(job(tries), 8 * DAY + 12 * HOUR + 1) == [("run:d7t0", 8 * DAY, None, None)]


def test_a_backfill_shows_no_rhythm_and_ends_nothing() -> None:
    """Day after day was run at midnight for the day before; then a burst runs old days."""
    nightly = [run(f"d{day}", day * DAY, nominal=(day - 1) * DAY) for day in range(10)]
    burst = [run(f"b{n}", 9 * DAY + 60 + 5 * n, nominal=(n - 50) * DAY) for n in range(30)]
    history = job([*nightly, *burst])
    assert episodes(history, 9 * DAY + 5 * HOUR) == []
    assert episodes(history, 10 * DAY + 13 * HOUR) == [("run:d9", 10 * DAY, None, None)]


def test_a_schedule_is_due_at_its_time() -> None:
    history = job(CRON, schedule=SIX)
    due = 8 * DAY + 6 * HOUR
    # The grace of a daily schedule is an hour.
    assert episodes(history, due + HOUR) == []
    assert episodes(history, due + HOUR + 1) == [("run:d7", due, None, None)]
    ended = job([*CRON, run("late", due + 90)], schedule=SIX)
    assert episodes(ended, due + 100) == [("run:d7", due, due + 90, "run:late")]


def test_a_schedule_of_workdays() -> None:
    """Day 4 is a Friday."""
    history = job(CRON[:5], schedule=WORKDAYS)
    assert episodes(history, 7 * DAY + 6 * HOUR) == []
    assert episodes(history, 7 * DAY + 8 * HOUR)[0][1] == 7 * DAY + 6 * HOUR


def test_a_clock_that_is_a_little_early_starts_the_run_of_that_time() -> None:
    early = [run(f"d{day}", day * DAY + 6 * HOUR - 1) for day in range(8)]
    assert episodes(job(early, schedule=SIX), 7 * DAY + 8 * HOUR) == []


def test_a_schedule_that_the_job_does_not_keep_to_is_none() -> None:
    """The schedule became hourly with the newest run; the days before it were no misses."""
    hourly = Schedule(crons=("0 * * * *",))
    assert episodes(job(CRON, schedule=hourly), 8 * DAY) == []


def test_an_interval_counts_from_the_start() -> None:
    """The grace of three hours is a tenth of them: 18 minutes."""
    runs = starts(*range(0, 2 * DAY, 3 * HOUR))
    history = job(runs, schedule=Schedule(interval_seconds=3 * 3600))
    assert episodes(history, 2 * DAY + 18) == []
    assert episodes(history, 2 * DAY + 19)[0][1] == 2 * DAY


def test_summer_time_moves_the_due_time() -> None:
    """29 March 2026, day 27: 06:00 in Berlin is 05:00 UTC before, and 04:00 after."""
    schedule = Schedule(crons=("0 6 * * *",), timezone="Europe/Berlin")
    runs = starts(*(day * DAY + 5 * HOUR for day in range(20, 27)))
    assert episodes(job(runs, schedule=schedule), 27 * DAY + 6 * HOUR)[0][1] == 27 * DAY + 4 * HOUR


def test_a_cut_history_gives_the_same_as_a_whole_one() -> None:
    """One hour is missing; the window of 200 runs moves on, and the episode stays as it is."""
    runs = [one for one in HOURLY if one.started != moment(13 * DAY)]
    days = tuple((moment(0) + timedelta(days=day)).date() for day in range(14))
    expected = episodes(job(runs), 14 * DAY)
    assert [one[1] for one in expected] == [13 * DAY]
    for cut in (200, 190, 150):
        history = job(runs[-cut:], is_truncated=True, active_days=days)
        assert episodes(history, 14 * DAY) == expected


def test_the_evidence() -> None:
    [found] = detect_missing_runs(job(daily(10)), moment(11 * DAY))
    assert found.id == "finding:missing-run:job:etl:load@run:d9"
    assert found.first_seen == found.last_seen == moment(10 * DAY)
    assert found.evidence == {
        "lastRun": "run:d9",
        "lastStart": "2026-03-11T00:00:00Z",
        "due": "2026-03-12T00:00:00Z",
        "deadline": "2026-03-12T12:00:00Z",
        "periodSeconds": 86400,
        "source": "rhythm",
    }
    scheduled = replace(job(CRON), schedule=SIX)
    [found] = detect_missing_runs(scheduled, moment(9 * DAY))
    assert found.evidence["source"] == "schedule"
