"""Read the histories of jobs: a few statements for up to 200 jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime

import msgspec

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row
from headwater.health.findings.jobs.cadence import WEEKDAYS_WITHIN
from headwater.health.findings.jobs.history import (
    LAG_LIMIT,
    RUNS_MAX,
    JobHistory,
    OutputFact,
    ParentFact,
    RunFact,
    Schedule,
)
from headwater.health.findings.jobs.lags import lags_of, read_lagging
from headwater.health.findings.jobs.schedule import find_schedule
from headwater.lineage.view import GraphView
from headwater.schema.facts import RunFacts

# Jobs of one statement: with 200 runs each, a few thousand rows.
_JOBS_PER_QUERY_MAX = 25
# Datasets of a job or a run, and users of a dataset.
_DATASETS_MAX = 100
_USERS_MAX = 20
_ACTIVE_DAYS = WEEKDAYS_WITHIN.days
_FACTS_PER_QUERY_MAX = 200
_ERROR_CHARACTERS_MAX = 300
_STREAMING = "STREAMING"


def read_job_histories(
    view: GraphView, urns: Iterable[str], *, lag_limit: int = LAG_LIMIT
) -> list[JobHistory]:
    """Return the histories of those of these jobs that the graph has, by urn.

    The view must be unrestricted: detectors see everything, and visibility is checked when
    somebody asks for findings.
    """
    histories: list[JobHistory] = []
    for some in chunks(sorted(set(urns)), _JOBS_PER_QUERY_MAX):
        states = {
            row["urn"]: row
            for row in view.read(
                "read/findings/job_states", urns=some, limit=_DATASETS_MAX, users=_USERS_MAX
            )
        }
        rows: dict[str, list[Row]] = defaultdict(list)
        for row in view.read(
            "read/findings/job_runs", urns=some, limit=RUNS_MAX, datasets=_DATASETS_MAX
        ):
            rows[row["job"]].append(row)
        runs = {urn: _runs(rows[urn]) for urn in states}
        schedules = _read_schedules(view, runs)
        days = _read_active_days(view, runs)
        failing = _read_failing(view, runs)
        lagging = read_lagging(view, runs, lag_limit)
        for urn, row in sorted(states.items()):
            history = _history(row, runs[urn], schedules.get(urn), days.get(urn, ()))
            history = replace(history, **failing.get(urn, {}), lag_limit=lag_limit)
            histories.append(replace(history, lagging_since=lagging.get(urn, {})))
    return histories


def _runs(rows: Iterable[Row]) -> tuple[RunFact, ...]:
    runs = [_run(row) for row in rows]
    return tuple(sorted(runs, key=lambda run: (run.started, run.urn)))


def _run(row: Row) -> RunFact:
    is_running = row["status"] == "RUNNING"
    error, above = row["error"], row["parent"]
    parent = above and ParentFact(
        above["status"], above["codeHash"], tuple(above["reads"]), tuple(above["writes"])
    )
    return RunFact(
        urn=row["urn"],
        status=row["status"],
        started=row["startedAt"],
        ended=None if is_running else row["endedAt"] or row["lastSeen"],
        nominal_start=row["nominalStart"],
        slot=row["slot"],
        attempt=row["attempt"],
        execution=row["execution"],
        error=error[:_ERROR_CHARACTERS_MAX] if error else None,
        code_version=row["version"],
        code_hash=row["codeHash"],
        reads=tuple(row["reads"]),
        writes=tuple(row["writes"]),
        parent=parent,
        lags=lags_of(row["lags"]),
    )


def _read_schedules(view: GraphView, runs: dict[str, tuple[RunFact, ...]]) -> dict[str, Schedule]:
    """Return the schedules of the jobs whose newest run reports one."""
    newest = {some[-1].urn: job for job, some in sorted(runs.items()) if some}
    schedules: dict[str, Schedule] = {}
    for urns in chunks(sorted(newest), _FACTS_PER_QUERY_MAX):
        for row in view.read("read/nodes/facts", urns=urns):
            if row["facts"]:
                facts = msgspec.json.decode(row["facts"], type=RunFacts)
                schedule = find_schedule(facts.facets)
                if schedule is not None:
                    schedules[newest[row["urn"]]] = schedule
    return schedules


def _read_active_days(
    view: GraphView, runs: dict[str, tuple[RunFact, ...]]
) -> dict[str, tuple[date, ...]]:
    """Return the days of activity of the jobs with more runs than were read."""
    rows = [
        {"urn": urn, "until": some[-1].started}
        for urn, some in sorted(runs.items())
        if len(some) >= RUNS_MAX
    ]
    if not rows:
        return {}
    found = view.read("read/findings/job_days", rows=rows, days=_ACTIVE_DAYS)
    return {row["urn"]: _dates(row["days"]) for row in found}


def _read_failing(view: GraphView, runs: dict[str, tuple[RunFact, ...]]) -> dict[str, Row]:
    """Return since when the jobs fail whose runs were not all read, and failed at first."""
    rows = [
        {"urn": urn, "before": some[0].started}
        for urn, some in sorted(runs.items())
        if len(some) >= RUNS_MAX and _failed_first(some)
    ]
    if not rows:
        return {}
    return {
        row["urn"]: {"failing_run": row["run"], "failing_since": row["failedAt"]}
        for row in view.read("read/findings/failing_since", rows=rows)
    }


def _failed_first(runs: Iterable[RunFact]) -> bool:
    return next((run.status for run in runs if run.status in ("COMPLETE", "FAIL")), "") == "FAIL"


def _dates(times: Iterable[datetime]) -> tuple[date, ...]:
    return tuple(time.date() for time in times)


def _history(
    row: Row, runs: Sequence[RunFact], schedule: Schedule | None, days: tuple[date, ...]
) -> JobHistory:
    return JobHistory(
        urn=row["urn"],
        namespace=row["namespace"] or "",
        name=row["name"] or "",
        runs=tuple(runs),
        inputs=tuple(row["inputs"]),
        outputs=tuple(
            OutputFact(
                urn=one["urn"],
                is_current=one["isCurrent"],
                tags=tuple(one["tags"]),
                type=one["type"],
                readers=tuple(one["readers"]),
                answers=tuple(one["answers"]),
            )
            for one in row["outputs"]
        ),
        owners=tuple(row["owners"] or ()),
        tags=tuple(row["tags"] or ()),
        type=row["type"],
        is_streaming=(row["processing"] or "").upper() == _STREAMING,
        schedule=schedule,
        containers=tuple(one["urn"] for one in row["containers"]),
        is_contained=any(one["isReporting"] for one in row["containers"]),
        is_container=row["isContainer"],
        is_covered=any(one["hasLineage"] for one in row["containers"]),
        first_seen=row["firstSeen"],
        deprecated_at=row["deprecatedAt"],
        deleted_at=row["deletedAt"],
        is_truncated=len(runs) >= RUNS_MAX,
        active_days=days,
    )
