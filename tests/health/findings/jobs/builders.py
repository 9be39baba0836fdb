"""Histories of jobs in a few words, for detectors. Times are minutes after START."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.health.findings.jobs.history import JobHistory, OutputFact, RunFact
from headwater.health.findings.models import Episode

# An episode: its key, when it was first seen, when it was resolved, and by what.
Row = tuple[str, float, float | None, str | None]
# A Monday.
START = datetime(2026, 3, 2, tzinfo=UTC)
DAY = 24 * 60
JOB = "job:etl:load"
OUT = OutputFact("dataset:db:out", readers=("job:etl:report",))


def moment(minute: float) -> datetime:
    return START + timedelta(minutes=minute)


def run(
    name: str,
    minute: float,
    status: str = "COMPLETE",
    *,
    minutes: float = 5,
    reads: Sequence[str] = ("raw",),
    writes: Sequence[str] = ("out",),
    nominal: float | None = None,
    index: int | None = None,
    **more: Any,
) -> RunFact:
    """Return a run; `nominal` and `index` give it a slot, as Airflow's mapped tasks have."""
    slot = None
    if nominal is not None:
        slot = f"{JOB}@{nominal}" + ("" if index is None else f"#{index}")
    return RunFact(
        urn=f"run:{name}",
        status=status,
        started=moment(minute),
        ended=None if status == "RUNNING" else moment(minute + minutes),
        reads=tuple(f"dataset:db:{one}" for one in reads),
        writes=tuple(f"dataset:db:{one}" for one in writes),
        nominal_start=None if nominal is None else moment(nominal),
        slot=slot,
        **more,
    )


def daily(count: int, first: int = 0, **more: Any) -> list[RunFact]:
    """Return complete runs at midnight of so many days, named after the day."""
    return [run(f"d{day}", day * DAY, **more) for day in range(first, first + count)]


def job(runs: Iterable[RunFact], **more: Any) -> JobHistory:
    ordered = sorted(runs, key=lambda one: (one.started, one.urn))
    found = JobHistory(JOB, "etl", "load", runs=tuple(ordered), outputs=(OUT,))
    return replace(found, **more)


def rows(episodes: Iterable[Episode]) -> list[Row]:
    """Return the episodes as rows, with times in minutes."""
    return [
        (
            one.key,
            minutes_of(one.first_seen),
            None if one.resolved_at is None else minutes_of(one.resolved_at),
            one.resolved_by,
        )
        for one in episodes
    ]


def minutes_of(instant: datetime) -> float:
    return (instant - START).total_seconds() / 60
