"""The rule `changed-input`: a run read another dataset instead of one that the runs before it read.

At least one dataset vanished from the inputs of a successful execution, and at least one appeared,
after three executions with the same inputs (`steady_change`). Names that change by design are no
finding: if the names differ only in their digits, and such a change occurred before, the dataset is
named after a period. A run within a run that reads the same datasets is left to that run.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from headwater.health.findings.jobs.history import JobHistory, RunFact
from headwater.health.findings.jobs.steady_change import (
    Change,
    State,
    Value,
    find_changes,
    find_states,
)
from headwater.health.findings.models import Episode

RULE = "changed-input"
LISTED_MAX = 20
_DIGITS = re.compile(r"\d+")


def detect_changed_inputs(history: JobHistory) -> list[Episode]:
    """Return the episodes of changed inputs."""
    changes = find_changes(find_states(history, _inputs))
    return [
        _episode(history, change)
        for change in changes
        if change.before - change.after and change.after - change.before
        if not _is_rotation(change)
    ]


def _inputs(run: RunFact) -> Value:
    covered = run.parent.reads if run.parent is not None else ()
    return frozenset(run.reads).difference(covered)


def _is_rotation(change: Change) -> bool:
    """Return True if the change is one of period, and such a change occurred before."""
    if _patterns(change.before) != _patterns(change.after):
        return False
    values = [state.value for state in change.earlier]
    return any(
        earlier != later and _patterns(earlier) == _patterns(later) == _patterns(change.after)
        for earlier, later in itertools.pairwise(values)
    )


def _patterns(urns: Iterable[str]) -> frozenset[str]:
    return frozenset(_DIGITS.sub("#", urn) for urn in urns)


def _episode(history: JobHistory, change: Change) -> Episode:
    vanished, appeared = change.before - change.after, change.after - change.before
    run = _first_with(change.since[0], appeared)
    newest = change.since[-1].newest
    end = change.end.newest if change.end else None
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=run.urn,
        first_seen=run.ended or run.started,
        last_seen=newest.ended or newest.started,
        resolved_at=(end.ended or end.started) if end else None,
        resolved_by=end.urn if end else None,
        evidence={
            "run": run.urn,
            "previousRun": change.earlier[-1].newest.urn,
            "vanished": sorted(vanished)[:LISTED_MAX],
            "appeared": sorted(appeared)[:LISTED_MAX],
            "executionsBefore": _same_before(change.earlier),
        },
    )


def _first_with(state: State, appeared: Value) -> RunFact:
    """Return the run of an execution that first read one of these datasets."""
    reading = [run for run in state.runs if appeared.intersection(run.reads)]
    return min(reading, key=lambda run: (run.started, run.urn))


def _same_before(earlier: Sequence[State]) -> int:
    """Return how many executions in a row had the value of the last one."""
    count = 0
    for state in reversed(earlier):
        if state.value != earlier[-1].value:
            break
        count += 1
    return count
