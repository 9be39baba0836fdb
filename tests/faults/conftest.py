"""What the faults are done to: an empty graph and a house of processes, ended and unmounted
whatever happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.faults.processes import Installation, house


@pytest.fixture
def graph(database: Database) -> Database:
    """The session's real Neo4j, migrated and empty."""
    empty(database)
    return database


@pytest.fixture
def home(graph: Database, neo4j_server: Neo4jServer, tmp_path: Path) -> Iterator[Installation]:
    """A house that folds into that graph; small batches, so that there are many instants to be
    killed at.
    """
    assert graph.uri == neo4j_server.uri
    with house(tmp_path / "home", neo4j_server, fold_events_max=40) as built:
        yield built
