"""Fixtures of the fault tests: an empty graph, programs as processes, and a Neo4j to harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.faults.own_neo4j import OwnNeo4j, wait_migrated
from tests.faults.processes import Installation, installation


@pytest.fixture
def graph(database: Database) -> Database:
    """Return the real Neo4j of the session, migrated and empty."""
    empty(database)
    return database


@pytest.fixture
def home(graph: Database, neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Installation]:
    """Yield an installation that folds into that graph in small batches.

    Small batches give many different instants at which a process can be killed.
    """
    assert graph.uri == neo4j_server.uri
    with installation(tmp_path / "home", neo4j_server, fold_events_max=40) as installed:
        yield installed


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnNeo4j]:
    """Yield a Neo4j that only the tests of one file use."""
    server = OwnNeo4j(tmp_path_factory.mktemp("own") / "home")
    yield server
    server.close()


@pytest.fixture
def graph_of_own(own: OwnNeo4j) -> Iterator[Database]:
    """Yield the graph of that Neo4j, migrated and empty."""
    if not own.runs:
        own.start()
    with own.database() as database:
        wait_migrated(database)
        empty(database)
        yield database
