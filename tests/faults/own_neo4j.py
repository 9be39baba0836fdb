"""A Neo4j of a test's own, which it may kill, pause and restart."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.cypher.driver.database import Database
from headwater.cypher.migrate import migrate
from headwater.errors import UnavailableError
from headwater.local.neo4j import LocalNeo4j
from headwater.local.neo4j_settings import Sizes
from headwater.local.ports import free_port
from tests.conftest import Neo4jServer, jar_cache
from tests.faults.processes import wait_for

SCHEMA_SECONDS_MAX = 300.0


class OwnNeo4j:
    """A Neo4j that is killed, paused and restarted, always at the same address."""

    def __init__(self, home: Path) -> None:
        self._local = LocalNeo4j(home, free_port(), cache=jar_cache())
        self._local.home.create()
        self._pid = 0
        # The API and the worker need the password before the first start.
        self.server = Neo4jServer(
            f"bolt://127.0.0.1:{self._local.bolt_port}", "neo4j", self._local.home.new_password()
        )

    @property
    def runs(self) -> bool:
        return self._local.status().running

    def start(self) -> float:
        began = time.monotonic()
        self._pid = self._local.start().pid
        return time.monotonic() - began

    def restart(self, *, read_only: bool = False) -> None:
        """End it in order, and start it as one that takes writes or refuses them."""
        self._local.stop()
        self._local.sizes = Sizes(read_only=read_only)
        self.start()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        wait_for("Neo4j is gone", lambda: not self.runs, 10)

    def signal(self, number: signal.Signals) -> None:
        assert self.runs
        os.kill(self._pid, number)

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    @contextmanager
    def database(self) -> Iterator[Database]:
        database = Database(self.server.uri, self.server.user, self.server.password)
        try:
            yield database
        finally:
            database.close()

    def close(self) -> None:
        if self.runs:
            self.kill()
            self._local.stop()


def wait_migrated(database: Database) -> None:
    """Wait until the schema is there; a busy machine may need several attempts."""

    def is_migrated() -> bool:
        try:
            migrate(database)
        except UnavailableError:
            return False
        return True

    wait_for("the schema", is_migrated, SCHEMA_SECONDS_MAX)
