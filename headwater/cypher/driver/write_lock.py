"""The write lock of the graph: one writer at a time, and none while the graph is being erased.

Work in several transactions must not continue after an erasure: what it wrote before is gone, and
the rest would pass for the whole. Such work reads the id of the graph at its start, and each of its
transactions checks it under the lock.
"""

from __future__ import annotations

from concurrent.futures import Future

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.errors import UnavailableError


class GraphErasedError(UnavailableError):
    """An error about a graph that was erased since the work on it began."""


def identify_graph(database: Database, holder: str) -> str:
    """Return the id of the graph, which changes when the graph is erased.

    Raises UnavailableError, also while the graph is being erased.
    """
    with database.write() as transaction:
        submitted = transaction.submit("write/maintenance/lock_graph", holder=holder)
        wait_for_write_lock(submitted)
        return str(submitted.result()[0]["graph"])


def acquire_write_lock(transaction: Transaction, holder: str, *, graph: str | None = None) -> int:
    """Hold the write lock until the transaction ends.

    Returns the revision of the graph that this transaction makes, one more than the last. Raises
    GraphErasedError if the id of the graph is not `graph`, and UnavailableError while the graph is
    being erased, and if its nodes were deleted meanwhile.
    """
    submitted = transaction.submit("write/maintenance/lock_graph", holder=holder)
    return wait_for_write_lock(submitted, graph=graph)


def wait_for_write_lock(submitted: Future[list[Row]], *, graph: str | None = None) -> int:
    """Wait for a write lock whose query was submitted, and return as `acquire_write_lock` does."""
    row = submitted.result()[0]
    if row["erasing"]:
        raise _being_erased()
    # Another transaction deleted the node while this one waited for it.
    if row["revision"] is None:
        raise UnavailableError("the graph was deleted meanwhile", hint="Try again.")
    if graph not in (None, row["graph"]):
        raise GraphErasedError("the graph was erased meanwhile", hint="Run the command again.")
    return int(row["revision"])


def check_not_erasing(database: Database, *, seconds: float) -> None:
    """Raise UnavailableError while the graph is being erased. `seconds` is the time limit."""
    if any(row["erasing"] for row in database.read("read/cache/revision", seconds=seconds)):
        raise _being_erased()


def _being_erased() -> UnavailableError:
    return UnavailableError(
        "the graph is being erased",
        hint="Wait for the erasure. If it was interrupted, finish it with "
        "`headwater rebuild --erase`.",
    )
