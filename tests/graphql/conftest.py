"""A GraphQL endpoint over the real Neo4j; what is submitted is folded into it at once, by the real fold and writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anyio.to_thread
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.cypher.database import Database
from headwater.graphql.app import graphql_routes
from tests.stories import tell

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def application(database: Database) -> Starlette:
    async def submit(events: list[dict[str, Any]]) -> None:
        await anyio.to_thread.run_sync(tell, database, events)

    return Starlette(routes=graphql_routes(database, submit))


@pytest.fixture
def client(application: Starlette) -> Iterator[TestClient]:
    with TestClient(application) as client:
        yield client


@pytest.fixture
def ask(client: TestClient) -> Ask:
    """The whole answer to a query."""

    def asked(query: str, **variables: Any) -> dict[str, Any]:
        response = client.post("/graphql", json={"query": query, "variables": variables})
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    return asked


@pytest.fixture
def data(ask: Ask) -> Ask:
    """The data of a query that has no errors."""

    def asked(query: str, **variables: Any) -> dict[str, Any]:
        answer = ask(query, **variables)
        assert "errors" not in answer, answer["errors"]
        found: dict[str, Any] = answer["data"]
        return found

    return asked


@pytest.fixture
def refused(ask: Ask) -> Ask:
    """The one error of a query: its message and extensions."""

    def asked(query: str, **variables: Any) -> dict[str, Any]:
        answer = ask(query, **variables)
        assert len(answer["errors"]) == 1, answer
        error: dict[str, Any] = answer["errors"][0]
        return error

    return asked
