"""The rule `missing-run`: an execution of a job was due and has not started.

`cadence` has when an execution is due, and the grace until it is missing. The finding begins at the
due time and ends with the next start. It also ends once the job counts as stopped, ten periods
later. Whether the newest execution is missing depends on the instant; everything before depends on
the history alone.

Only jobs that start by themselves are examined: no job that streams, that is deprecated or deleted,
or that is part of another job with runs of its own. The DAG is missing, not each of its tasks.
Executions for an earlier period than one before are backfills, and are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from headwater.health.findings.jobs.cadence import (
    GAPS_MAX,
    Due,
    due_by_rhythm,
    due_by_schedule,
)
from headwater.health.findings.jobs.executions import (
    Execution,
    group_executions,
    without_backfills,
)
from headwater.health.findings.jobs.history import JobHistory
from headwater.health.findings.models import Episode

RULE = "missing-run"
# The earlier executions that a due time is worked out from. If older runs were left out, due times
# with fewer are not looked at: they would change with each new run.
LOOKBACK = 100
STOPPED = "stopped"


def detect_missing_runs(history: JobHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of missing executions."""
    if history.is_streaming or history.is_contained:
        return []
    if history.deleted_at is not None or history.deprecated_at is not None:
        return []
    executions = without_backfills(group_executions(history.runs))
    episodes = []
    for number in range(LOOKBACK if history.is_truncated else 1, len(executions)):
        following = executions[number + 1] if number + 1 < len(executions) else None
        known = executions[max(0, number - LOOKBACK) : number + 1]
        until = following.started if following else instant
        if until - known[-1].started <= _shortest_gap(known):
            continue
        due = _due(history, known, executions[number + 1 :])
        if due is not None and until > due.deadline:
            episodes.append(_episode(history, known[-1], due, following, instant))
    return episodes


def _shortest_gap(executions: Sequence[Execution]) -> timedelta:
    """Return the shortest of the newest gaps: nothing is overdue before that."""
    starts = [one.started for one in executions[-GAPS_MAX - 1 :]]
    return min(later - earlier for earlier, later in itertools.pairwise(starts))


def _due(
    history: JobHistory, executions: Sequence[Execution], later: Sequence[Execution]
) -> Due | None:
    if history.schedule is not None:
        return due_by_schedule(history.schedule, executions)
    newest = executions[-1].started
    pauses = [after.started - before.started for before, after in itertools.pairwise(later)]
    days = {run.started.date() for run in history.runs if run.started <= newest}
    return due_by_rhythm(
        executions,
        days | set(history.active_days),
        is_truncated=history.is_truncated,
        later_pauses=pauses,
    )


def _episode(
    history: JobHistory, last: Execution, due: Due, following: Execution | None, instant: datetime
) -> Episode:
    resolved_at = resolved_by = None
    if following is not None and following.started < due.stopped:
        resolved_at, resolved_by = following.started, following.runs[0].urn
    elif following is not None or instant >= due.stopped:
        resolved_at, resolved_by = due.stopped, STOPPED
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=last.runs[0].urn,
        first_seen=due.at,
        last_seen=due.at,
        resolved_at=resolved_at,
        resolved_by=resolved_by,
        evidence={
            "lastRun": last.runs[0].urn,
            "lastStart": _text(last.started),
            "due": _text(due.at),
            "deadline": _text(due.deadline),
            "periodSeconds": round(due.period.total_seconds()),
            "source": due.source,
        },
    )


def _text(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
