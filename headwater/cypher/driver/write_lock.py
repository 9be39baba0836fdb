"""The graph's write lock: one writer at a time, and none while the graph is being erased."""

from __future__ import annotations

from concurrent.futures import Future

from headwater.cypher.driver.database import Row, Transaction
from headwater.errors import UnavailableError


def lock(transaction: Transaction, holder: str) -> int:
    """Hold the lock until the transaction ends; returns the revision of the graph that this transaction makes, one
    more than the last. Raises UnavailableError while the graph is being erased."""
    return locked(transaction.later("write/maintenance/lock_graph", holder=holder))


def locked(asked: Future[list[Row]]) -> int:
    """The same, where the lock has been asked for and it is time to wait for it."""
    row = asked.result()[0]
    if row["erasing"]:
        raise UnavailableError(
            "the graph is being erased; if nobody does so now, `headwater rebuild --erase` finishes it"
        )
    return int(row["revision"])
