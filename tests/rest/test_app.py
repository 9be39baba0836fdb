"""The routes of the REST API: all are described in the OpenAPI document, under the same paths."""

from __future__ import annotations

from contextlib import closing

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest.app import rest_routes
from headwater.rest.openapi import PATH
from tests.rest.conftest import Log


async def submit(*_: object) -> None: ...


def test_every_route_is_described() -> None:
    with closing(Database("bolt://127.0.0.1:1", "neo4j", "unused")) as database:
        routes = rest_routes(lambda _: GraphView(database), submit, Log())
        paths = {route.path for route in routes if isinstance(route, Route)}
        described = TestClient(Starlette(routes=routes)).get(PATH).json()
    assert described["openapi"] == "3.1.0"
    assert paths - {PATH} <= described["paths"].keys()
    for path in (
        "/v1/lineage/trace",
        "/api/v1/namespaces",
        "/api/v1/lineage-table",
        "/api/atlas/v2/lineage/{guid}",
    ):
        assert path in paths
