"""kill -9 within every migration: the next start goes on, and the schema is the same (F23)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import _statements, migrate, migrations, pending
from tests.canonical import canonical, empty
from tests.conftest import Neo4jServer
from tests.cypher.test_migrate import drop_schema, forget, schema_of
from tests.run_builders import run, write_events

# Runs pending migrations, and kills itself after some statements.
PROGRAM = """
import os, sys
from headwater.cypher import migrate as module
from headwater.cypher.driver.database import Database

uri, user, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
run = module._run

def run_and_count(database, statements):
    global left
    run(database, statements)
    left -= 1
    if not left:
        os.kill(os.getpid(), 9)

module._run = run_and_count
module.migrate(Database(uri, user, os.environ["PASSWORD"]))
"""


@pytest.mark.neo4j
def test_a_kill_within_every_migration_changes_no_schema(
    neo4j_server: Neo4jServer, database: Database
) -> None:
    empty(database)
    write_events(database, run("r", "load", ["raw"], ["mart"], minute=0))
    expected, graph = schema_of(database), canonical(database)
    forget(database)
    drop_schema(database)
    environment = {**os.environ, "PASSWORD": neo4j_server.password}
    before = 0
    for migration in migrations():
        statements = len(_statements(migration.text))
        middle = max(statements // 2, 1)
        # The process ends the migration in which the one before was killed.
        words = [neo4j_server.uri, neo4j_server.user, str(before + middle)]
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words], env=environment, check=False
        )
        assert ended.returncode == -9
        assert pending(database)[0].name == migration.name, "its record comes after its end"
        before = statements
    assert migrate(database) == [migrations()[-1].name]
    assert (pending(database), schema_of(database)) == ([], expected)
    assert canonical(database) == graph
    empty(database)
