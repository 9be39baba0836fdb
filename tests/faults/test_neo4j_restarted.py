"""A Neo4j that restarts while the API goes on: it has no plans, so they are made again first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import WRITE_SECONDS_MAX, Database, Transaction
from headwater.cypher.driver.warmup import PLANNING_SECONDS_MAX, is_first_query
from headwater.cypher.query_catalog import load_queries
from headwater.server import run_warm_up
from tests.faults.own_neo4j import OwnNeo4j, wait_migrated
from tests.faults.processes import wait_for
from tests.torture import in_torture_only

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.timeout(900)]

SECONDS_MAX = 300.0


class PlannedDatabase(Database):
    """A database that counts its write transactions: a warm-up runs each query in one."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.transactions = 0

    @contextmanager
    def write(self, *, seconds: float = WRITE_SECONDS_MAX) -> Iterator[Transaction]:
        with super().write(seconds=seconds) as transaction:
            yield transaction
        self.transactions += 1


@in_torture_only
def test_first_queries_are_planned_again_after_a_restart_of_neo4j(tmp_path: Path) -> None:
    own, stop = OwnNeo4j(tmp_path), threading.Event()
    first = sum(map(is_first_query, load_queries().values()))
    own.start()
    try:
        server = own.server
        with closing(PlannedDatabase(server.uri, server.user, server.password)) as database:
            wait_migrated(database)
            database.planning_seconds = PLANNING_SECONDS_MAX
            database.transactions = 0
            thread = threading.Thread(target=run_warm_up, args=(database, stop), daemon=True)
            thread.start()
            wait_for("the plans", lambda: database.planning_seconds == 0.0, SECONDS_MAX)
            assert database.transactions >= first
            own.kill()
            wait_for("the loss", lambda: database.planning_seconds > 0.0, SECONDS_MAX)
            database.transactions = 0
            own.start()
            wait_for("new plans", lambda: database.planning_seconds == 0.0, SECONDS_MAX)
            assert database.transactions >= first
            stop.set()
            thread.join(SECONDS_MAX)
            assert not thread.is_alive()
    finally:
        stop.set()
        own.kill()
