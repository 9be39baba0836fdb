"""F23: kill -9 after statements of every migration; the next start goes on to the same schema."""

from __future__ import annotations

import signal

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import _statements, migrate, migrations, pending
from tests.canonical import canonical, empty
from tests.conftest import Neo4jServer
from tests.cypher.test_migrate import drop_schema, forget, schema_of
from tests.faults.checker import scaled
from tests.faults.spool_processes import migrate_until_killed, started
from tests.run_builders import run, write_events

# CI kills after each fourth statement and after the last, `make torture` after each.
STEP = 4 if scaled(1) == 1 else 1
pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900)]


def test_a_kill_after_each_statement_changes_no_schema(
    neo4j_server: Neo4jServer, database: Database
) -> None:
    migrate(database)
    empty(database)
    write_events(database, run("r", "load", ["raw"], ["mart"], minute=0))
    expected, graph = schema_of(database), canonical(database)
    forget(database)
    drop_schema(database)
    kills = repeated = 0
    for migration in migrations():
        statements = len(_statements(migration.text))
        for number in [*range(1, statements, STEP), statements]:
            # The first process runs the migration before once more, which has no record yet.
            process = started(migrate_until_killed, neo4j_server, repeated + number)
            process.join()
            assert process.exitcode == -signal.SIGKILL
            assert pending(database)[0].name == migration.name, "its record comes after its end"
            kills, repeated = kills + 1, 0
        repeated = statements
    print(f"{kills} kills")
    assert migrate(database) == [migrations()[-1].name]
    assert (pending(database), schema_of(database)) == ([], expected)
    assert canonical(database) == graph
    empty(database)
