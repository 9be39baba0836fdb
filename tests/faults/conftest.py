"""Fixtures of the fault tests: an empty graph, and an API and workers as processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.conftest import Neo4jServer
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
