"""Deferred last-seen updates: most events change nothing but when entities were last seen.

While events wait, such updates of jobs, datasets and edges are deferred and written once for many
events. Each transaction writes the oldest of them, so that none takes much longer than the others.
Until then the checkpoint records the first deferred position (`settled`). If the writer with the
cache stops, the next worker folds the spool again from there.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TypeVar

from headwater.cypher.driver.database import Transaction
from headwater.ingest.project import last_seen_row, time_at
from headwater.ingest.write.cache import WriteCache
from headwater.ingest.write.datasets import join_members
from headwater.ingest.write.rows import write_rows

K = TypeVar("K")


def write_last_seen(
    transaction: Transaction, cache: WriteCache, *, before: int | None = None
) -> None:
    """Write the updates deferred before a position, or all.

    Needs the write lock and a valid cache.
    """
    jobs, datasets, edges = (_pop_deferred(updates, before) for updates in cache.deferred)
    members = {urn: cache.datasets[urn] for urn in sorted(datasets)}
    dataset_rows = [
        last_seen_row(urn, join_members(urn, names), names[urn]) for urn, names in members.items()
    ]
    write_rows(transaction, "write/datasets/datasets", dataset_rows)
    job_rows = [last_seen_row(urn, cache.jobs[urn], cache.jobs[urn]) for urn in sorted(jobs)]
    write_rows(transaction, "write/lineage/jobs", job_rows)
    cached = [cache.edges[key] for key in sorted(edges)]
    edge_rows = [{"edge": edge.id, "last": time_at(edge.span.last)} for edge in cached if edge.span]
    write_rows(transaction, "write/lineage/last_seen", edge_rows)


def _pop_deferred(updates: dict[K, int], before: int | None) -> list[K]:
    """Remove and return the updates that were deferred first."""
    keys = list(takewhile(lambda key: before is None or updates[key] < before, updates))
    for key in keys:
        del updates[key]
    return keys
