"""Run ids that several senders report: each further run gets a node of its own.

`headwater.schema.run_senders` has the rule. The facts of all of them are on the node of the run id,
so the further runs are recomputed whenever those facts change. A sender whose events come first
after all takes the run id over, and its further run is removed.
"""

from __future__ import annotations

import msgspec

from headwater.ingest.write.context import WriteContext
from headwater.schema.facts import RunFacts
from headwater.schema.run_senders import runs_of_reports
from headwater.schema.urns import run_urn, shared_run_id


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


def remove_runs(context: WriteContext) -> None:
    """Remove the nodes of further runs that are no longer any."""
    if not context.removed_runs:
        return
    for urn in context.removed_runs:
        context.cache.run_views.take(urn)
    urns = sorted(context.removed_runs)
    context.transaction.run("write/runs/delete_runs", urns=urns)
