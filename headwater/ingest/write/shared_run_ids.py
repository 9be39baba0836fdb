"""Run ids that several senders report: each further run gets a node of its own.

`headwater.schema.run_senders` has the rule. The facts of all of them are on the node of the run id,
so the further runs are recomputed whenever those facts change. A sender whose events come first
after all takes the run id over, and its further run is removed.

An event that names another run, such as its parent, means the one of the job that it names. If that
is another node after a change, the runs that name it are written again.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.ingest.write.context import WriteContext
from headwater.ingest.write.rows import read_facts
from headwater.schema.facts import RunFacts
from headwater.schema.run_senders import run_ids_by_namespace, runs_of
from headwater.schema.urns import run_urn, shared_run_id

# By the urn of a reported run id: the ids of its runs, by namespace (`run_ids_by_namespace`).
_RunIds = dict[str, dict[str, str]]


def further_runs(run: RunFacts) -> dict[str, RunFacts]:
    """Return the further runs with the id of a run, by urn."""
    runs = (_further_run(claim, facts) for claim, facts in runs_of(run)[1:])
    return {run_urn(run.run_id): run for run in runs}


def _further_run(claim: str, facts: RunFacts) -> RunFacts:
    run_id = shared_run_id(facts.run_id, claim)
    return msgspec.structs.replace(facts, run_id=run_id, sender="")


def add_further_runs(context: WriteContext) -> None:
    """Add the further runs of changed runs to the runs of a write.

    `context.runs` and `context.stored_runs` have been read. Sets `context.removed_runs` and
    `context.run_ids`.
    """
    runs = context.runs
    for urn, (_, run) in list(runs.items()):
        stored = context.stored_runs.get(urn)
        if run.reports or (stored is not None and stored.reports):
            before, now = runs_of(stored) if stored is not None else [], runs_of(run)
            context.run_ids[urn] = run_ids_by_namespace(before), run_ids_by_namespace(now)
            _add_changed(context, run.run_id, dict(before[1:]), dict(now[1:]))
    context.runs = dict(sorted(runs.items()))


def _add_changed(
    context: WriteContext,
    run_id: str,
    before: Mapping[str, RunFacts],
    now: Mapping[str, RunFacts],
) -> None:
    """Add the further runs of one run id that differ, by claim, or whose dataset was rebound."""
    runs, detached = context.runs, context.datasets.detached.runs
    for claim in before.keys() | now.keys():
        if not detached and before.get(claim) is now.get(claim):
            continue
        old = _further_run(claim, before[claim]) if claim in before else None
        new = _further_run(claim, now[claim]) if claim in now else None
        urn = run_urn(shared_run_id(run_id, claim))
        is_detached = urn in runs
        if new is None:
            runs[urn] = (None if is_detached else old, RunFacts(shared_run_id(run_id, claim)))
            context.removed_runs.add(urn)
        elif is_detached or old != new:
            # Without the old facts of a run whose dataset was joined or split.
            runs[urn] = (None if is_detached else old, new)
        context.cache.runs[urn] = new
        if old is not None:
            context.stored_runs[urn] = old


def resolve_references(context: WriteContext) -> None:
    """Find the runs that changed runs mean by the ids of other runs, before and after.

    Adds the unchanged runs that mean another run now. Sets `context.linked_runs` and
    `context.linked_before`.
    """
    before: _RunIds = {}
    now: _RunIds = {}
    moved: set[str] = set()
    for urn, (ids_before, ids_now) in context.run_ids.items():
        before[urn], now[urn] = ids_before, ids_now
        moved |= {
            run_urn(run_id) for one, run_id in ids_before.items() if ids_now.get(one) != run_id
        }
    _add_runs_naming(context, moved, before, now)
    named: set[str] = set()
    for _, run in context.runs.values():
        named.update(run.references)
    unchanged = named - now.keys()
    stored_runs = read_facts(context.transaction, "runs", RunFacts, unchanged, context.cache.runs)
    for urn, run in stored_runs.items():
        before[urn] = now[urn] = run_ids_by_namespace(runs_of(run))
    for urn, (old, new) in context.runs.items():
        context.linked_runs[urn] = (_resolved(old, before) if old else None, _resolved(new, now))
    for urn in context.runs.keys() & context.stored_runs.keys():
        context.linked_before[urn] = _resolved(context.stored_runs[urn], before)


def _add_runs_naming(context: WriteContext, urns: set[str], before: _RunIds, now: _RunIds) -> None:
    """Add the unchanged runs with an edge to one of these, which they no longer mean."""
    if not urns:
        return
    rows = context.transaction.run("read/write_path/runs_naming", urns=sorted(urns))
    naming = {row["urn"] for row in rows} - context.runs.keys()
    runs = read_facts(context.transaction, "runs", RunFacts, naming, context.cache.runs)
    for urn, run in runs.items():
        if _resolved(run, before) != _resolved(run, now):
            context.runs[urn] = (run, run)
            context.stored_runs[urn] = run
    context.runs = dict(sorted(context.runs.items()))


def _resolved(run: RunFacts, run_ids: _RunIds) -> RunFacts:
    """Return a run with the ids of the runs that it means, instead of those that it names."""
    if not run.references:
        return run
    return msgspec.structs.replace(
        run,
        parents=_resolved_ids(run, run.parents, run_ids),
        roots=_resolved_ids(run, run.roots, run_ids),
        after=_resolved_ids(run, run.after, run_ids),
        sources=_resolved_ids(run, run.sources, run_ids),
    )


def _resolved_ids(run: RunFacts, ids: Mapping[str, str], run_ids: _RunIds) -> dict[str, str]:
    found = {}
    for urn, run_id in ids.items():
        by_namespace = run_ids.get(urn)
        if by_namespace and urn in run.references:
            named = sorted(run.references[urn] & by_namespace.keys())
            if not named:
                continue
            run_id = by_namespace[named[0]]
        found[run_urn(run_id)] = run_id
    return found


def remove_runs(context: WriteContext) -> None:
    """Remove the nodes of further runs that are no longer any."""
    if not context.removed_runs:
        return
    for urn in context.removed_runs:
        context.cache.run_views.take(urn)
    urns = sorted(context.removed_runs)
    context.transaction.run("write/runs/delete_runs", urns=urns)
