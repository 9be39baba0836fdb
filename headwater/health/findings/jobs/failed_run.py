"""The rule `failed-run`: a run failed, and others use what it should have written.

A failed run should have written the datasets that it names, and those that the newest successful
execution before it wrote that wrote one of these, or else the newest one. A dataset is used if a
job or a dataset currently takes data from it, if an answer cites it, or if it is certified or
critical. A failure without a used dataset is none.

A failure ends when later successful runs have written all of them again, except for what its own
execution had already written before it. It also ends with the second successful execution after
it: the job may no longer write the rest. Executions do not count for that if they write only what
others before the failure had written without these datasets. Runs for an earlier period and other
mapped instances of the same task do not count. Failures that overlap are one episode. If the oldest
runs that were read failed, the episode began with the first failure since the success before them.

A run that is part of another run is left to that run, if that one names the same datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from headwater.health.findings.jobs.executions import Execution, execution_key, group_executions
from headwater.health.findings.jobs.history import JobHistory, OutputFact, RunFact
from headwater.health.findings.models import Episode
from headwater.health.findings.severity import is_critical

RULE = "failed-run"
LISTED_MAX = 20
# Successful executions after which a job is taken to write what it writes now.
EXECUTIONS_TO_END = 2


@dataclass(frozen=True)
class _Failure:
    """A failed run, what it should have written, the used part of that, and the run that ended
    it."""

    run: RunFact
    failed: datetime
    used: tuple[OutputFact, ...]
    ended_by: RunFact | None


def detect_failed_runs(history: JobHistory) -> list[Episode]:
    """Return the episodes of failed runs whose datasets others use."""
    executions = group_executions(history.runs)
    failures = []
    for number, execution in enumerate(executions):
        for run in execution.runs:
            if run.status == "FAIL" and not _is_reported_by_parent(run):
                failure = _failure(history, executions, number, run)
                failures += [failure] if failure is not None else []
    failures.sort(key=lambda one: (one.failed, one.run.urn))
    episodes: list[list[_Failure]] = []
    for failure in failures:
        if episodes and _overlaps(episodes[-1], failure):
            episodes[-1].append(failure)
        else:
            episodes.append([failure])
    found = [_episode(history, some) for some in episodes]
    if found and _began_earlier(history, found[0]):
        # The beginning must not move with the window of runs that were read.
        found[0] = replace(
            found[0],
            key=history.failing_run or found[0].key,
            first_seen=history.failing_since or found[0].first_seen,
        )
    return found


def _began_earlier(history: JobHistory, episode: Episode) -> bool:
    """Return True if the runs before the first of an episode were left out, or failed too."""
    for run in history.runs:
        if run.is_complete or run.urn == episode.key:
            return not run.is_complete
    return False


def _is_reported_by_parent(run: RunFact) -> bool:
    parent = run.parent
    if parent is None or parent.status not in ("RUNNING", "COMPLETE", "FAIL"):
        return False
    return bool(run.writes) and set(run.writes) <= set(parent.writes)


def _failure(
    history: JobHistory, executions: Sequence[Execution], number: int, run: RunFact
) -> _Failure | None:
    """Return the failure of a run in the execution of this number; None if nobody feels it."""
    expected = set(run.writes) | _usual_writes(executions[:number], run)
    if not expected:
        expected = {one.urn for one in history.outputs if one.is_current}
    own = executions[number].complete_runs
    missing = expected - _writes(one for one in own if one.started < run.started)
    used = tuple(one for one in history.outputs if one.urn in missing and _is_used(one))
    if not used or run.ended is None:
        return None
    others = _separate_writes(executions[:number], run, expected)
    return _Failure(run, run.ended, used, _end(executions, run, missing, others))


def _usual_writes(earlier: Sequence[Execution], failure: RunFact) -> set[str]:
    """Return what the newest successful execution like a failed run wrote before it."""
    newest: set[str] = set()
    for writes in _earlier_writes(earlier, failure):
        if writes & set(failure.writes):
            return writes
        newest = newest or writes
    return newest


def _separate_writes(
    earlier: Sequence[Execution], failure: RunFact, expected: set[str]
) -> set[str]:
    """Return what successful executions before a failure wrote without any expected dataset."""
    return set(
        chain.from_iterable(
            writes for writes in _earlier_writes(earlier, failure) if not writes & expected
        )
    )


def _earlier_writes(earlier: Sequence[Execution], failure: RunFact) -> Iterator[set[str]]:
    """Yield what each successful execution wrote before a failure, newest first."""
    for one in reversed(earlier):
        if complete := [run for run in one.complete_runs if run.started < failure.started]:
            yield _writes(complete)


def _writes(runs: Iterable[RunFact]) -> set[str]:
    return set(chain.from_iterable(run.writes for run in runs))


def _is_used(output: OutputFact) -> bool:
    return bool(output.readers or output.answers) or is_critical(output.tags, output.type)


def _end(
    executions: Sequence[Execution], failure: RunFact, missing: set[str], others: set[str]
) -> RunFact | None:
    """Return the run that ended a failure; `others` are datasets of other executions."""
    rest = set(missing)
    later = 0
    for one in executions:
        if not one.complete_runs:
            continue
        repairs = [run for run in one.complete_runs if _may_repair(run, failure)]
        for run in repairs:
            rest -= set(run.writes)
            if not rest:
                return run
        writes = _writes(repairs)
        is_other = bool(writes) and writes <= others
        if repairs and failure not in one.runs and not is_other:
            later += 1
            if later == EXECUTIONS_TO_END:
                return repairs[-1]
    return None


def _may_repair(run: RunFact, failure: RunFact) -> bool:
    if run.started <= failure.started:
        return False
    is_sibling = execution_key(run) == execution_key(failure)
    if is_sibling and "#" in (failure.slot or "") and run.slot != failure.slot:
        return False
    if run.nominal_start is None or failure.nominal_start is None:
        return True
    return run.nominal_start >= failure.nominal_start


def _overlaps(episode: Sequence[_Failure], failure: _Failure) -> bool:
    ends = [one.ended_by.ended if one.ended_by else None for one in episode]
    return any(end is None or failure.failed < end for end in ends)


def _episode(history: JobHistory, failures: Sequence[_Failure]) -> Episode:
    first, newest = failures[0], failures[-1]
    ends = [(one.ended_by.ended, one.ended_by) for one in failures if one.ended_by is not None]
    resolved_at = resolved_by = None
    if len(ends) == len(failures):
        resolved_at, by = max(ends, key=lambda end: (end[0] or end[1].started, end[1].urn))
        resolved_by = by.urn
    run = newest.run
    consumers = set(chain.from_iterable((*one.answers, *one.readers) for one in newest.used))
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=first.run.urn,
        first_seen=first.failed,
        last_seen=newest.failed,
        resolved_at=resolved_at,
        resolved_by=resolved_by,
        evidence={
            "run": run.urn,
            "error": run.error,
            "attempt": run.attempt or 1,
            "failures": len(failures),
            "outputs": [one.urn for one in newest.used[:LISTED_MAX]],
            "consumers": sorted(consumers)[:LISTED_MAX],
        },
    )
