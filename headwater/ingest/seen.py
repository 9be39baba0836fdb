"""What is only seen again: of most events nothing is new to the graph but when their jobs, datasets and edges were last
seen.

While events wait, that is put off, and written once for many of them. Until then the checkpoint tells from which
position on it is wanted (`settled`), so that it can be folded once more from the spool if the writer that remembers it
is gone.
"""

from __future__ import annotations

from headwater.cypher.database import Transaction
from headwater.ingest.memory import Memory
from headwater.ingest.places import whole_of
from headwater.ingest.project import seen_again, time_at
from headwater.ingest.rows import run_rows


def write_seen(transaction: Transaction, memory: Memory) -> None:
    """Write what was put off. Needs the write lock, and a memory that follows the graph."""
    jobs, datasets, edges = memory.seen
    members = {urn: memory.datasets[urn] for urn in sorted(datasets)}
    whole = [seen_again(urn, whole_of(urn, names), names[urn]) for urn, names in members.items()]
    run_rows(transaction, "write/datasets", whole)
    run_rows(transaction, "write/jobs", [seen_again(urn, memory.jobs[urn], memory.jobs[urn]) for urn in sorted(jobs)])
    seen = [memory.edges[key] for key in sorted(edges)]
    rows = [{"edge": edge.id, "last": time_at(edge.span.last)} for edge in seen if edge.span]
    run_rows(transaction, "write/map_seen", rows)
    for waiting in memory.seen:
        waiting.clear()
