"""The state of the platform over GraphQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headwater.graphql.transport.http import graphql_routes
from headwater.health.platform import PlatformReader
from headwater.ingest.spool.spool import Spool
from headwater.lineage.view import GraphView
from tests.graphql.conftest import Ask, Served

pytestmark = pytest.mark.neo4j


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path / "spool.db")) as spool:
        yield spool


def test_counts_of_the_spool(view: GraphView, served: Served, spool: Spool) -> None:
    async def submit(*_: object) -> None:
        raise AssertionError("nothing is submitted here")

    spool.append([b"1", b"2", b"3"], received=1)
    routes = graphql_routes(view, submit, read_platform=PlatformReader(view, spool).read)
    query = "{ platform { received folded dead waiting neo4jUp asOf lag { count } } }"
    with TestClient(served(routes)) as client:
        answer = client.post("/graphql", json={"query": query}).json()
    found = answer["data"]["platform"]
    assert found.pop("asOf").endswith("Z")
    assert found.pop("lag")["count"] >= 0
    assert found == {"received": 3, "folded": 0, "dead": 0, "waiting": 3, "neo4jUp": True}


def test_without_a_spool_it_is_unavailable(ask: Ask) -> None:
    answer = ask("{ platform { received } }")
    assert answer["data"] == {"platform": None}
    [error] = answer["errors"]
    assert error["message"] == "this process has no spool to count events in"
