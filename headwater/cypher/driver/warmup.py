"""Have Neo4j plan the queries of the library before somebody waits for them.

A server that has just started plans every statement when it first sees it, which for the whole library takes seconds;
the first batch, or the first person to ask, would wait for all of them. Every query is run here with nothing to do:
no rows to write, urns that no node has.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query, load_queries

_WALKS = (
    "read/nodes/properties",
    "read/nodes/canonical_datasets",
    "read/traversal/",
    "read/cache/",
    "read/failures/failed_run",
)
_NOTHING: dict[str, Any] = {
    "STRING": "none",
    "INTEGER": 1,
    "FLOAT": 1.0,
    "BOOLEAN": False,
    "DATETIME": datetime(1970, 1, 1, tzinfo=UTC),
    "MAP": {},
    "LIST<STRING>": ["run:none"],
    "LIST<MAP>": [],
}


def warm(
    database: Database, wanted: Callable[[Query], bool], *, stop: Callable[[], bool] = lambda: False
) -> None:
    """Run the queries that are wanted, with nothing to do, until told to stop. Raises UnavailableError."""
    for name, query in load_queries().items():
        if stop():
            return
        if wanted(query):
            with database.write() as transaction:
                transaction.run(
                    name,
                    **{parameter.name: _NOTHING[parameter.type] for parameter in query.parameters},
                )


def folds(query: Query) -> bool:
    """The worker's queries, but for those that write though they are given no rows, and the one that finds edges by
    their ids: planned on an empty graph it would look through all there are."""
    names = {parameter.name for parameter in query.parameters}
    if query.example != "run by the worker":
        return False
    if query.access == "read":
        return True
    return (
        query.name != "write/lineage/last_seen"
        and query.access == "write"
        and bool(names & {"rows", "urns"})
    )


def walks(query: Query) -> bool:
    """The queries that almost every question needs."""
    return query.name.startswith(_WALKS)


def reads(query: Query) -> bool:
    """The queries behind GraphQL and the command line."""
    return query.name.startswith("read/")
