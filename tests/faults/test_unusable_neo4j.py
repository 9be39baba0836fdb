"""F08: a Neo4j that answers and cannot be used.

It refuses the password, has lost its constraints, or is read-only. The API accepts events, `/readyz`
names the reason, the worker goes on trying, and folds everything once the cause is gone. The tests
restart a Neo4j that no other test uses.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.conftest import Neo4jServer
from tests.cypher.test_migrate import drop_schema, schema_of
from tests.faults.checker import assert_nothing_lost
from tests.faults.history import history
from tests.faults.load import Load
from tests.faults.own_neo4j import OwnNeo4j
from tests.faults.processes import Installation, installation, wait_for
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j]

RUNS = 100
NOTICED_SECONDS_MAX = 60.0
# Neo4j refuses even the right password for five seconds after three wrong ones.
ATTEMPTS = 6


def reasons(home: Installation) -> str:
    """Return why the API is not ready."""
    ready = home.ask("/readyz")
    assert ready.status == 503
    assert ready.json["checks"]["spool"] == {"ok": True}
    return "; ".join(ready.json["reasons"])


def accept_all(home: Installation) -> Load:
    """Post the run history, of which every event must be accepted at once."""
    with Load(home.port, [[body] for body in history(RUNS)], clients=4) as load:
        pass
    assert {attempt.status for attempt in load.attempts} == {201}
    return load


def attempts(home: Installation, reason: str) -> int:
    """Return how often a running worker has reported a reason."""
    assert home.worker.running, home.worker.output()
    lines = [line for line in home.worker.output().splitlines() if "waiting_to_retry" in line]
    return sum(reason in line for line in lines)


def wait_reported(home: Installation, reason: str, number: int = 2) -> None:
    wait_for(reason, lambda: attempts(home, reason) >= number, NOTICED_SECONDS_MAX)


def test_a_wrong_password(own: OwnNeo4j, graph_of_own: Database, tmp_path: Path) -> None:
    wrong = Neo4jServer(own.server.uri, own.server.user, "not-the-password")
    with installation(tmp_path / "home", wrong) as home:
        home.start_api()
        home.worker.start()
        load = accept_all(home)
        assert "refused the user name or password" in reasons(home)
        wait_reported(home, "refused the user name or password", ATTEMPTS)
        answer = home.graphql('{ search(text: "mart") { __typename } }')
        assert "Neo4j refused the user name or password" in answer.json["errors"][0]["message"]
        home.close()
        for program in (home.api, home.worker):
            program.environment["HEADWATER_NEO4J_PASSWORD"] = own.server.password
        home.start_api()
        home.worker.start()
        assert_nothing_lost(home, graph_of_own, load.attempts)


def test_lost_constraints(own: OwnNeo4j, graph_of_own: Database, tmp_path: Path) -> None:
    """The record of the migrations is there, the constraints are not."""
    whole = schema_of(graph_of_own)
    drop_schema(graph_of_own)
    with installation(tmp_path / "home", own.server) as home:
        home.start_api()
        assert "migrations: the graph lacks" in reasons(home)
        load = accept_all(home)
        home.worker.start()
        home.wait_folded(graph_of_own, NOTICED_SECONDS_MAX)
        assert schema_of(graph_of_own) == whole
        assert home.ask("/readyz").status == 200
        assert_nothing_lost(home, graph_of_own, load.attempts)


def test_constraints_that_the_graph_violates(
    own: OwnNeo4j, graph_of_own: Database, tmp_path: Path
) -> None:
    drop_schema(graph_of_own)
    change(graph_of_own, "UNWIND [1, 2] AS i CREATE (:Job {urn: 'job:etl:twice'})")
    with installation(tmp_path / "home", own.server) as home:
        home.start_api()
        home.worker.start()
        load = accept_all(home)
        wait_reported(home, "job_urn")
        assert "migrations: the graph lacks" in reasons(home)
        change(graph_of_own, "MATCH (j:Job {urn: 'job:etl:twice'}) DELETE j")
        home.wait_folded(graph_of_own, NOTICED_SECONDS_MAX)
        assert_nothing_lost(home, graph_of_own, load.attempts)


@in_torture_only
def test_a_read_only_neo4j(own: OwnNeo4j, graph_of_own: Database, tmp_path: Path) -> None:
    with installation(tmp_path / "home", own.server) as home:
        home.start_api()
        home.worker.start()
        wait_for("ready", lambda: home.ask("/readyz").status == 200, NOTICED_SECONDS_MAX)
        own.restart(read_only=True)
        load = accept_all(home)
        wait_reported(home, "Neo4j is read-only")
        # A worker that starts on it waits as well.
        home.worker.kill()
        home.worker.start()
        before = attempts(home, "Neo4j is read-only")
        wait_reported(home, "Neo4j is read-only", before + 2)
        own.restart()
        checkpoint = home.wait_folded(graph_of_own, NOTICED_SECONDS_MAX)
        assert checkpoint.dead == 0
        assert_nothing_lost(home, graph_of_own, load.attempts)


def change(database: Database, statement: str) -> None:
    with database._transaction("WRITE", 60.0) as transaction:
        transaction.run(statement).consume()
