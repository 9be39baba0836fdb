"""Late news of runs whose detail has had its time: what the writer leaves out once the graph was rolled up.

The graph remembers the horizons at which it was rolled up (`headwater.pipelines.rollup_plan`). A run that is not in the graph,
and of which a delta tells nothing newer than its horizon, is not written: it was counted in a summary, or came so late
that it would be gone at the next roll-up. So no event is counted twice, and no run comes back as a fragment made of its
late events. What such events say of jobs, datasets, columns and answers is written as ever. Runs that are there,
however old, go on hearing their own late events.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.cypher.driver.database import Transaction
from headwater.ingest.write.cache import Memory
from headwater.schema.facts import GraphDelta, RunFacts
from headwater.schema.retention import Horizon, is_expired
from headwater.schema.urns import display_name


def without_rolled_up(transaction: Transaction, delta: GraphDelta, memory: Memory) -> GraphDelta:
    """The delta without the runs whose time is over. Needs the write lock; counts what it leaves out."""
    horizons = memory.horizons
    if horizons is None:
        rows = transaction.run("read/state/retention")
        horizons = memory.horizons = (
            msgspec.json.decode(rows[0]["horizons"], type=list[Horizon]) if rows else []
        )
    if not horizons:
        return delta
    old = {urn for urn, run in delta.runs.items() if _is_over(horizons, run)}
    named = {urn for urn, run in delta.runs.items() if run.span is None}
    if not old and not named:
        return delta
    found = {
        row["urn"]: row["told"]
        for row in transaction.run("read/write_path/existing_runs", urns=sorted(old | named))
    }
    gone = {urn for urn in old if not found.get(urn)}
    # A run that only old runs name was rolled up, or would be.
    gone |= named - found.keys() - _named_by_the_rest(delta.runs, old)
    if not gone:
        return delta
    if gone & old:
        transaction.run("write/maintenance/count_late_runs", late=len(gone & old))
    return msgspec.structs.replace(
        delta, runs={urn: run for urn, run in delta.runs.items() if urn not in gone}
    )


def _is_over(horizons: list[Horizon], run: RunFacts) -> bool:
    if run.span is None:
        return False
    return is_expired(
        horizons,
        display_name(run.run_id),
        [display_name(job.namespace) for job in run.jobs.values()],
        run.span.last,
    )


def _named_by_the_rest(runs: Mapping[str, RunFacts], old: set[str]) -> set[str]:
    """The runs that have to do with any that is no older than it may be."""
    named: set[str] = set()
    for urn, run in runs.items():
        others = {*run.parents, *run.roots, *run.after, *run.sources}
        if urn not in old and run.span is not None:
            named |= others
        elif run.span is None and any(
            other not in old and runs[other].span for other in others & runs.keys()
        ):
            named.add(urn)
    return named
