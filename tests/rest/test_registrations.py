"""The wait for registrations that are on disk but not in the graph yet."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headwater.access.principal import Principal
from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView
from headwater.rest import registrations
from headwater.rest.app import rest_routes
from headwater.rest.registrations import PendingRegistrations
from headwater.schema import headwater_facets as native
from headwater.schema.visibility import Visibility
from tests.event_builders import dataset_event, symlinks
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


def test_a_question_waits_for_the_graph(
    client: TestClient, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine Neo4j takes seconds to plan the questions.
    monkeypatch.setattr(registrations, "WAIT_SECONDS_MAX", 120)
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


def test_a_question_does_not_wait_for_what_is_hidden(
    view: GraphView, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []

    def in_graph(_: GraphView, pending: Mapping[str, datetime]) -> dict[str, datetime]:
        asked.append(set(pending))
        return dict(pending)

    monkeypatch.setattr(registrations, "_in_graph", in_graph)
    pending = PendingRegistrations()
    pending.add("dataset:b:t", native.now())
    own = GraphView(database).visible_to(Visibility(("a",)))
    pending.wait(own)
    assert asked == []
    assert not pending.is_late(own, "dataset:b:t")
    pending.wait(view)
    assert asked == [{"dataset:b:t"}]


def test_a_question_does_not_wait_for_what_is_registered_meanwhile(
    view: GraphView, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending, asked = PendingRegistrations(), 0

    def in_graph(_: GraphView, urns: Mapping[str, datetime]) -> dict[str, datetime]:
        nonlocal asked
        asked += 1
        pending.add(f"dataset:a:t{asked}", native.now())
        pending.add("dataset:a:t", native.now())
        return dict(urns)

    monkeypatch.setattr(registrations, "_in_graph", in_graph)
    pending.add("dataset:a:t", native.now())
    pending.wait(view)
    assert asked == 1


def test_an_alias_is_in_the_graph_with_its_dataset(view: GraphView, database: Database) -> None:
    sent = dataset_event("t", facets=symlinks("also"))
    names = ["dataset:db:t", "dataset:db:also"]
    pending = PendingRegistrations()
    for name in names:
        pending.add(name, sent["eventTime"])
        assert pending.is_late(view, name)
    write_events(database, [sent])
    pending.wait(view)
    assert not any(pending.is_late(view, name) for name in names)
