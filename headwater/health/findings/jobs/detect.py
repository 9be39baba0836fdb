"""Every detector of jobs, run over one history."""

from __future__ import annotations

from datetime import datetime

from headwater.health.findings.jobs.changed_code import detect_changed_code
from headwater.health.findings.jobs.changed_input import detect_changed_inputs
from headwater.health.findings.jobs.duration import detect_durations
from headwater.health.findings.jobs.failed_run import detect_failed_runs
from headwater.health.findings.jobs.history import JobHistory
from headwater.health.findings.jobs.missing_run import detect_missing_runs
from headwater.health.findings.jobs.stream_lag import detect_stream_lags
from headwater.health.findings.jobs.uninstrumented import detect_uninstrumented
from headwater.health.findings.models import Episode


def detect_job(history: JobHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of all rules of jobs at an instant, by rule and beginning.

    A deleted job has none. Only what is due or under way depends on the instant.
    """
    if history.deleted_at is not None:
        return []
    found = [
        *detect_failed_runs(history),
        *detect_changed_inputs(history),
        *detect_changed_code(history),
        *detect_stream_lags(history),
        *detect_job_by_clock(history, instant),
    ]
    return sorted(found, key=lambda episode: (episode.rule, episode.first_seen, episode.key))


def detect_job_by_clock(history: JobHistory, instant: datetime) -> list[Episode]:
    """Return those of the episodes that time alone may change."""
    if history.deleted_at is not None:
        return []
    return [
        *detect_missing_runs(history, instant),
        *detect_durations(history, instant),
        *detect_uninstrumented(history, instant),
    ]
