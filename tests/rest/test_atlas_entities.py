"""Entities that a client of Atlas creates, updates and reads back."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.schema.urns import dataset_urn, guid_of, job_urn
from tests.canonical import edges, empty
from tests.event_builders import run_event
from tests.run_builders import ds, write_events

pytestmark = pytest.mark.neo4j

Json = dict[str, Any]
BASE = "/api/atlas/v2"
ORDERS = dataset_urn("hive://primary:10000", "shop.orders")
CLEAN = job_urn("atlas://primary", "clean")


@pytest.fixture(autouse=True)
def nothing(database: Database) -> None:
    empty(database)


def table(name: str, guid: str | None = None, **attributes: Any) -> Json:
    own = {"qualifiedName": f"{name}@primary", "name": name.rpartition(".")[2], **attributes}
    return {"typeName": "hive_table", "attributes": own} | ({"guid": guid} if guid else {})


def process(inputs: list[Json], outputs: list[Json]) -> Json:
    attributes = {"qualifiedName": "clean@primary", "name": "clean"}
    return {
        "typeName": "spark_process",
        "guid": "-9",
        "attributes": {**attributes, "inputs": inputs, "outputs": outputs},
    }


def post(client: TestClient, path: str, body: Any, visibility: str = "*") -> Any:
    answer = client.post(f"{BASE}{path}", json=body, headers={"x-visibility": visibility})
    assert answer.status_code == 200, answer.text
    return answer.json()


def get(client: TestClient, path: str, visibility: str = "*", **params: Any) -> Any:
    headers = {"x-visibility": visibility}
    return client.get(f"{BASE}/entity{path}", params=params, headers=headers)


def test_a_client_reads_back_what_it_wrote(client: TestClient, database: Database) -> None:
    created = post(
        client,
        "/entity/bulk",
        {
            "entities": [
                table("shop.orders", "-1", owner="ana", retention=7),
                table("shop.clean", "-2"),
                process([{"guid": "-1"}], [{"guid": "-2"}]),
            ]
        },
    )
    assert created["guidAssignments"]["-1"] == guid_of(ORDERS)
    assert [one["typeName"] for one in created["mutatedEntities"]["CREATE"]] == [
        "hive_table",
        "hive_table",
        "spark_process",
    ]
    assert created["mutatedEntities"]["UPDATE"] == []
    assert edges(database, "FEEDS", "PRODUCED") == {
        (ORDERS, "FEEDS", CLEAN),
        (CLEAN, "PRODUCED", dataset_urn("hive://primary:10000", "shop.clean")),
    }
    found = get(client, f"/guid/{guid_of(ORDERS)}").json()["entity"]
    assert found["typeName"] == "hive_table"
    assert found["guid"] == guid_of(ORDERS)
    sent = {"qualifiedName": "shop.orders@primary", "name": "orders", "owner": "ana"}
    assert found["attributes"].items() >= {**sent, "retention": 7}.items()
    params = {"attr:qualifiedName": "clean@primary"}
    made = get(client, "/uniqueAttribute/type/spark_process", **params).json()["entity"]
    assert made["guid"] == guid_of(CLEAN)
    assert [one["guid"] for one in made["attributes"]["inputs"]] == [guid_of(ORDERS)]
    assert len(made["attributes"]["outputs"]) == 1


def test_an_update_replaces_what_it_names(client: TestClient) -> None:
    post(client, "/entity", {"entity": table("shop.orders", owner="ana")})
    body = {"entity": {**table("shop.orders", description="All."), "guid": guid_of(ORDERS)}}
    body["entity"]["classifications"] = [{"typeName": "PII"}]
    answer = client.put(f"{BASE}/entity", json=body)
    assert [one["guid"] for one in answer.json()["mutatedEntities"]["UPDATE"]] == [guid_of(ORDERS)]
    found = get(client, f"/guid/{guid_of(ORDERS)}").json()["entity"]
    assert found["attributes"]["description"] == "All."
    assert found["attributes"]["owner"] == "ana"
    assert found["classifications"] == [{"typeName": "PII"}]


def test_an_entity_of_other_events_is_a_dataset_or_process(
    client: TestClient, database: Database
) -> None:
    write_events(database, [run_event("a", job="load", inputs=["raw"], outputs=["out"])])
    found = get(client, f"/guid/{guid_of(ds('raw'))}").json()["entity"]
    assert (found["typeName"], found["attributes"]["qualifiedName"]) == ("DataSet", ds("raw"))
    body = {"entity": process([{"guid": guid_of(ds("raw"))}], [])}
    post(client, "/entity", body)
    assert (ds("raw"), "FEEDS", CLEAN) in edges(database, "FEEDS")


def test_hidden_entities_are_not_found_and_not_named(
    client: TestClient, database: Database
) -> None:
    write_events(database, [run_event("a", job="load", inputs=["raw"], outputs=["out"])])
    guid = guid_of(ds("raw"))
    assert get(client, f"/guid/{guid}", "atlas*").status_code == 404
    answer = client.post(
        f"{BASE}/entity",
        json={"entity": process([{"guid": guid}], [])},
        headers={"x-visibility": "atlas*"},
    )
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "ATLAS-400-00-026")
    named = {"typeName": "DataSet", "uniqueAttributes": {"qualifiedName": ds("raw")}}
    post(client, "/entity", {"entity": process([named], [])}, "atlas*")
    params = {"attr:qualifiedName": "clean@primary"}
    path = "/uniqueAttribute/type/spark_process"
    made = get(client, path, "atlas*", **params).json()["entity"]
    assert made["attributes"]["inputs"] == []
    foreign = client.post(
        f"{BASE}/entity",
        json={"entity": table("shop.orders")},
        headers={"x-visibility": "atlas*"},
    )
    assert foreign.status_code == 403
    assert foreign.json().keys() == {"errorCode", "errorMessage"}


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"entity": None},
        {"entity": []},
        {"entity": {"typeName": 5}},
        {"entity": {"typeName": "hive_table"}},
        {"entity": {"typeName": "hive_table", "attributes": None}},
        {"entity": {"typeName": "hive_table", "attributes": {"qualifiedName": None}}},
        {"entity": {"typeName": "hive_db", "attributes": {"qualifiedName": "a@b"}}},
        {"entity": table("a"), "referredEntities": []},
        {"entity": {**table("a"), "classifications": [None]}},
    ],
)
def test_a_malformed_entity_is_refused_in_the_shape_of_atlas(client: TestClient, body: Any) -> None:
    answer = client.post(f"{BASE}/entity", json=body)
    assert answer.status_code == 400
    assert answer.json()["errorCode"] == "ATLAS-400-00-026"


def test_limits_and_names_that_do_not_exist(client: TestClient) -> None:
    many = {"entities": [table(f"t{number}") for number in range(501)]}
    assert client.post(f"{BASE}/entity/bulk", json=many).status_code == 400
    assert client.post(f"{BASE}/entity/bulk", json={"entities": []}).status_code == 400
    assert client.post(f"{BASE}/entity", content=b"{" + b" " * 5_000_000).status_code == 413
    params = {"attr:qualifiedName": "nothing@here"}
    for name in ("hive_table", "x" * 3_000):
        answer = get(client, f"/uniqueAttribute/type/{name}", **params)
        assert (answer.status_code, answer.json()["errorCode"]) == (404, "ATLAS-404-00-005")
    assert get(client, "/guid/zzz").status_code == 404
