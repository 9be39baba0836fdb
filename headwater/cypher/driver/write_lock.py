"""The write lock of the graph: one writer at a time, and none while the graph is being erased."""

from __future__ import annotations

from concurrent.futures import Future

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.errors import UnavailableError


def acquire_write_lock(transaction: Transaction, holder: str) -> int:
    """Hold the write lock until the transaction ends.

    Returns the revision of the graph that this transaction makes, one more than the last. Raises
    UnavailableError while the graph is being erased, and if its nodes were deleted meanwhile.
    """
    return wait_for_write_lock(transaction.submit("write/maintenance/lock_graph", holder=holder))


def wait_for_write_lock(submitted: Future[list[Row]]) -> int:
    """Wait for a write lock whose query was submitted, and return as `acquire_write_lock` does."""
    row = submitted.result()[0]
    if row["erasing"]:
        raise _being_erased()
    # Another transaction deleted the node while this one waited for it.
    if row["revision"] is None:
        raise UnavailableError("the graph was deleted meanwhile", hint="Try again.")
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
