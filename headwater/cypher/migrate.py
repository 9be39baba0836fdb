"""Migrations: bring constraints, indexes and property names of a graph up to date at start.

A migration is a numbered file under `migrations/` and is never edited after its release. Each
statement ends with `;` at the end of a line and can run twice. A statement with `IN TRANSACTIONS`
commits in batches and continues where an interrupted run stopped. The graph records each applied
migration as (:Migration); `readyz` reports the missing ones.
"""

from __future__ import annotations

import random
import time

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query, load_queries
from headwater.errors import HeadwaterError, QueryError, UnavailableError

_ATTEMPTS_MAX, _PAUSE_SECONDS = 20, 0.2
_BATCHED = "IN TRANSACTIONS"


def migrations() -> list[Query]:
    """Return every migration, in order."""
    return [
        query for name, query in sorted(load_queries().items()) if name.startswith("migrations/")
    ]


def pending(database: Database) -> list[Query]:
    """Return the migrations that are not applied to this database."""
    applied = {row["name"] for row in database.read("read/state/applied_migrations")}
    return [query for query in migrations() if query.name not in applied]


def migrate(database: Database) -> list[str]:
    """Apply the pending migrations and return their names.

    Several processes may call it at once.
    """
    applied = []
    for query in pending(database):
        for statement in _statements(query.text):
            _run(database, statement)
        with database.write() as transaction:
            transaction.run("write/maintenance/record_migration", name=query.name)
        applied.append(query.name)
    return applied


def _run(database: Database, statement: str) -> None:
    run = database.run_batches if _BATCHED in statement else database.run_schema
    for attempt in range(1, _ATTEMPTS_MAX + 1):
        try:
            run(statement)
            return
        except (QueryError, UnavailableError) as error:
            if attempt == _ATTEMPTS_MAX or not _is_conflict(error):
                raise
            time.sleep(_PAUSE_SECONDS * random.random())


def _is_conflict(error: HeadwaterError) -> bool:
    """Return True if another process ran the same statement.

    `IF NOT EXISTS` checks before it locks.
    """
    code = str(getattr(error.__cause__, "code", None))
    return "AlreadyExists" in code or "DeadlockDetected" in code


def _statements(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";\n") if part.strip(" ;\n")]
