"""Queries by GET: parameters of the URL, persisted queries, and what GET refuses."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from headwater.access.principal import ANONYMOUS, Principal
from headwater.graphql.context import Context
from headwater.graphql.persisted_queries import PersistedQueries
from headwater.graphql.schema import create_schema
from headwater.graphql.transport.http import GraphQLApp

pytestmark = pytest.mark.neo4j
QUERY = (
    'query Named($first: Int) { runs(first: $first, namespace: "nowhere") { edges { cursor } } }'
)
JSON_ACCEPTED = {"accept": "application/graphql-response+json, application/json"}


def get(client: TestClient, headers: dict[str, str] | None = None, **parameters: Any) -> Any:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in parameters.items()
    }
    return client.get("/graphql", params=texts, headers={**JSON_ACCEPTED, **(headers or {})})


def test_query_variables_and_operation_name(client: TestClient) -> None:
    query = QUERY + " query Other { nothing: __typename }"
    found = get(client, query=query, variables={"first": 3}, operationName="Named", extensions={})
    assert found.status_code == 200
    assert found.json() == {"data": {"runs": {"edges": []}}}
    assert found.headers["cache-control"] == "no-store"
    wrong = get(client, query=QUERY, variables={"first": 0}).json()
    assert wrong["errors"][0]["message"] == "first 0 is not between 1 and 200"
    assert get(client, query="{ __typename }", variables="", extensions="").json() == {
        "data": {"__typename": "Query"}
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "the request has no query"),
        ({"query": "{ __typename }", "variables": "{"}, "`variables` must be a JSON object"),
        ({"query": "{ __typename }", "variables": "[1]"}, "`variables` must be a JSON object"),
        ({"query": "{ __typename }", "extensions": "1"}, "`extensions` must be a JSON object"),
    ],
)
def test_malformed_parameters(client: TestClient, parameters: dict[str, Any], message: str) -> None:
    found = get(client, **parameters)
    assert found.status_code == 400
    [error] = found.json()["errors"]
    assert error["message"].startswith(message)
    assert error["extensions"]["code"] == "BAD_REQUEST"


def test_a_query_string_has_a_limit() -> None:
    """The client of the tests refuses such a URL itself, so the application is called."""
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        messages.append(message)

    def no_context(_: Principal) -> Context:
        raise AssertionError("nothing is executed")

    async def call() -> None:
        app = GraphQLApp(create_schema(), PersistedQueries(), no_context)
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/graphql",
            "headers": [(b"host", b"127.0.0.1")],
            "query_string": b"query=" + b"+" * 70_000,
            "state": {"principal": ANONYMOUS},
        }
        await app(scope, receive, send)

    anyio.run(call)
    assert messages[0]["status"] == 400
    assert b"the query string exceeds 65536 bytes" in messages[1]["body"]


def test_mutations_and_subscriptions_are_refused(client: TestClient) -> None:
    mutation = 'mutation { registerSource(input: {name: "x"}) { urn } }'
    found = get(client, query=mutation)
    assert (found.status_code, found.headers["allow"]) == (405, "POST")
    [error] = found.json()["errors"]
    assert "mutations" in error["message"].lower()
    assert error["extensions"]["hint"] == "Send it by POST."
    subscribed = get(client, query="subscription { failures { runId } }").json()
    assert subscribed["errors"][0]["message"] == "subscriptions need a WebSocket connection"


def test_automatic_persisted_queries(client: TestClient) -> None:
    """Apollo sends the hash by GET, then hash and text, then the hash again."""
    query = "{ __typename }"
    hash = hashlib.sha256(query.encode()).hexdigest()
    extensions = {"persistedQuery": {"version": 1, "sha256Hash": hash}}
    unknown = get(client, extensions=extensions)
    assert unknown.status_code == 200
    [error] = unknown.json()["errors"]
    assert error["message"] == "PersistedQueryNotFound"
    assert error["extensions"]["code"] == "PERSISTED_QUERY_NOT_FOUND"
    whole = {"query": query, "extensions": extensions}
    expected = {"data": {"__typename": "Query"}}
    assert client.post("/graphql", json=whole).json() == expected
    assert get(client, extensions=extensions).json() == expected


def test_a_browser_gets_the_page(client: TestClient) -> None:
    page = get(client, {"accept": "text/html,*/*"}, query="{ __typename }")
    assert page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        # The check of origins lets only allowed ones pass.
        ({"sec-fetch-site": "cross-site", "origin": "https://dash.example.com"}, 200),
    ],
)
def test_pages_of_other_sites_cannot_cause_queries(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    found = get(client, headers, query="{ __typename }")
    assert found.status_code == status
    if status == 403:
        assert found.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"
