"""The OpenAPI document: complete, with valid schemas, and every answer conforms to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.applications import Starlette
from starlette.routing import Route

from headwater.cypher.driver.database import Database
from headwater.server import create_app
from headwater.settings import load
from headwater.ui.routes import VIEWS
from tests.canonical import empty
from tests.conftest import Neo4jServer
from tests.rest.conftest import serving
from tests.rest.marquez.run_history import history
from tests.run_builders import write_events

pytestmark = pytest.mark.neo4j

# Routes outside of REST: pages, probes, GraphQL, and the administration of keys.
ELSEWHERE = (
    *VIEWS,
    "/",
    "/graphql",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/access/keys",
    "/access/log",
    "/session",
    "/session/oidc",
    "/session/oidc/callback",
    "/v1/traces",
    "/tiles/{figure}",
    "/runbooks",
    "/runbooks/{rule}",
)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def application(
    neo4j_server: Neo4jServer, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> Starlette:
    """Return the real application without a worker: registrations stay on disk."""
    empty(database)
    write_events(database, history())
    settings = {
        "HEADWATER_HOME": str(tmp_path_factory.mktemp("headwater")),
        "HEADWATER_NEO4J_URI": neo4j_server.uri,
        "HEADWATER_NEO4J_USER": neo4j_server.user,
        "HEADWATER_NEO4J_PASSWORD": neo4j_server.password,
    }
    return create_app(load(settings))


@pytest.fixture(scope="module")
def description_url(application: Starlette) -> Iterator[str]:
    with serving(application) as address:
        yield f"{address}/openapi.json"


@pytest.fixture(scope="module")
def described(description_url: str) -> dict[str, Any]:
    found: dict[str, Any] = requests.get(description_url, timeout=10).json()
    return found


def test_every_route_is_described(application: Starlette, described: dict[str, Any]) -> None:
    routes = set()
    for route in application.routes:
        if not isinstance(route, Route) or route.path.endswith("/") or route.path in ELSEWHERE:
            continue
        routes |= {(method, route.path) for method in (route.methods or set()) - {"HEAD"}}
    operations = set()
    for path, methods in described["paths"].items():
        operations |= {(method.upper(), path) for method in methods}
    assert routes <= operations
    # The auditors' Cypher is served only where its queries can be recorded.
    assert {path.partition("{")[0].rstrip("/") for _, path in operations - routes} <= {"/cypher"}
    assert len(operations) > 30


def test_every_schema_is_valid_and_every_reference_leads_somewhere(
    described: dict[str, Any],
) -> None:
    assert described["openapi"] == "3.1.0"
    names = described["components"]["schemas"]
    for schema in names.values():
        Draft202012Validator.check_schema(schema)
    waiting: list[Any] = [described]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            reference = value.get("$ref")
            assert reference is None or reference.removeprefix("#/components/schemas/") in names, (
                reference
            )
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def test_every_operation_has_a_name_of_its_own(described: dict[str, Any]) -> None:
    ids: list[str] = []
    for methods in described["paths"].values():
        ids += [operation["operationId"] for operation in methods.values()]
    assert len(ids) == len(set(ids))


def test_every_answer_conforms_to_its_description(description_url: str) -> None:
    requests_sent = 0
    for result in schemathesis.openapi.from_url(description_url).get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path.startswith(("/lineage/", "/cypher")):
            continue  # the former equal those under /v1, the latter have their own tests

        @settings(
            max_examples=5,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def check_case(case: Any) -> None:
            nonlocal requests_sent
            requests_sent += 1
            case.call_and_validate(checks=CHECKS)

        check_case()
    assert requests_sent > 100
