"""F25: someone deletes the whole graph while the programs run; the log has it, so it comes back."""

from __future__ import annotations

from functools import partial

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import UnavailableError
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from tests.cypher.test_migrate import schema_of
from tests.faults.checker import assert_nothing_lost, scaled, seeded
from tests.faults.history import endless
from tests.faults.load import Load
from tests.faults.processes import Installation, wait_for
from tests.torture import FAULT_SCALE

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900 * FAULT_SCALE)]

DELETIONS = 3
FOLDED_BEFORE = 40
PROGRESS_SECONDS_MAX = 120.0
QUESTION = '{ search(text: "mart") { __typename } }'


def deletes_everything(graph: Database) -> bool:
    """Delete every node, the record of the migrations and the checkpoint among them.

    Return False if Neo4j chose this transaction to end a deadlock with the worker.
    """
    try:
        with graph._transaction("WRITE", 60.0) as transaction:
            transaction.run("MATCH (n) DETACH DELETE n").consume()
    except UnavailableError:
        return False
    return True


def has_folded(graph: Database, spool_id: str, mark: int) -> bool:
    try:
        return read_checkpoint(graph, spool_id).position >= mark
    except UnavailableError:  # a busy machine
        return False


def answers(home: Installation) -> bool:
    return "errors" not in home.graphql(QUESTION).json


def wait_folded(graph: Database, spool_id: str, mark: int) -> None:
    wait_for(f"{mark} folded", partial(has_folded, graph, spool_id, mark), PROGRESS_SECONDS_MAX)


def test_a_graph_that_is_deleted_while_it_is_written(home: Installation, graph: Database) -> None:
    chance = seeded(20261125)
    schema = schema_of(graph)
    home.start_api()
    home.worker.start()
    spool = Spool(home.spool_path)
    spool.close()
    with Load(home.port, endless(), clients=2, pause=0.4, seconds_max=900) as load:
        for _ in range(scaled(DELETIONS)):
            mark = load.acknowledged + chance.randint(1, FOLDED_BEFORE)
            wait_folded(graph, spool.id, mark)
            wait_for("deleted", partial(deletes_everything, graph), PROGRESS_SECONDS_MAX)
            print(f"deleted at event {mark}")
            wait_folded(graph, spool.id, mark)
            wait_for("an answer", partial(answers, home), PROGRESS_SECONDS_MAX)
        load.stop()
    assert {attempt.status for attempt in load.attempts} == {201}
    assert schema_of(graph) == schema
    assert_nothing_lost(home, graph, load.attempts)
