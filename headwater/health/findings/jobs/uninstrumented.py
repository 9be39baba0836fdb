"""The rule `uninstrumented`, of jobs: a job runs, and nothing reports what it reads and writes.

The job succeeded three times, is known for seven days, and no run of it named a dataset. A job that
contains others, streams, or passes data to another job is none. Nor is the query of a task whose
lineage is known, or a job that only actions of Spark's RDDs name.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.health.findings.jobs.history import JobHistory
from headwater.health.findings.models import Episode

RULE = "uninstrumented"
KEY = "lineage"
SUCCESSES_MIN = 3
AFTER = timedelta(days=7)
_RDD_JOB = "RDD_JOB"


def detect_uninstrumented(history: JobHistory, instant: datetime) -> list[Episode]:
    """Return the episode of a job without inputs and outputs, if it has any."""
    if history.inputs or history.outputs or history.is_streaming:
        return []
    if history.is_container or history.is_covered:
        return []
    if history.deprecated_at is not None or history.type == _RDD_JOB or history.first_seen is None:
        return []
    complete = [run for run in history.runs if run.is_complete]
    if len(complete) < SUCCESSES_MIN or any(run.reads or run.writes for run in history.runs):
        return []
    due = history.first_seen + AFTER
    if not history.is_truncated:
        third = complete[SUCCESSES_MIN - 1]
        due = max(due, third.ended or third.started)
    if instant < due:
        return []
    newest = complete[-1]
    episode = Episode(
        rule=RULE,
        subject=history.urn,
        key=KEY,
        first_seen=due,
        last_seen=max(due, newest.ended or newest.started),
        evidence={
            "since": history.first_seen.astimezone(UTC).isoformat(timespec="seconds"),
            "successes": len(complete),
            "newestRun": newest.urn,
        },
    )
    return [episode]
