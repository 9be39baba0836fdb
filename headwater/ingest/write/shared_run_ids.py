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
from headwater.schema.run_senders import run_ids_by_namespace, runs_of_reports
from headwater.schema.urns import run_urn, shared_run_id

# By the urn of a reported run id: the ids of its runs, by namespace (`run_ids_by_namespace`).
_RunIds = dict[str, dict[str, str]]


def further_runs(run: RunFacts | None) -> dict[str, RunFacts]:
    """Return the further runs with the id of a run, by urn."""
    if run is None or not run.reports:
        return {}
    found = {}
    for sender, facts in runs_of_reports(run.reports)[1:]:
        run_id = shared_run_id(run.run_id, sender)
        found[run_urn(run_id)] = msgspec.structs.replace(facts, run_id=run_id, sender="")
    return found


def add_further_runs(context: WriteContext) -> None:
    """Add the further runs of changed runs to the runs of a write.

    `context.runs` and `context.stored_runs` have been read. Sets `context.removed_runs`.
    """
    runs, stored = context.runs, context.stored_runs
    for urn, (_, run) in list(runs.items()):
        before, now = further_runs(stored.get(urn)), further_runs(run)
        for further in before.keys() | now.keys():
            # Without the old facts of a run whose dataset was joined or split.
            old = None if further in runs else before.get(further)
            if further not in now:
                runs[further] = (old, RunFacts(before[further].run_id))
                context.removed_runs.add(further)
            elif further in runs or old != now[further]:
                runs[further] = (old, now[further])
            context.cache.runs[further] = now.get(further)
        stored.update(before)
    context.runs = dict(sorted(runs.items()))


def resolve_references(context: WriteContext) -> None:
    """Find the runs that changed runs mean by the ids of other runs, before and after.

    Adds the unchanged runs that mean another run now. Sets `context.linked_runs` and
    `context.linked_before`.
    """
    before: _RunIds = {}
    now: _RunIds = {}
    moved: set[str] = set()
    for urn, (_, run) in context.runs.items():
        if run.reports:
            stored = context.stored_runs.get(urn)
            before[urn] = run_ids_by_namespace(stored) if stored is not None else {}
            now[urn] = run_ids_by_namespace(run)
            moved.update(map(run_urn, _moved(run.run_id, before[urn], now[urn])))
    _add_runs_naming(context, moved & context.stored_runs.keys())
    named: set[str] = set()
    for _, run in context.runs.values():
        named.update(run.references)
    unchanged = named - now.keys()
    stored_runs = read_facts(context.transaction, "runs", RunFacts, unchanged, context.cache.runs)
    for urn, run in stored_runs.items():
        before[urn] = now[urn] = run_ids_by_namespace(run)
    for urn, (old, new) in context.runs.items():
        context.linked_runs[urn] = (_resolved(old, before) if old else None, _resolved(new, now))
    for urn in context.runs.keys() & context.stored_runs.keys():
        context.linked_before[urn] = _resolved(context.stored_runs[urn], before)


def _add_runs_naming(context: WriteContext, urns: set[str]) -> None:
    """Add the unchanged runs with an edge to one of these, which they may no longer mean."""
    if not urns:
        return
    rows = context.transaction.run("read/write_path/runs_naming", urns=sorted(urns))
    naming = {row["urn"] for row in rows} - context.runs.keys()
    runs = read_facts(context.transaction, "runs", RunFacts, naming, context.cache.runs)
    for urn, run in runs.items():
        if run.references:
            context.runs[urn] = (run, run)
            context.stored_runs[urn] = run
    context.runs = dict(sorted(context.runs.items()))


def _moved(run_id: str, before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return the ids of the runs that an event meant before by `run_id`, and may not mean now."""
    if not before:
        return {run_id} if {*now.values()} - {run_id} else set()
    return {one for namespace, one in before.items() if now.get(namespace) != one}


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
