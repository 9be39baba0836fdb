"""The canonical export of a graph, in two halves: equal exactly if two graphs are equal."""

from __future__ import annotations

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance import export

_ERASE = "MATCH (n) WHERE NOT n:Migration WITH n LIMIT 10000 DETACH DELETE n"

Graph = tuple[list[str], list[str]]


def canonical(database: Database) -> Graph:
    """Every node and every edge with all their properties, as sorted lines."""
    counts = export.count(database)
    nodes = export.as_lines(export.export_nodes(database, canonical=True, counts=counts))
    return list(nodes), list(export.as_lines(export.export_edges(database, counts=counts)))


def edges(database: Database, *types: str) -> set[tuple[str, str, str]]:
    """(source urn, type, target urn) of all edges of these types; of every type when none is
    given.
    """
    rows = export.export_edges(database, counts=export.count(database))
    return {
        (row["source"], row["type"], row["target"])
        for row in rows
        if not types or row["type"] in types
    }


def empty(database: Database) -> None:
    """Take everything out but the record of the migrations."""
    # In pieces: a large graph in one transaction would be over the server's bound on its memory.
    rows = 1
    while rows:
        with database._transaction("WRITE", 60.0) as transaction:
            rows = transaction.run(_ERASE).consume().counters.nodes_deleted
