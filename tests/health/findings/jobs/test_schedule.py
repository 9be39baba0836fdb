"""Schedules as Airflow's provider sends them, and the times at which they are due."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.health.findings.jobs.history import Schedule
from headwater.health.findings.jobs.schedule import find_schedule, next_due
from headwater.schema.facts import LwwRegister


def moment(day: int, hour: int = 0, minute: int = 0, *, month: int = 1) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("timetable", "schedule"),
    [
        # As serialised by CronDataIntervalTimetable, CronTriggerTimetable and so on of Airflow 3.
        ({"expression": "0 6 * * *", "timezone": "UTC"}, Schedule(crons=("0 6 * * *",))),
        (
            {"expression": "0 6 * * 1-5", "timezone": "Europe/Berlin", "interval": 0.0},
            Schedule(crons=("0 6 * * 1-5",), timezone="Europe/Berlin"),
        ),
        (
            {"expressions": ["0 6 * * *", "0 9 * * *"], "timezone": "UTC"},
            Schedule(crons=("0 6 * * *", "0 9 * * *")),
        ),
        ({"delta": 10800.0}, Schedule(interval_seconds=10800.0)),
        # A DAG without a schedule, one that runs once, and one that waits for assets.
        ({}, None),
        ({"asset_condition": {"__type": "asset_all"}}, None),
        ({"expression": "every day", "timezone": "UTC"}, None),
        ({"delta": -1.0}, None),
        # Its times would be hours off.
        ({"expression": "0 6 * * *", "timezone": "Middle/Earth"}, None),
        ({"expression": "0 6 * * *", "timezone": 3600}, None),
    ],
)
@pytest.mark.parametrize("facet", ["airflow", "airflowDagRun"])
def test_a_timetable_is_read(
    timetable: dict[str, Any], schedule: Schedule | None, facet: str
) -> None:
    value = json.dumps({"dag": {"dag_id": "shop", "timetable": timetable}})
    assert find_schedule({facet: LwwRegister(1, 1, value)}) == schedule


@pytest.mark.parametrize("value", ["", "{}", '{"dag": null}', '{"dag": {"timetable": "daily"}}'])
def test_other_forms_are_no_schedule(value: str) -> None:
    assert find_schedule({"airflow": LwwRegister(1, 1, value)}) is None


def test_the_next_time_of_a_cron_expression_is_after_the_instant() -> None:
    daily = Schedule(crons=("0 6 * * *",))
    assert next_due(daily, moment(1, 5, 59)) == moment(1, 6)
    assert next_due(daily, moment(1, 6)) == moment(2, 6)
    twice = Schedule(crons=("0 6 * * *", "0 9 * * *"))
    assert next_due(twice, moment(1, 7)) == moment(1, 9)


def test_a_friday_is_followed_by_a_monday() -> None:
    # 2 January 2026 is a Friday.
    assert next_due(Schedule(crons=("0 6 * * 1-5",)), moment(2, 6)) == moment(5, 6)


def test_a_schedule_keeps_to_its_time_zone() -> None:
    # Berlin is an hour ahead of UTC in January, two in July.
    berlin = Schedule(crons=("0 6 * * *",), timezone="Europe/Berlin")
    assert next_due(berlin, moment(1, 6)) == moment(2, 5)
    assert next_due(berlin, moment(1, 6, month=7)) == moment(2, 4, month=7)


def test_an_interval_counts_from_the_instant() -> None:
    assert next_due(Schedule(interval_seconds=10800.0), moment(1, 5)) == moment(1, 8)
