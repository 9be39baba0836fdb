"""The schedule of a job, from the facets that Airflow's provider sends with each run, and the times
at which it is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from headwater.health.findings.jobs.history import Schedule
from headwater.schema.facets.kinds import salvage
from headwater.schema.facets.run import AirflowState, AirflowTimetable
from headwater.schema.facts import Registers

# A task sends the first, a DAG run the second.
_FACETS = ("airflowDagRun", "airflow")


def find_schedule(facets: Registers) -> Schedule | None:
    """Return the schedule in the facets of a run; None without a readable one.

    A cron expression in an unknown time zone is none: its times would be hours off.
    """
    for name in _FACETS:
        register = facets.get(name)
        state = salvage(AirflowState, register.value) if register and register.value else None
        if state is not None and state.dag is not None and state.dag.timetable is not None:
            return _of_timetable(state.dag.timetable)
    return None


def _of_timetable(timetable: AirflowTimetable) -> Schedule | None:
    single = [timetable.expression] if timetable.expression else []
    crons = tuple(one for one in (*single, *(timetable.expressions or ())) if _is_cron(one))
    if crons:
        zone = timetable.timezone or ""
        return Schedule(crons=crons, timezone=zone) if _timezone(zone) else None
    if timetable.delta is not None and timetable.delta > 0:
        return Schedule(interval_seconds=timetable.delta)
    return None


def _is_cron(expression: str) -> bool:
    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError:
        return False
    return True


def next_due(schedule: Schedule, after: datetime) -> datetime | None:
    """Return the first scheduled time after an instant, in UTC; None if there is none."""
    if not schedule.crons:
        return after + timedelta(seconds=schedule.interval_seconds)
    local = after.astimezone(_timezone(schedule.timezone))
    times = (next(CronSim(cron, local), None) for cron in schedule.crons)
    return min((time.astimezone(UTC) for time in times if time is not None), default=None)


def _timezone(name: str) -> tzinfo | None:
    """Return a time zone; None if this machine does not know it."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return None
