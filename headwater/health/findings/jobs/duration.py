"""The rule `duration`: a run takes much longer than the runs before it.

The baseline of a run is the newest ten earlier successful runs of its job, at least five. A run is
slow if it takes longer than all of: the mean of the baseline plus two standard deviations, one and
a half times the mean, the mean plus a minute, and each successful run that started on the same
weekday in the four weeks before. A run under way is slow as soon as it has taken longer than that.
The finding begins at that time, and ends with the next successful run that is not slow. A slow run
that fails or is aborted ends it itself. An abandoned run has no known duration. A run without an
end counts as over when a run of a later execution has succeeded.

Jobs that stream are left out, and so are runs without datasets, and runs within a run that names
datasets itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import stdev

from headwater.health.findings.jobs.executions import execution_key
from headwater.health.findings.jobs.history import JobHistory, RunFact
from headwater.health.findings.models import Episode

RULE = "duration"
BASELINE_MAX = 10
BASELINE_MIN = 5
# Seed 3, L543: "more than 2 standard deviations from baseline".
DEVIATIONS = 2.0
# A change below these is of no consequence to a reader.
SHARE = 0.5
SECONDS_MIN = 60.0
# Runs on the same weekday before this are forgotten.
WEEKDAYS_WITHIN = timedelta(days=28)
_ENDED = ("COMPLETE", "FAIL", "ABORT")


@dataclass(frozen=True)
class _Timing:
    """A run with a baseline: how long it took, or takes so far, and the limit."""

    run: RunFact
    seconds: float
    mean: float
    deviation: float
    limit: float

    @property
    def is_slow(self) -> bool:
        return self.seconds > self.limit

    @property
    def exceeded(self) -> datetime:
        """Return when the run had taken as long as the limit."""
        return self.run.started + timedelta(seconds=self.limit)


def detect_durations(history: JobHistory, instant: datetime) -> list[Episode]:
    """Return the episodes of slow runs."""
    if history.is_streaming:
        return []
    timings = _timings(history, instant)
    episodes: list[Episode] = []
    slow: list[_Timing] = []
    # What came before the first run with a baseline is unknown if runs were left out.
    is_known = not history.is_truncated
    for timing in timings:
        if timing.is_slow:
            slow.append(timing)
        if slow and _ends(timing, slow):
            if is_known:
                episodes.append(_episode(history, slow, timing.run))
            slow = []
        is_known = is_known or not slow
    if slow and is_known:
        episodes.append(_episode(history, slow, None))
    return episodes


def _ends(timing: _Timing, slow: Sequence[_Timing]) -> bool:
    run = timing.run
    if run.ended is None or run.ended <= slow[-1].exceeded:
        return False
    if timing.is_slow:
        return len(slow) == 1 and not run.is_complete
    return run.is_complete


def _timings(history: JobHistory, instant: datetime) -> list[_Timing]:
    timings: list[_Timing] = []
    earlier: list[RunFact] = []
    for run in history.runs:
        if not (run.reads or run.writes) or _is_reported_by_parent(run):
            continue
        seconds = _seconds(run, history.runs, instant)
        if seconds is None:
            continue
        if len(earlier) >= (BASELINE_MAX if history.is_truncated else BASELINE_MIN):
            timings.append(_timing(run, seconds, earlier))
        if run.is_complete:
            earlier.append(run)
    return timings


def _is_reported_by_parent(run: RunFact) -> bool:
    return run.parent is not None and bool(run.parent.reads or run.parent.writes)


def _seconds(run: RunFact, runs: Sequence[RunFact], instant: datetime) -> float | None:
    if run.status == "RUNNING":
        later = (
            one.ended
            for one in runs
            if one.is_complete and one.ended is not None and one.started > run.started
            if execution_key(one) != execution_key(run)
        )
        return (min([instant, *later]) - run.started).total_seconds()
    return run.seconds if run.status in _ENDED else None


def _timing(run: RunFact, seconds: float, earlier: Sequence[RunFact]) -> _Timing:
    baseline = [one.seconds or 0.0 for one in earlier[-BASELINE_MAX:]]
    mean = sum(baseline) / len(baseline)
    limit = max(mean * (1 + SHARE), mean + SECONDS_MIN)
    if seconds <= limit:
        # The other bounds only raise the limit.
        return _Timing(run, seconds, mean, 0.0, limit)
    deviation = stdev(baseline)
    weekdays = (one.seconds or 0.0 for one in earlier if _is_same_weekday(one, run))
    limit = max(limit, mean + DEVIATIONS * deviation, *weekdays)
    return _Timing(run, seconds, mean, deviation, limit)


def _is_same_weekday(earlier: RunFact, run: RunFact) -> bool:
    days = (run.started.date() - earlier.started.date()).days
    return 0 < days <= WEEKDAYS_WITHIN.days and days % 7 == 0


def _episode(history: JobHistory, slow: Sequence[_Timing], end: RunFact | None) -> Episode:
    first, newest = slow[0], slow[-1]
    last_seen = max(one.run.ended or one.exceeded for one in slow)
    resolved_at = end.ended if end else None
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=first.run.urn,
        first_seen=first.exceeded,
        last_seen=min(last_seen, resolved_at) if resolved_at else last_seen,
        resolved_at=resolved_at,
        resolved_by=end.urn if end else None,
        evidence={
            "run": newest.run.urn,
            "isRunning": newest.run.status == "RUNNING",
            # Of a run under way, the limit: its own seconds would change with each look.
            "seconds": round(newest.run.seconds or newest.limit, 1),
            "mean": round(newest.mean, 1),
            "deviation": round(newest.deviation, 1),
            "limit": round(newest.limit, 1),
            "slowRuns": len(slow),
        },
    )
