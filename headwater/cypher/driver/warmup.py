"""Warm-up: Neo4j plans the queries of the catalog before a caller waits for them.

A server that has just started plans every statement when it first sees it, which takes seconds for
the whole catalog. The first batch or the first question would wait for that. The warm-up runs every
query without effect: no rows to write, urns that no node has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query, load_queries

# The queries of nearly every question, and of those for which a pipeline or a branch waits, by the
# beginnings of their names.
_FIRST = (
    "read/nodes/properties",
    "read/nodes/canonical_datasets",
    "read/traversal/",
    "read/cache/",
    "read/failures/failed_run",
    "read/failures/citations_",
    "read/failures/refreshes",
    "read/failures/run_outcomes",
    "read/lists/",
    "read/catalog/search",
    "read/nodes/owners",
    "read/policies/",
    "read/impact/",
    "read/nodes/facts",
    "read/nodes/dataset_answers",
    "read/figures/answers_of_datasets",
    "read/findings/cited_datasets",
    "read/governance/dataset_columns",
    "read/personal_data/classified_among",
    "read/personal_data/links",
)
# How much longer a question may take until they are planned.
PLANNING_SECONDS_MAX = 50.0
_WITHOUT_EFFECT: dict[str, Any] = {
    "STRING": "none",
    "INTEGER": 1,
    "FLOAT": 1.0,
    "BOOLEAN": False,
    "DATETIME": datetime(1970, 1, 1, tzinfo=UTC),
    "MAP": {},
    "LIST<STRING>": ["run:none"],
    "LIST<MAP>": [],
}


def warm_up(
    database: Database,
    is_selected: Callable[[Query], bool],
    *,
    stop: Callable[[], bool] = lambda: False,
    rest: float = 0.0,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Run the wanted queries without effect, until `stop` returns True.

    After each query, `pause` is called with `rest` times the seconds that the query took. Raises
    UnavailableError.
    """
    for name, query in load_queries().items():
        if stop():
            return
        if is_selected(query):
            began = time.monotonic()
            parameters = {
                parameter.name: _WITHOUT_EFFECT[parameter.type] for parameter in query.parameters
            }
            with database.write() as transaction:
                transaction.run(name, **parameters)
            if rest:
                pause(rest * (time.monotonic() - began))


def is_fold_query(query: Query) -> bool:
    """Return True for the queries of the worker that have no effect without rows.

    The query that finds edges by their ids is none of them: planned on an empty graph it would scan
    all edges.
    """
    if query.example != "run by the worker":
        return False
    if query.access == "read":
        return True
    names = {parameter.name for parameter in query.parameters}
    takes_rows = bool(names & {"rows", "urns", "jobs"})
    return query.name != "write/lineage/last_seen" and query.access == "write" and takes_rows


def is_first_query(query: Query) -> bool:
    """Return True for the queries of nearly every question, of decisions and of the gate."""
    return query.name.startswith(_FIRST)


def is_read_query(query: Query) -> bool:
    """Return True for the queries behind GraphQL and the command line."""
    return query.name.startswith("read/")
