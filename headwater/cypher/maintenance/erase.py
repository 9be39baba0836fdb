"""Erasure of the whole graph, in pieces that a server with little memory can hold.

Folding cannot repair a partly erased graph: the remaining part would count as known. So the graph
is marked during an erasure, every other writer waits (`headwater.cypher.driver.write_lock`), and an
interrupted erasure must run again to its end.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance.export import count

PIECE = 10_000


def is_empty(database: Database) -> bool:
    """Return True if the graph has no nodes of events and no erasure is unfinished."""
    erasing = any(
        row["properties"].get("erasing") for row in database.read("read/export/internal_nodes")
    )
    return not erasing and not any(counts.nodes for counts in count(database).values())


def forget_checkpoints(database: Database, *, holder: str) -> None:
    """Delete the checkpoints of an empty graph, so that every spool is folded from its start."""
    _begin(database, holder)
    _end(database, holder)


def erase(
    database: Database,
    *,
    holder: str,
    on_piece: Callable[[int], object] = id,
    derived: bool = False,
) -> None:
    """Delete what was folded from events; with `derived` also findings, deliveries and snapshots.

    `on_piece` receives the number of nodes and edges in each piece. Raises UnavailableError.
    """
    _begin(database, holder)
    statements = ["write/maintenance/erase_edges", "write/maintenance/erase_nodes"]
    for statement in [*statements, *(["write/maintenance/erase_derived"] if derived else [])]:
        while True:
            with database.write() as transaction:
                piece = int(transaction.run(statement, limit=PIECE)[0]["erased"])
            if not piece:
                break
            on_piece(piece)
    _end(database, holder)


def _begin(database: Database, holder: str) -> None:
    with database.write() as transaction:
        # `lock` would refuse a graph with an interrupted erasure.
        transaction.run("write/maintenance/lock_graph", holder=holder)
        transaction.run("write/maintenance/begin_erasure")


def _end(database: Database, holder: str) -> None:
    with database.write() as transaction:
        transaction.run("write/maintenance/lock_graph", holder=holder)
        transaction.run("write/maintenance/end_erasure")
