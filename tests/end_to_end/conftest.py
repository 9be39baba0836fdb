"""A whole Headwater for the end-to-end tests: API and worker as processes, on the session's
Neo4j.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint
from headwater.local.ports import free_port
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.faults.processes import slack

WAIT_SECONDS_MAX = 60.0


class Running:
    """The address of a running Headwater, and a wait until the graph has every accepted event."""

    def __init__(self, url: str, home: Path, database: Database) -> None:
        self.url = url
        self.home = home
        self.database = database

    def wait_folded(self) -> None:
        spool = Spool(self.home / "spool.db")
        try:
            wait_for(lambda: read_checkpoint(self.database, spool.id).position == spool.last())
        finally:
            spool.close()
        # Neo4j shows changed properties of a commit before its new nodes. The checkpoint is
        # therefore visible some milliseconds before the nodes of its batch. The lock is released
        # when all is visible.
        with self.database.write() as transaction:
            transaction.run("write/maintenance/lock_graph", holder="tests")


def wait_for(condition: Callable[[], Any], seconds: float = WAIT_SECONDS_MAX) -> None:
    """Wait until a condition is true; `seconds` is the limit on an idle machine."""
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < seconds * slack(), f"still not so after {waited:.0f} s"
        time.sleep(0.05)


def answers_at(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def started(
    neo4j_server: Neo4jServer, database: Database, home: Path, **settings: str
) -> Iterator[Running]:
    """Start the API and a worker on an empty graph, and end them afterwards.

    `settings` are additional variables of the environment.
    """
    empty(database)
    port = free_port()
    environment = {
        **os.environ,
        "HEADWATER_HOME": str(home),
        "HEADWATER_PORT": str(port),
        "HEADWATER_NEO4J_URI": neo4j_server.uri,
        "HEADWATER_NEO4J_USER": neo4j_server.user,
        "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
        **settings,
    }
    with (home / "log").open("wb") as log:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "headwater", name], env=environment, stdout=log, stderr=log
            )
            for name in ("serve", "worker")
        ]
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: answers_at(f"{url}/readyz"))
        yield Running(url, home, database)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            end_of(process)


def end_of(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process; one that does not end would write to the graphs of others."""
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


@pytest.fixture(scope="module")
def running(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """Yield a server for one file: in the graph of another file it would write its samples."""
    with started(neo4j_server, database, tmp_path_factory.mktemp("headwater")) as server:
        yield server
