"""What is only seen again: of most events nothing is new to the graph but when their jobs, datasets and edges were last
seen.

While events wait, that is put off, and written once for many of them: what was put off first in every transaction, so
that none takes much longer than the others. Until then the checkpoint tells from which position on it is wanted
(`settled`), so that it can be folded once more from the spool if the writer that remembers it is gone.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TypeVar

from headwater.cypher.driver.database import Transaction
from headwater.ingest.project import last_seen_row, time_at
from headwater.ingest.write.cache import Memory
from headwater.ingest.write.datasets import whole_of
from headwater.ingest.write.rows import run_rows

K = TypeVar("K")


def write_seen(transaction: Transaction, memory: Memory, *, before: int | None = None) -> None:
    """Write what was put off before some position, or all of it. Needs the write lock, and a memory that follows the
    graph."""
    jobs, datasets, edges = (_taken(waiting, before) for waiting in memory.seen)
    members = {urn: memory.datasets[urn] for urn in sorted(datasets)}
    whole = [last_seen_row(urn, whole_of(urn, names), names[urn]) for urn, names in members.items()]
    run_rows(transaction, "write/datasets/datasets", whole)
    run_rows(
        transaction,
        "write/lineage/jobs",
        [last_seen_row(urn, memory.jobs[urn], memory.jobs[urn]) for urn in sorted(jobs)],
    )
    seen = [memory.edges[key] for key in sorted(edges)]
    rows = [{"edge": edge.id, "last": time_at(edge.span.last)} for edge in seen if edge.span]
    run_rows(transaction, "write/lineage/last_seen", rows)


def _taken(waiting: dict[K, int], before: int | None) -> list[K]:
    """What was put off first, which is taken out."""
    taken = list(takewhile(lambda key: before is None or waiting[key] < before, waiting))
    for key in taken:
        del waiting[key]
    return taken
