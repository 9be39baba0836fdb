"""What each service level of the graph counts, for one caller: hidden nodes are not counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from headwater.health.service_levels.definitions import (
    DATASET_FIELDS,
    IMPACT_SECONDS,
    JOB_FIELDS,
    PROBLEM_RULES,
    ROOT_CAUSE_SECONDS,
)
from headwater.health.service_levels.samples import SECONDS_MAX, Counts
from headwater.lineage.questions.coverage import share
from headwater.lineage.view import GraphView

FINDINGS_MAX = 10_000


@dataclass(frozen=True)
class Measure:
    """The value of a level, and the good parts of all parts; None if there is nothing to measure.

    `bad_days` are the days in UTC that break a promise about days.
    """

    value: float | None
    counts: Counts
    bad_days: frozenset[date] = frozenset()


Window = tuple[datetime, datetime]


def capture_rate(view: GraphView, window: Window) -> Measure:
    return _share(_read_runs(view, "captured_runs", window))


def time_to_impact(view: GraphView, window: Window) -> Measure:
    row = _read_runs(view, "impact_delays", window, within=IMPACT_SECONDS)
    return Measure(row["median"], _counts(row))


def correlated_flows(view: GraphView, window: Window) -> Measure:
    return _share(_read_runs(view, "correlated_runs", window))


def root_cause_time(view: GraphView, window: Window) -> Measure:
    """Return the time of findings; a caller who does not see everything sees none of it."""
    if not view.visibility.is_unrestricted:
        return Measure(None, Counts())
    since, until = window
    [row] = view.read(
        "read/service_levels/root_cause_times",
        seconds=SECONDS_MAX,
        since=since,
        until=until,
        within=ROOT_CAUSE_SECONDS,
    )
    return Measure(row["mean"], _counts(row))


def critical_drifts(view: GraphView, window: Window) -> Measure:
    """Return the findings a day; a caller who does not see everything sees none of it."""
    since, until = window
    days = max((until - since).days, 1)
    if not view.visibility.is_unrestricted:
        return Measure(None, Counts())
    rows = view.read(
        "read/service_levels/critical_drifts",
        seconds=SECONDS_MAX,
        since=since,
        until=until,
        limit=days + 1,
    )
    bad = frozenset(date.fromisoformat(row["day"]) for row in rows)
    value = sum(row["count"] for row in rows) / days
    return Measure(value, Counts(max(days - len(bad), 0), days), bad)


def run_success(view: GraphView, window: Window) -> Measure:
    return _share(_read_runs(view, "ended_executions", window))


def days_without_problems(id: str) -> Callable[[GraphView, Window], Measure]:
    """Return the measure of the days without a P1 finding of the rules of a level."""

    def measure(view: GraphView, window: Window) -> Measure:
        since, until = window
        days = max((until - since).days, 1)
        if not view.visibility.is_unrestricted:
            return Measure(None, Counts())
        rows = view.read(
            "read/service_levels/urgent_findings",
            seconds=SECONDS_MAX,
            since=since,
            until=until,
            rules=list(PROBLEM_RULES[id]),
            limit=FINDINGS_MAX,
        )
        bad = days_of([(row["began"], row["end"]) for row in rows], window)
        good = max(days - len(bad), 0)
        return Measure(good / days, Counts(good, days), bad)

    return measure


def days_of(spans: Iterable[tuple[datetime, datetime | None]], window: Window) -> frozenset[date]:
    """Return the days in UTC that spans touch within a window; a span without an end lasts."""
    since, until = window
    found: set[date] = set()
    for began, end in spans:
        day, last = max(began, since).date(), min(end or until, until).date()
        while day <= last:
            found.add(day)
            day += timedelta(days=1)
    return frozenset(found)


def completeness(view: GraphView, _: Window) -> Measure:
    [row] = view.read(
        "read/service_levels/completeness", seconds=SECONDS_MAX, visible=view.visibility.regexes
    )
    required = row["jobs"] * len(JOB_FIELDS) + row["datasets"] * len(DATASET_FIELDS)
    of_jobs = row["inputs"] + row["outputs"] + row["jobOwners"] + row["code"]
    of_datasets = row["schemas"] + row["columns"] + row["datasetOwners"] + row["descriptions"]
    return _share({"good": of_jobs + of_datasets, "total": required})


MEASURES: dict[str, Callable[[GraphView, Window], Measure]] = {
    "M2": capture_rate,
    "M3": time_to_impact,
    "M4": root_cause_time,
    "M6": completeness,
    "M7": critical_drifts,
    "M8": correlated_flows,
    "run-success": run_success,
    **{id: days_without_problems(id) for id in PROBLEM_RULES},
}


def _read_runs(view: GraphView, name: str, window: Window, **parameters: Any) -> dict[str, Any]:
    since, until = window
    [row] = view.read(
        f"read/service_levels/{name}",
        seconds=SECONDS_MAX,
        since=since,
        until=until,
        visible=view.visibility.regexes,
        **parameters,
    )
    return row


def _counts(row: dict[str, Any]) -> Counts:
    return Counts(row["good"], row["total"])


def _share(row: dict[str, Any]) -> Measure:
    return Measure(share(row["good"], row["total"]), _counts(row))
