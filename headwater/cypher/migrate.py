"""Migrations: bring constraints, indexes and property names of a graph up to date at start.

A migration is a numbered file under `migrations/` and is never edited after its release. Each
statement ends with `;` at the end of a line and can run twice. A statement with `IN TRANSACTIONS`
commits in batches and continues where an interrupted run stopped. The graph records each applied
migration as (:Migration); `readyz` reports the missing ones.

A constraint or an index that someone dropped since is created again at the next start: without
constraints, concurrent writers could make one node twice.

An empty graph gets the constraints and indexes that all migrations together leave, in one
transaction: a quarter of the processor time of running them one by one.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Callable, Sequence
from functools import partial

from headwater.cypher.driver.database import READ_SECONDS_MAX, Database
from headwater.cypher.query_catalog import Query, load_queries, refuse_newer
from headwater.errors import HeadwaterError, QueryError, UnavailableError

# A server that was just started on a busy machine takes its time for the first statements.
STEP_SECONDS_MAX = 120.0
_ATTEMPTS_MAX, _PAUSE_SECONDS = 20, 0.2
_BATCHED = "IN TRANSACTIONS"
_SCHEMA_CHANGE = re.compile(
    r"(CREATE|DROP)\s+(?:(?:RANGE|TEXT|POINT|FULLTEXT)\s+)?((?:INDEX|CONSTRAINT)\s+\w+)"
)

log = logging.getLogger("headwater.migrate")


def migrations() -> list[Query]:
    """Return every migration, in order."""
    return [
        query for name, query in sorted(load_queries().items()) if name.startswith("migrations/")
    ]


def pending(database: Database, *, seconds: float = READ_SECONDS_MAX) -> list[Query]:
    """Return the migrations that are not applied to this database, read within that time."""
    applied = _applied(database, seconds)
    return [query for query in migrations() if query.name not in applied]


def lost_schema(database: Database, *, seconds: float = READ_SECONDS_MAX) -> dict[str, str]:
    """Return the statements of the constraints and indexes that a graph has lost, by name.

    Every migration of the graph must be applied.
    """
    names = {row["name"] for row in database.read("read/state/index_names", seconds=seconds)}
    by_name = {_schema_name(statement): statement for statement in net_schema(migrations())}
    return {name: statement for name, statement in by_name.items() if name not in names}


def check_not_newer(database: Database, *, seconds: float = READ_SECONDS_MAX) -> None:
    """Check that this version has every migration of the graph, read within that time.

    Every write transaction does so too. Raises NewerVersionError.
    """
    refuse_newer(partial(database.read, seconds=seconds))


def migrate(database: Database) -> list[str]:
    """Apply the pending migrations, restore a lost schema, and return the names of the migrations.

    Several processes may call it at once. Raises NewerVersionError, and what queries raise.
    """
    check_not_newer(database, seconds=STEP_SECONDS_MAX)
    missing = pending(database, seconds=STEP_SECONDS_MAX)
    if database.read("read/state/is_empty", seconds=STEP_SECONDS_MAX)[0]["empty"]:
        _run(database, net_schema(missing))
        _record(database, missing)
    else:
        for query in missing:
            for statement in _statements(query.text):
                _run(database, [statement])
            _record(database, [query])
    for name, statement in lost_schema(database, seconds=STEP_SECONDS_MAX).items():
        _run(database, [statement])
        log.warning("schema_restored name=%s", name)
    return [query.name for query in missing]


def net_schema(queries: Sequence[Query]) -> list[str]:
    """Return the statements that bring an empty graph to the schema after these migrations.

    An index that a later migration drops is never created, and there are no properties to rename.
    """
    kept: dict[str, str] = {}
    for query in queries:
        for statement in _statements(query.text):
            change = _SCHEMA_CHANGE.match(statement)
            if change and change[1] == "DROP":
                kept.pop(change[2], None)
            elif _BATCHED not in statement:
                kept[change[2] if change else statement] = statement
    return list(kept.values())


def _applied(database: Database, seconds: float) -> set[str]:
    return {row["name"] for row in database.read("read/state/applied_migrations", seconds=seconds)}


def _schema_name(statement: str) -> str:
    """Return the name of the index or constraint that a statement creates."""
    change = _SCHEMA_CHANGE.match(statement)
    assert change
    return change[2].split()[1]


def _record(database: Database, queries: Sequence[Query]) -> None:
    def record() -> None:
        with database.write(seconds=STEP_SECONDS_MAX) as transaction:
            for query in queries:
                transaction.run("write/maintenance/record_migration", name=query.name)

    _repeat_on_conflict(record)


def _run(database: Database, statements: Sequence[str]) -> None:
    """Run statements in one transaction; one that commits in batches must stand alone."""

    def run() -> None:
        if any(_BATCHED in statement for statement in statements):
            (statement,) = statements
            database.run_batches(statement)
        else:
            database.run_schema(statements, seconds=STEP_SECONDS_MAX)

    _repeat_on_conflict(run)


def _repeat_on_conflict(action: Callable[[], None]) -> None:
    """Call a function again, after longer and longer pauses, while changes of schema disturb it."""
    for attempt in range(1, _ATTEMPTS_MAX + 1):
        try:
            action()
            return
        except (QueryError, UnavailableError) as error:
            if attempt == _ATTEMPTS_MAX or not _is_conflict(error):
                raise
            time.sleep(_PAUSE_SECONDS * attempt * random.random())


def _is_conflict(error: HeadwaterError) -> bool:
    """Return True if changes of schema disturbed a statement: it can run again.

    Another process may have run the same one, as `IF NOT EXISTS` checks before it locks. A plan is
    out of date whenever a new index has been filled, and Neo4j gives up after a few.
    """
    code = str(getattr(error.__cause__, "code", None))
    is_replanned = "frequent schema changes" in error.message
    return "AlreadyExists" in code or "DeadlockDetected" in code or is_replanned


def _statements(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";\n") if part.strip(" ;\n")]
