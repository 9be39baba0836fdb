"""Constraints and indexes, brought up to date at start.

Migrations are numbered files under `migrations/`, never edited once released; each statement ends with `;` on its
line and may be run twice. What was applied is recorded in the graph as (:Migration), so that `readyz` can tell.
"""

from __future__ import annotations

import random
import time

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import Query, load_queries
from headwater.errors import HeadwaterError, QueryError, UnavailableError

_TURNS_MAX, _PAUSE_SECONDS = 20, 0.2


def migrations() -> list[Query]:
    """Every migration, in order."""
    return [
        query for name, query in sorted(load_queries().items()) if name.startswith("migrations/")
    ]


def pending(database: Database) -> list[Query]:
    """The migrations this database has not had yet."""
    applied = {row["name"] for row in database.read("read/state/applied_migrations")}
    return [query for query in migrations() if query.name not in applied]


def migrate(database: Database) -> list[str]:
    """Apply what is pending; returns the names applied. Safe to call from several processes at once."""
    applied = []
    for query in pending(database):
        for statement in _statements(query.text):
            _run(database, statement)
        with database.write() as transaction:
            transaction.run("write/record_migration", name=query.name)
        applied.append(query.name)
    return applied


def _run(database: Database, statement: str) -> None:
    for turn in range(_TURNS_MAX):
        try:
            database.run_schema(statement)
            return
        except (QueryError, UnavailableError) as error:
            if turn + 1 == _TURNS_MAX or not _met_another(error):
                raise
            time.sleep(_PAUSE_SECONDS * random.random())


def _met_another(error: HeadwaterError) -> bool:
    """Whether another process was making or dropping the same at that moment: `IF NOT EXISTS` looks before it waits."""
    code = str(getattr(error.__cause__, "code", None))
    return "AlreadyExists" in code or "DeadlockDetected" in code


def _statements(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";\n") if part.strip(" ;\n")]
