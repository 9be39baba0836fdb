"""The canonical export of a graph, in two halves: equal exactly if two graphs are equal."""

from __future__ import annotations

from headwater.cypher.driver.database import Database
from headwater.cypher.maintenance import export

_ERASE = "MATCH (n) WHERE NOT n:Migration WITH n LIMIT 10000 DETACH DELETE n"

Graph = tuple[list[str], list[str]]


def canonical(database: Database) -> Graph:
    """Return every node and every edge with all their properties, as sorted lines."""
    counts = export.count(database)
    nodes = export.as_lines(export.export_nodes(database, canonical=True, counts=counts))
    return list(nodes), list(export.as_lines(export.export_edges(database, counts=counts)))


def edges(database: Database, *types: str) -> set[tuple[str, str, str]]:
    """Return (source urn, type, target urn) of the edges of these types, by default of all."""
    rows = export.export_edges(database, counts=export.count(database))
    return {
        (row["source"], row["type"], row["target"])
        for row in rows
        if not types or row["type"] in types
    }


def empty(database: Database) -> None:
    """Delete every node but the record of the migrations."""
    # A large graph in one transaction would exceed the memory bound of the server.
    rows = 1
    while rows:
        with database._transaction("WRITE", 60.0) as transaction:
            rows = transaction.run(_ERASE).consume().counters.nodes_deleted
