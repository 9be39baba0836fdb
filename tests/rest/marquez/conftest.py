"""The run history in a real Neo4j, and Marquez' own client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from marquez_client import MarquezClient  # type: ignore[import-untyped]

from headwater.cypher.driver.database import Database
from tests.canonical import empty
from tests.rest.conftest import Log
from tests.rest.marquez.run_history import history
from tests.run_builders import write_events


@pytest.fixture(scope="module")
def folded(database: Database, log: Log) -> Iterator[None]:
    empty(database)
    log.events = history()
    write_events(database, log.events)
    yield
    log.events = []


@pytest.fixture(scope="module")
def marquez(address: str) -> MarquezClient:
    return MarquezClient(url=address)
