"""Late events of runs that were rolled up: the writer leaves these runs out.

The graph records the horizons at which it was rolled up (`headwater.pipelines.rollup_plan`). The
writer leaves out a run that is not in the graph and whose events are all older than its horizon.
Either a summary counts this run already, or the next rollup would remove it. So no event counts
twice, and late events create no fragment of a removed run. The writer still writes the jobs,
datasets, columns and answers of such events. A run that is in the graph takes late events of any
age.

A run that failed is written however late: no rollup removes failed runs. Its failure may come after
the rollup of its success. Then it counts twice, in the summary of that success and as a run. Nobody
knows whether a summary counts it.

A stored horizon that is later than the clock applies at the present time. One that cannot be read
expires no run. So neither leaves out a new run, and neither stops the writer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec

from headwater.cypher.driver.database import Transaction
from headwater.ingest.write.cache import WriteCache
from headwater.schema.delta import GraphDelta
from headwater.schema.facts import RunFacts
from headwater.schema.retention import Horizon, decode_horizons, is_expired
from headwater.schema.urns import display_name


def without_rolled_up(transaction: Transaction, delta: GraphDelta, cache: WriteCache) -> GraphDelta:
    """Return the delta without rolled-up runs, and count these. Needs the write lock."""
    horizons = cache.horizons
    if horizons is None:
        horizons = cache.horizons = _read_horizons(transaction)
    if not horizons:
        return delta
    now = time.time_ns() // 1_000
    horizons = [horizon.until(now) for horizon in horizons]
    expired = {urn for urn, run in delta.runs.items() if _is_expired(horizons, run)}
    only_named = {urn for urn, run in delta.runs.items() if run.span is None}
    if not expired and not only_named:
        return delta
    rows = transaction.run("read/write_path/existing_runs", urns=sorted(expired | only_named))
    existing = {row["urn"]: row["hasEvents"] for row in rows}
    dropped = {urn for urn in expired if not existing.get(urn)}
    # A run that only expired runs name was rolled up too, or the next rollup would remove it.
    dropped |= only_named - existing.keys() - _named_by_others(delta.runs, expired)
    if not dropped:
        return delta
    if dropped & expired:
        transaction.run("write/maintenance/count_late_runs", late=len(dropped & expired))
    runs = {urn: run for urn, run in delta.runs.items() if urn not in dropped}
    return msgspec.structs.replace(delta, runs=runs)


def _read_horizons(transaction: Transaction) -> list[Horizon]:
    rows = transaction.run("read/state/retention")
    return decode_horizons(rows[0]["horizons"])[0] if rows else []


def _is_expired(horizons: list[Horizon], run: RunFacts) -> bool:
    if run.span is None or any(state == "FAIL" for _, state in run.states):
        return False
    jobs = (*run.jobs.values(), *run.named_jobs.values())
    namespaces = [display_name(job.namespace) for job in jobs]
    return is_expired(horizons, display_name(run.run_id), namespaces, run.span.last)


def _named_by_others(runs: Mapping[str, RunFacts], expired: set[str]) -> set[str]:
    """Return the runs that are linked to any run that is not expired."""
    named: set[str] = set()
    for urn, run in runs.items():
        linked = {*run.parents, *run.roots, *run.after, *run.sources}
        if urn not in expired and run.span is not None:
            named |= linked
        elif run.span is None and any(
            other not in expired and runs[other].span for other in linked & runs.keys()
        ):
            named.add(urn)
    return named
