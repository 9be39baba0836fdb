"""Marquez' edits by its own client and by the requests of its page: tags and soft deletions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from marquez_client import MarquezClient  # type: ignore[import-untyped]
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.edits import edits_of
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, node, run_event, schema
from tests.rest.conftest import Log
from tests.rest.marquez.run_history import get_json, names
from tests.run_builders import Event, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("shop")]
RUN = "00000000-0000-4000-8000-00000000000"
ORDERS = "/namespaces/db/datasets/orders"


def history() -> list[Event]:
    """Return the events of two jobs: `load` writes `orders`, tagged by its producer, and `report`
    reads it."""
    facets = {**schema(id="int", name="text"), "tags": {"tags": [{"key": "gold", "value": "true"}]}}
    return [
        run_event(RUN + "1", "COMPLETE", 1, job="load", outputs=[dataset("orders", facets)]),
        run_event(RUN + "2", "COMPLETE", 2, job="report", inputs=["orders"], outputs=["sums"]),
    ]


@pytest.fixture
def shop(database: Database, log: Log) -> Iterator[None]:
    empty(database)
    log.events = history()
    write_events(database, log.events)
    yield
    log.events = []


def send(client: TestClient, method: str, path: str, **options: Any) -> Any:
    answer = client.request(method, f"/api/v1{path}", **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_tag_is_listed_before_its_first_use(marquez: MarquezClient) -> None:
    created = marquez.create_tag("PII", "Personal data.")
    assert created == {"name": "PII", "description": "Personal data."}
    assert marquez.list_tags()["tags"] == [created, {"name": "gold", "description": None}]
    marquez.create_tag("PII", "Data of persons.")
    assert marquez.list_tags()["tags"][0]["description"] == "Data of persons."


def test_tags_of_a_dataset_and_of_a_column(
    marquez: MarquezClient, client: TestClient, database: Database
) -> None:
    tagged = marquez.tag_dataset("db", "orders", "PII")
    assert tagged["tags"] == ["PII", "gold"]
    assert marquez.get_dataset("db", "orders")["tags"] == ["PII", "gold"]
    with_column = marquez.tag_dataset_field("db", "orders", "name", "SENSITIVE")
    fields = {field["name"]: field["tags"] for field in with_column["fields"]}
    assert (with_column["tags"], fields) == (["PII", "gold"], {"id": [], "name": ["SENSITIVE"]})
    assert node(database, "column:db:orders:name")["tags"] == ["SENSITIVE"]
    assert names(marquez.list_tags()["tags"]) == ["PII", "SENSITIVE", "gold"]
    assert send(client, "DELETE", f"{ORDERS}/fields/name/tags/SENSITIVE")["fields"][1]["tags"] == []
    assert node(database, "column:db:orders:name")["tags"] is None
    assert send(client, "DELETE", f"{ORDERS}/tags/PII")["tags"] == ["gold"]


def test_an_edit_by_hand_outlives_the_events_of_the_producer(
    marquez: MarquezClient, client: TestClient, database: Database
) -> None:
    marquez.tag_dataset("db", "orders", "PII")
    assert send(client, "DELETE", f"{ORDERS}/tags/gold")["tags"] == ["PII"]
    again = history()[0]
    write_events(database, [{**again, "eventTime": "2027-01-01T00:00:00Z"}])
    assert marquez.get_dataset("db", "orders")["tags"] == ["PII"]
    assert marquez.tag_dataset("db", "orders", "gold")["tags"] == ["PII", "gold"]


def test_edits_name_their_author(client: TestClient, database: Database) -> None:
    send(client, "POST", f"{ORDERS}/tags/PII")
    send(client, "DELETE", ORDERS)
    found = edits_of(GraphView(database), ["dataset:db:orders"])["dataset:db:orders"]
    shown = [(edit.kind, edit.by, edit.after) for edit in found]
    assert shown == [("DELETION", "anonymous", None), ("TAG", "anonymous", "PII")]


def test_tags_of_a_job(client: TestClient) -> None:
    assert send(client, "POST", "/namespaces/etl/jobs/load/tags/nightly")["tags"] == ["nightly"]
    assert get_json(client, "/namespaces/etl/jobs/load")["tags"] == ["nightly"]
    assert send(client, "DELETE", "/namespaces/etl/jobs/load/tags/nightly")["tags"] == []


def test_a_tag_keeps_the_last_seen_time(marquez: MarquezClient) -> None:
    before = marquez.get_dataset("db", "orders")["updatedAt"]
    assert marquez.tag_dataset("db", "orders", "PII")["updatedAt"] == before


def test_a_deleted_dataset_returns_with_its_next_event(
    marquez: MarquezClient, client: TestClient, database: Database
) -> None:
    deleted = send(client, "DELETE", ORDERS)
    assert (deleted["name"], deleted["namespace"]) == ("orders", "db")
    assert names(marquez.list_datasets("db")["datasets"]) == ["sums"]
    assert get_json(client, "/search", q="orders")["results"] == []
    graph = get_json(client, "/lineage", nodeId="job:etl:load")["graph"]
    assert {node["id"]: len(node["outEdges"]) for node in graph} == {
        "job:etl:load": 0,
        "job:etl:report": 1,
        "dataset:db:sums": 0,
    }
    for method, path in (("GET", ORDERS), ("DELETE", ORDERS), ("POST", f"{ORDERS}/tags/x")):
        missing = client.request(method, f"/api/v1{path}")
        assert (missing.status_code, missing.json()) == (
            404,
            {"code": 404, "message": "Dataset 'orders' not found."},
        )
    # Copies of earlier events change nothing.
    write_events(database, history())
    assert client.get(f"/api/v1{ORDERS}").status_code == 404
    later = run_event(RUN + "3", "COMPLETE", 600_000, job="load", outputs=["orders"])
    write_events(database, [later])
    assert names(marquez.list_datasets("db")["datasets"]) == ["orders", "sums"]
    assert names(get_json(client, "/search", q="orders")["results"]) == ["orders"]


def test_a_deleted_job_returns_with_its_next_event(client: TestClient, database: Database) -> None:
    assert send(client, "DELETE", "/namespaces/etl/jobs/load")["name"] == "load"
    assert names(get_json(client, "/jobs")["jobs"]) == ["report"]
    assert client.get("/api/v1/namespaces/etl/jobs/load").status_code == 404
    assert client.get("/api/v1/namespaces/etl/jobs/load/runs").status_code == 404
    write_events(database, [run_event(RUN + "3", "START", 600_000, job="load")])
    assert names(get_json(client, "/jobs")["jobs"]) == ["load", "report"]


def test_a_deleted_namespace_returns_with_its_next_event(
    marquez: MarquezClient, client: TestClient, database: Database
) -> None:
    assert send(client, "DELETE", "/namespaces/db")["name"] == "db"
    assert names(marquez.list_namespaces()["namespaces"]) == ["etl"]
    assert client.get("/api/v1/namespaces/db").status_code == 404
    write_events(database, [dataset_event("sums", 600_000)])
    assert names(marquez.list_namespaces()["namespaces"]) == ["db", "etl"]
    assert names(marquez.list_datasets("db")["datasets"]) == ["sums"]


def test_an_event_of_later_than_now_is_deleted_too(client: TestClient, database: Database) -> None:
    """A producer's clock may be ahead of the server's."""
    write_events(database, [dataset_event("orders", 100_000_000)])
    send(client, "DELETE", ORDERS)
    assert client.get(f"/api/v1{ORDERS}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "POST",
            f"{ORDERS}/fields/nothing/tags/x",
            "Field 'nothing' not found in dataset 'orders'.",
        ),
        ("DELETE", "/namespaces/etl/jobs/nothing", "Job 'nothing' not found."),
        ("DELETE", "/namespaces/nowhere", "Namespace 'nowhere' not found."),
        ("POST", "/namespaces/etl/jobs/nothing/tags/x", "Job 'nothing' not found."),
    ],
)
def test_a_missing_node_is_named(client: TestClient, method: str, path: str, message: str) -> None:
    answer = client.request(method, f"/api/v1{path}")
    assert (answer.status_code, answer.json()) == (404, {"code": 404, "message": message})


def test_a_key_edits_only_its_namespaces(client: TestClient) -> None:
    for path in (ORDERS, "/namespaces/db", "/namespaces/etl/jobs/load"):
        hidden = client.delete(f"/api/v1{path}", headers={"x-visibility": "other"})
        assert hidden.status_code == 404, path
    refused = client.put("/api/v1/tags/x", json={}, headers={"x-visibility": "db"})
    assert refused.status_code == 403
    assert (refused.json()["code"], refused.json()["details"]) == (
        403,
        "Create a key for that namespace, or send the event with another key.",
    )
