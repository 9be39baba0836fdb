"""A canonical picture of the whole graph: equal exactly when two graphs are the same. For comparing in tests.

Tallies are left out: they count receipts, and an event received twice is two.
"""

from __future__ import annotations

from headwater.cypher.database import Database

_NODES = """
MATCH (n) WHERE NOT n:Migration AND NOT n:WriteLock AND NOT n:Checkpoint AND NOT n:Producer AND NOT n:Finding
RETURN labels(n) AS labels, properties(n) AS properties
"""
_EDGES = """
MATCH (a)-[e]->(b)
RETURN a.urn AS source, type(e) AS type, b.urn AS target, properties(e) AS properties
"""

_ERASE = "MATCH (n) WHERE NOT n:Migration WITH n LIMIT 10000 DETACH DELETE n"

Graph = tuple[list[str], list[str]]


def canonical(database: Database) -> Graph:
    """Every node and every edge with all their properties, as sorted lines."""
    nodes = [
        f"{'/'.join(sorted(row['labels']))} {sorted(row['properties'].items(), key=str)}"
        for row in database.ask(_NODES, {})
    ]
    edges = [
        f"{row['source']} {row['type']} {row['target']} {sorted(row['properties'].items(), key=str)}"
        for row in database.ask(_EDGES, {})
    ]
    return sorted(nodes), sorted(edges)


def edges(database: Database, *types: str) -> set[tuple[str, str, str]]:
    """(source urn, type, target urn) of all edges of these types."""
    rows = database.ask(_EDGES, {})
    return {(row["source"], row["type"], row["target"]) for row in rows if row["type"] in types}


def empty(database: Database) -> None:
    """Take everything out but the record of the migrations."""
    # In pieces: a large graph in one transaction would be over the server's bound on its memory.
    rows = 1
    while rows:
        with database._transaction("WRITE", 60.0) as transaction:
            rows = transaction.run(_ERASE).consume().counters.nodes_deleted
