"""Every route and every root field of GraphQL against every scope, over HTTP, with real keys.

The application and the schema list the routes and fields; the rules give the expected answers. A
route or field without a rule fails by name, and so does a rule without its route or field.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
)
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.testclient import TestClient

from headwater.access.keys import Keys
from headwater.access.principal import Scope
from headwater.access.rules import FIELDS, OPEN, ROUTES, rule_of_field, rule_of_route
from headwater.access.store import AccessStore
from headwater.graphql.schema import create_schema
from headwater.graphql.transport.websocket import PROTOCOL
from headwater.server import create_app
from headwater.settings import Settings

SCHEMA = create_schema()._schema
SCOPES = (*Scope, None)
# The statuses of refusals: a permitted request never gets one, however malformed it is.
REFUSALS = {401, 403}


@dataclass(frozen=True)
class Endpoint:
    """One request to test: a method of a route, and its path as declared."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def declared(routes: list[BaseRoute]) -> Iterator[Endpoint]:
    for route in routes:
        if isinstance(route, Route):
            # A mounted application takes every method; the test uses those with a rule, and one
            # without.
            methods = route.methods or {"GET", "POST", "PUT"}
            for method in sorted(methods - {"HEAD"}):
                yield Endpoint(method, route.path)
        elif isinstance(route, Mount):
            yield Endpoint("GET", route.path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def keys(folder: Path) -> Iterator[dict[Scope | None, str | None]]:
    """Create a key for each scope, and none."""
    store = AccessStore(folder / "access.db")
    created: dict[Scope | None, str | None] = {
        scope: Keys(store).create(scope, [scope])[0] for scope in Scope
    }
    yield {**created, None: None}
    store.close()


@pytest.fixture(scope="module")
def app(folder: Path, keys: object) -> Starlette:
    """Serve the whole application without a Neo4j; authorization does not need one."""
    del keys
    return create_app(Settings(home=str(folder), require_keys=True, neo4j_uri="bolt://127.0.0.1:1"))


@pytest.fixture(scope="module")
def client(app: Starlette) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


def headers(key: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


UNKEYED = "asked for a key"


def expected(rule: str, scope: Scope | None) -> str:
    if rule == OPEN:
        return "let in"
    if scope is None:
        return UNKEYED
    return "let in" if scope in (rule, Scope.ADMIN) else "refused"


def test_routes(app: Starlette, client: TestClient, keys: dict[Scope | None, str | None]) -> None:
    wrong = []
    for endpoint in declared(app.routes):
        path = endpoint.path.replace("{", "").replace("}", "").split(":")[0]
        for scope in SCOPES:
            answer = client.request(
                endpoint.method, path, headers=headers(keys[scope]), json={}, follow_redirects=False
            )
            found = {401: UNKEYED, 403: "refused"}.get(answer.status_code, "let in")
            rule = rule_of_route(endpoint.method, endpoint.path)
            if scope is None and endpoint.path.rstrip("/") == "/graphql":
                # Its page is open for browsers; a question asks for a key.
                rule = Scope.READ
            if found != expected(rule, scope):
                wrong.append((str(endpoint), scope, answer.status_code))
            if answer.status_code == 401:
                assert answer.headers["www-authenticate"].startswith("Bearer")
    assert wrong == []


def test_every_route_has_a_rule(app: Starlette) -> None:
    existing = {(one.method, one.path.rstrip("/") or "/") for one in declared(app.routes)}
    ruled = set[tuple[str, str]]()
    for path, rules in ROUTES.items():
        ruled.update((method, path) for method in rules)
    unruled = {
        f"{method} {path}"
        for method, path in existing - ruled
        if (method, path) != ("PUT", "/graphql")
    }
    assert unruled == set(), "say in headwater/access/rules.py who may ask it"
    assert {f"{method} {path}" for method, path in ruled - existing} == set(), (
        "rules of what is not there"
    )


def test_every_kind_of_route_is_covered(app: Starlette) -> None:
    assert [
        route for route in app.routes if not isinstance(route, Route | Mount | WebSocketRoute)
    ] == []
    assert {
        route.path.rstrip("/") for route in app.routes if isinstance(route, WebSocketRoute)
    } == {"/graphql"}


def fields(root: str) -> list[str]:
    kind = SCHEMA.type_map[root]
    assert isinstance(kind, GraphQLObjectType)
    return [f"{root}.{name}" for name in kind.fields]


ALL_FIELDS = [*fields("Query"), *fields("Mutation"), *fields("Subscription")]


def value_of(type: Any) -> str:
    """Return a value of a type, as a query writes it."""
    type = get_nullable_type(type)
    if is_list_type(type):
        return "[]"
    if isinstance(type, GraphQLInputObjectType):
        needed = {
            name: field for name, field in type.fields.items() if is_required_input_field(field)
        }
        return (
            "{"
            + ", ".join(f"{name}: {value_of(field.type)}" for name, field in needed.items())
            + "}"
        )
    if isinstance(type, GraphQLEnumType):
        return str(next(iter(type.values)))
    plain: dict[str, str] = {
        "Int": "1",
        "Long": "1",
        "Float": "1",
        "Boolean": "true",
        "DateTime": '"2026-01-01"',
    }
    return plain.get(str(type), '"x"')


def query_of(field: str) -> str:
    """Return the smallest query of one root field."""
    root, _, name = field.partition(".")
    kind = SCHEMA.type_map[root]
    assert isinstance(kind, GraphQLObjectType)
    found = kind.fields[name]
    args: dict[str, GraphQLArgument] = {
        key: arg for key, arg in found.args.items() if is_required_argument(arg)
    }
    written = ", ".join(f"{key}: {value_of(arg.type)}" for key, arg in args.items())
    inside = "" if is_leaf_type(get_named_type(found.type)) else "{ __typename }"
    return f"{root.lower()} {{ {name}{f'({written})' if written else ''} {inside} }}"


@pytest.mark.parametrize(
    "field", [field for field in ALL_FIELDS if not field.startswith("Subscription.")]
)
def test_fields(field: str, client: TestClient, keys: dict[Scope | None, str | None]) -> None:
    for scope in SCOPES:
        answer = client.post(
            "/graphql", json={"query": query_of(field)}, headers=headers(keys[scope])
        )
        assert answer.status_code == (401 if keys[scope] is None else 200), answer.text
        codes = {error["extensions"]["code"] for error in answer.json().get("errors", ())}
        refused = expected(rule_of_field(field), scope) != "let in"
        assert (codes == {"FORBIDDEN"}) is refused, (scope, answer.text)
        assert "BAD_REQUEST" not in codes or not refused


@pytest.mark.parametrize("field", fields("Subscription"))
def test_subscriptions(
    field: str, client: TestClient, keys: dict[Scope | None, str | None]
) -> None:
    for scope in SCOPES:
        code, is_served = subscribed(client, keys[scope], query_of(field))
        if expected(rule_of_field(field), scope) == "let in":
            assert (code, is_served) == (4429, True), scope
        else:
            assert (code, is_served) == (4403 if scope else 4401, False), scope


def subscribed(client: TestClient, key: str | None, query: str) -> tuple[int, bool]:
    """Return the code that ends a connection, and whether it accepted a subscription before."""
    served, closed = False, 0
    # On exit the client cancels the connection, which may be ending at that moment.
    with (
        suppress(CancelledError),
        client.websocket_connect("/graphql", subprotocols=[PROTOCOL]) as socket,
    ):
        authorization = headers(key).get("authorization")
        socket.send_json({"type": "connection_init", "payload": {"authorization": authorization}})
        message = socket.receive()
        if message["type"] == "websocket.send":
            socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": query}})
            socket.send_json({"type": "ping"})
            served = socket.receive_json() == {"type": "pong"}
            # The server ends the connection.
            socket.send_json({"type": "connection_init"})
            message = socket.receive()
        closed = message["code"]
    return closed, served


def test_every_field_has_a_rule() -> None:
    assert set(ALL_FIELDS) - FIELDS.keys() == set(), (
        "say in headwater/access/rules.py who may ask it"
    )
    assert FIELDS.keys() - set(ALL_FIELDS) == set(), "rules of what is not there"


def test_routes_without_a_rule_are_for_administrators() -> None:
    assert rule_of_field("Query.newest") is Scope.ADMIN
    assert rule_of_route("GET", "/newest") is Scope.ADMIN
    assert rule_of_route("DELETE", "/graphql") is Scope.ADMIN


def test_a_path_cannot_be_written_past_its_rule(
    client: TestClient, keys: dict[Scope | None, str | None]
) -> None:
    for path in ("/access/keys", "/access/log", "/api/v1/lineage", "/metrics"):
        for written in (
            path,
            f"/.{path}",
            f"{path}/",
            path.upper(),
            f"{path}%2f",
            f"{path};x",
            f"/static/..{path}",
        ):
            status = client.get(written, headers=headers(keys[Scope.INGEST])).status_code
            assert status in {403, 404, 405}, (written, status)


def test_each_of_several_fields_is_authorized(
    client: TestClient, keys: dict[Scope | None, str | None]
) -> None:
    query = '{ search(text: "x") { totalCount } __typename conformance { producers { producer } } }'
    answer = client.post(
        "/graphql", json={"query": query}, headers=headers(keys[Scope.INGEST])
    ).json()
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
    # An alias of a field has the same rule.
    aliased = 'mutation { run: registerSource(input: {name: "x"}) { urn } }'
    answer = client.post(
        "/graphql", json={"query": aliased}, headers=headers(keys[Scope.READ])
    ).json()
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
