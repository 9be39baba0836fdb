"""The wait for registrations that are on disk but not in the graph yet."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.access.principal import Principal
from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest import registrations
from headwater.rest.app import rest_routes
from tests.rest.conftest import HeaderPrincipal, Log
from tests.run_builders import write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


class Disk:
    """A spool that stores events until a test folds them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._events: list[dict[str, Any]] = []

    async def store(self, _: Principal, events: list[dict[str, Any]]) -> None:
        self._events.extend(events)

    def fold(self) -> None:
        write_events(self._database, self._events)


@pytest.fixture
def disk(database: Database) -> Disk:
    return Disk(database)


@pytest.fixture
def client(view: GraphView, disk: Disk) -> Iterator[TestClient]:
    application = Starlette(routes=rest_routes(lambda _: view, disk.store, Log()))
    with TestClient(HeaderPrincipal(application)) as client:
        yield client


def register(client: TestClient) -> str:
    answer = client.post(
        "/v1/lineage/trace", json={"asset_type": "table", "name": "t", "upstream_assets": ["u"]}
    )
    assert answer.status_code == 201
    return str(answer.json()["id"])


def test_a_question_waits_for_the_graph(client: TestClient, disk: Disk) -> None:
    id = register(client)
    folding = threading.Timer(0.3, disk.fold)
    folding.start()
    answer = client.get(f"/v1/lineage/{id}", params={"direction": "upstream"})
    folding.join()
    assert [child["name"] for child in answer.json()["graph"]["upstream"]] == ["u"]


def test_a_late_registration_is_reported_as_pending(
    client: TestClient, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registrations, "WAIT_SECONDS_MAX", 0.2)
    id = register(client)
    late = client.get(f"/v1/lineage/{id}")
    assert (late.status_code, late.headers["Retry-After"]) == (503, "5")
    assert "not in the graph yet" in late.json()["detail"]
    assert client.get("/v1/lineage/asset_0000000000000000").status_code == 404
    disk.fold()
    assert client.get(f"/v1/lineage/{id}").status_code == 200
