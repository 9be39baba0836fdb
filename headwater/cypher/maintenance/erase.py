"""Erasing the whole graph, in pieces that a server with little memory can bear.

A graph of which a part is gone cannot be resolved by folding: what is still there would be taken for known. So it is
marked while it is erased, every other writer waits (`headwater.cypher.driver.write_lock`), and an erasing that was interrupted
must be done again to the end.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.export import count

PIECE = 10_000


def is_empty(database: Database) -> bool:
    """Whether nothing was ever folded into the graph, or all of it was erased."""
    erasing = any(
        row["properties"].get("erasing") for row in database.read("read/export/internal_nodes")
    )
    return not erasing and not any(counts.nodes for counts in count(database).values())


def forget_checkpoints(database: Database, *, holder: str) -> None:
    """Let every spool be folded from its beginning, into a graph that is empty."""
    _begin(database, holder)
    _end(database, holder)


def erase(database: Database, *, holder: str, erased: Callable[[int], object] = id) -> None:
    """Take everything out but the record of the migrations; `erased` hears of every piece how many nodes and edges it
    had. Raises UnavailableError."""
    _begin(database, holder)
    for statement in ("write/maintenance/erase_edges", "write/maintenance/erase_nodes"):
        while True:
            with database.write() as transaction:
                piece = int(transaction.run(statement, limit=PIECE)[0]["erased"])
            if not piece:
                break
            erased(piece)
    _end(database, holder)


def _begin(database: Database, holder: str) -> None:
    with database.write() as transaction:
        # Not through `lock`: an erasing that was interrupted begins again.
        transaction.run("write/maintenance/lock_graph", holder=holder)
        transaction.run("write/maintenance/begin_erasure")


def _end(database: Database, holder: str) -> None:
    with database.write() as transaction:
        transaction.run("write/maintenance/lock_graph", holder=holder)
        transaction.run("write/maintenance/end_erasure")
