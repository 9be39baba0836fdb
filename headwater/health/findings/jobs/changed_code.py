"""The rule `changed-code`: a run used other code than the runs before it, and its version does not
show that.

The hash of the source code, or else of the SQL, of a successful execution differs from that of the
three executions before it (`steady_change`). The declared version of the code is the same as
before, or none is declared on either side. A run within a run that has a hash itself is left to
that run.
"""

from __future__ import annotations

from headwater.health.findings.jobs.history import JobHistory, RunFact
from headwater.health.findings.jobs.steady_change import (
    Change,
    State,
    Value,
    find_changes,
    find_states,
)
from headwater.health.findings.models import Episode

RULE = "changed-code"
LISTED_MAX = 20


def detect_changed_code(history: JobHistory) -> list[Episode]:
    """Return the episodes of changed code."""
    changes = find_changes(find_states(history, _hashes))
    return [
        _episode(history, change)
        for change in changes
        if _versions(change.earlier[-1]) == _versions(change.since[0])
    ]


def _hashes(run: RunFact) -> Value:
    if run.code_hash is None or (run.parent is not None and run.parent.code_hash is not None):
        return frozenset()
    return frozenset({run.code_hash})


def _versions(state: State) -> frozenset[str]:
    return frozenset(run.code_version for run in state.runs if run.code_version is not None)


def _episode(history: JobHistory, change: Change) -> Episode:
    appeared = change.after - change.before
    first = [run for run in change.since[0].runs if run.code_hash in appeared]
    run = min(first or change.since[0].runs, key=lambda run: (run.started, run.urn))
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
            "before": sorted(change.before)[:LISTED_MAX],
            "after": sorted(change.after)[:LISTED_MAX],
            "version": run.code_version,
        },
    )
