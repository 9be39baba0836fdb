"""Undated events take the time of their first receipt, which the graph keeps by their digest.

A repeated delivery finds that receipt and changes nothing. The receipt is written in the
transaction that writes the facts, under the write lock, so every writer gives an event one time.
"""

from __future__ import annotations

from msgspec.structs import replace

from headwater.cypher.driver.database import Database, Transaction
from headwater.ingest.fold.undated_events import fold_undated
from headwater.ingest.project import time_at
from headwater.ingest.write.rows import write_rows
from headwater.schema.delta import GraphDelta, join
from headwater.schema.naming import Naming
from headwater.schema.urns import receipt_urn

# The times of later events are the ones that copies may still have.
_FUTURE_INSTANTS_MAX = 100_000


def read_future_instants(database: Database) -> set[int]:
    """Return the times of the events that were dated in the future when they were first received.

    The times are in microseconds since 1970; the latest are returned if there are very many.
    """
    rows = database.read("read/write_path/future_instants", limit=_FUTURE_INSTANTS_MAX)
    return {row["instant"] for row in rows}


def with_undated_events(transaction: Transaction, delta: GraphDelta, naming: Naming) -> GraphDelta:
    """Return a delta with its undated events folded. Needs the write lock."""
    if not delta.undated:
        return delta
    urns = {digest: receipt_urn(digest) for digest in sorted(delta.undated)}
    rows = transaction.run("read/write_path/first_receipts", urns=list(urns.values()))
    first = {row["urn"]: row["received"] for row in rows}
    undated = {
        digest: replace(event, instant=first.get(urns[digest], event.instant))
        for digest, event in delta.undated.items()
    }
    new = [
        {
            "urn": urn,
            "receivedAt": time_at(undated[digest].instant),
            "eventTime": time_at(undated[digest].event_instant),
        }
        for digest, urn in urns.items()
        if urn not in first and undated[digest].instant != undated[digest].event_instant
    ]
    write_rows(transaction, "write/maintenance/receipts", new)
    return join(delta, fold_undated(undated, naming))
