"""Constraints and indexes, brought up to date at start.

Migrations are numbered files under `migrations/`, never edited once released; each statement ends with `;` on its
line and may be run twice. What was applied is recorded in the graph as (:Migration), so that `readyz` can tell.
"""

from __future__ import annotations

from headwater.cypher.database import Database
from headwater.cypher.library import Query, library


def migrations() -> list[Query]:
    """Every migration, in order."""
    return [query for name, query in sorted(library().items()) if name.startswith("migrations/")]


def pending(database: Database) -> list[Query]:
    """The migrations this database has not had yet."""
    applied = {row["name"] for row in database.read("read/applied_migrations")}
    return [query for query in migrations() if query.name not in applied]


def migrate(database: Database) -> list[str]:
    """Apply what is pending; returns the names applied. Safe to call from several processes at once."""
    applied = []
    for query in pending(database):
        for statement in _statements(query.text):
            database.run_schema(statement)
        with database.write() as transaction:
            transaction.run("write/record_migration", name=query.name)
        applied.append(query.name)
    return applied


def _statements(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";\n") if part.strip(" ;\n")]
