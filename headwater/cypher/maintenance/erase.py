"""Erasure of the whole graph, in pieces that a server with little memory can hold.

Folding cannot repair a partly erased graph: the remaining part would count as known. So the graph
is marked during an erasure, every other writer waits (`headwater.cypher.driver.write_lock`), and an
interrupted erasure must run again to its end.

The mark is the id of one erasure. A later erasure replaces it, because the earlier one may have
been killed. Each transaction of an erasure holds the write lock and reads the mark under it. So an
earlier erasure that goes on ends without a change: it can neither delete what was folded since, nor
end the later erasure.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable

from headwater.cypher.driver.database import Database, Row, Transaction
from headwater.errors import UnavailableError

PIECE = 10_000


class TakenOverError(UnavailableError):
    """An error about a graph that a later erasure erases, or has erased since."""


def reset_if_empty(database: Database, *, holder: str) -> bool:
    """Delete the checkpoints of an empty graph, so that every spool is folded from its start.

    Return False, and change nothing, if the graph has nodes of events or an unfinished erasure.
    Raises UnavailableError.
    """
    with database.write() as transaction:
        row = _lock(transaction, holder)
        counts = transaction.run("read/export/counts")
        if row["erasing"] or any(count["nodes"] for count in counts):
            return False
        transaction.run("write/maintenance/begin_erasure", erasure=_new_id())
        transaction.run("write/maintenance/end_erasure")
    return True


def erase(
    database: Database,
    *,
    holder: str,
    on_piece: Callable[[int], object] = id,
    derived: bool = False,
) -> None:
    """Delete what was folded from events; with `derived` also findings, deliveries and snapshots.

    `on_piece` receives the number of nodes and edges in each piece. Raises TakenOverError if a
    later erasure has begun, and UnavailableError.
    """
    erasure = _new_id()
    with database.write() as transaction:
        # `acquire_write_lock` would refuse a graph with an interrupted erasure.
        _lock(transaction, holder)
        transaction.run("write/maintenance/begin_erasure", erasure=erasure)
    statements = ["write/maintenance/erase_edges", "write/maintenance/erase_nodes"]
    for statement in [*statements, *(["write/maintenance/erase_derived"] if derived else [])]:
        while True:
            with database.write() as transaction:
                _check_mark(_lock(transaction, holder), erasure)
                piece = int(transaction.run(statement, limit=PIECE)[0]["erased"])
            if not piece:
                break
            on_piece(piece)
    with database.write() as transaction:
        _check_mark(_lock(transaction, holder), erasure)
        transaction.run("write/maintenance/end_erasure")


def _new_id() -> str:
    return str(uuid.uuid4())


def _lock(transaction: Transaction, holder: str) -> Row:
    return transaction.run("write/maintenance/lock_graph", holder=holder)[0]


def _check_mark(locked: Row, erasure: str) -> None:
    if locked["erasing"] != erasure:
        raise TakenOverError(
            "another command erases the graph too, or has erased it since",
            hint="Wait for its end. If it was interrupted, or this one is still needed, run "
            "`headwater rebuild --erase`, or `headwater forget` again.",
        )
