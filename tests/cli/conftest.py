"""The commands on the graph of the tests: they find it as a user's commands do, by settings."""

from __future__ import annotations

import pytest

from tests.conftest import Neo4jServer
from tests.keyed_api import api, graph, home, keys

__all__ = ["api", "graph", "home", "keys"]


@pytest.fixture(autouse=True)
def own_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of the developer that name an API."""
    for name in ("HEADWATER_URL", "HEADWATER_PROFILE", "HEADWATER_API_KEY", "HEADWATER_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def settings_of_tests(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the settings name the Neo4j of the tests."""
    monkeypatch.setenv("HEADWATER_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("HEADWATER_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", neo4j_server.password)
