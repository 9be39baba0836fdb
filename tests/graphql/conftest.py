"""A GraphQL endpoint over the real Neo4j; submitted events are folded and written at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.principal import Principal, Scope
from headwater.access.store import AccessStore
from headwater.cypher.driver.database import Database
from headwater.graphql import feed as news
from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.view import GraphView
from headwater.settings import Settings
from headwater.ui import routes as ui
from tests.conftest import Neo4jServer
from tests.graphql import subscribers
from tests.guards import guard_of
from tests.run_builders import write_events

Ask = Callable[..., dict[str, Any]]
Served = Callable[[list[BaseRoute]], Starlette]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve routes behind a guard that requires no key."""
    store = AccessStore(tmp_path / "access.db")
    guard = guard_of(store)
    yield lambda routes: Starlette(routes=guard.routes(routes))
    store.close()


@pytest.fixture
def application(database: Database, view: GraphView, served: Served) -> Starlette:
    async def submit(_: Principal, events: list[dict[str, Any]]) -> None:
        await anyio.to_thread.run_sync(write_events, database, events)

    persisted = PersistedQueries(own=ui.documents())
    return served([*ui.routes(), *graphql_routes(view, submit, persisted=persisted)])


@pytest.fixture
def client(application: Starlette) -> Iterator[TestClient]:
    with TestClient(application) as client:
        yield client


@pytest.fixture
def ask(client: TestClient) -> Ask:
    """Return a function that posts a query and returns the whole answer."""

    def post(query: str, **variables: Any) -> dict[str, Any]:
        response = client.post("/graphql", json={"query": query, "variables": variables})
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    return post


@pytest.fixture
def data(ask: Ask) -> Ask:
    """Return a function that posts a query without errors and returns its data."""

    def post(query: str, **variables: Any) -> dict[str, Any]:
        answer = ask(query, **variables)
        assert "errors" not in answer, answer["errors"]
        found: dict[str, Any] = answer["data"]
        return found

    return post


@pytest.fixture
def refused(ask: Ask) -> Ask:
    """Return a function that posts a query and returns its one error."""

    def post(query: str, **variables: Any) -> dict[str, Any]:
        answer = ask(query, **variables)
        assert len(answer["errors"]) == 1, answer
        error: dict[str, Any] = answer["errors"][0]
        return error

    return post


@pytest.fixture
def missing(refused: Ask, ask: Ask) -> Callable[[str], None]:
    """Assert that a root field is null with an error of its own."""

    def check(query: str) -> None:
        error = refused(query)
        assert error["extensions"]["code"] == "NOT_FOUND"
        assert error["extensions"]["hint"]
        [field] = error["path"]
        assert ask(query)["data"] == {field: None}

    return check


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll ten times a second."""
    monkeypatch.setattr(news, "POLL_SECONDS", 0.1)


@pytest.fixture(scope="module")
def serve(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subscribers.Serve]:
    """Return a function that starts servers; all stop after the module."""
    del database
    running: list[subscribers.Served] = []
    tmp_path = tmp_path_factory.mktemp("home")
    store = AccessStore(tmp_path / "access.db")
    Keys(store).create("first", [Scope.READ])

    def start(**settings: Any) -> subscribers.Served:
        served = subscribers.Served(
            Settings(
                home=str(tmp_path),
                port=0,
                neo4j_uri=neo4j_server.uri,
                neo4j_user=neo4j_server.user,
                neo4j_password=neo4j_server.password,
                log_level="warning",
                **settings,
            ),
            Keys(store),
        )
        served.start()
        running.append(served)
        return served

    yield start
    for served in running:
        served.stop()
    store.close()


@pytest.fixture(scope="module")
def open_to_all(serve: subscribers.Serve) -> subscribers.Served:
    return serve()


@pytest.fixture(scope="module")
def keyed(serve: subscribers.Serve) -> subscribers.Served:
    return serve(require_keys=True)
