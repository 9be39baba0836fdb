"""Lineage in the shape of Atlas, on a history worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.schema.urns import dataset_urn, guid_of, job_urn
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, symlinks
from tests.run_builders import ds, job, write_events

pytestmark = pytest.mark.neo4j

Json = dict[str, Any]
BASE = "/api/atlas/v2"


@pytest.fixture(scope="module", autouse=True)
def history(database: Database) -> None:
    empty(database)
    described = {
        "documentation": {"description": "Clean."},
        "ownership": {"owners": [{"name": "ana"}, {"name": "bo"}]},
        "tags": {"tags": [{"key": "PII", "value": "yes"}]},
    }
    spied = run_event("s", minute=4, inputs=["clean"], outputs=[dataset("out", namespace="secret")])
    drop = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
    write_events(
        database,
        [
            run_event(
                "a", minute=1, job="load", inputs=["raw"], outputs=[dataset("clean", described)]
            ),
            run_event("b", minute=2, job="report", inputs=["clean"], outputs=["sums"]),
            {**spied, "job": {"namespace": "secret", "name": "spy"}},
            dataset_event("clean", 5, symlinks("alias")),
            dataset_event("old", 6, drop),
        ],
    )


def get_lineage(client: TestClient, urn: str, visibility: str = "*", **params: Any) -> Json:
    answer = client.get(
        f"{BASE}/lineage/{guid_of(urn)}", params=params, headers={"x-visibility": visibility}
    )
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def entities(found: Json) -> set[str]:
    assert all(guid == header["guid"] for guid, header in found["guidEntityMap"].items())
    return {header["attributes"]["qualifiedName"] for header in found["guidEntityMap"].values()}


def relations(found: Json) -> set[tuple[str, str]]:
    names = {guid: header["displayText"] for guid, header in found["guidEntityMap"].items()}
    return {(names[one["fromEntityId"]], names[one["toEntityId"]]) for one in found["relations"]}


def test_both_directions(client: TestClient) -> None:
    found = get_lineage(client, ds("clean"))
    assert (found["baseEntityGuid"], found["lineageDirection"], found["lineageDepth"]) == (
        guid_of(ds("clean")),
        "BOTH",
        3,
    )
    spy, out = job_urn("secret", "spy"), dataset_urn("secret", "out")
    assert entities(found) == {
        ds("raw"),
        job("load"),
        ds("clean"),
        job("report"),
        ds("sums"),
        spy,
        out,
    }
    assert relations(found) == {
        ("raw", "load"),
        ("load", "clean"),
        ("clean", "report"),
        ("report", "sums"),
        ("clean", "spy"),
        ("spy", "out"),
    }
    assert len({one["relationshipId"] for one in found["relations"]}) == 6


def test_upstream_and_downstream(client: TestClient) -> None:
    assert entities(get_lineage(client, ds("clean"), direction="INPUT")) == {
        ds("raw"),
        job("load"),
        ds("clean"),
    }
    down = get_lineage(client, ds("raw"), direction="OUTPUT", depth=1)
    assert entities(down) == {ds("raw"), job("load"), ds("clean")}
    assert ds("raw") not in entities(get_lineage(client, job("report"), direction="OUTPUT"))


def test_the_header_of_an_entity(client: TestClient) -> None:
    answer = client.get(f"{BASE}/entity/guid/{guid_of(ds('clean'))}/header")
    assert answer.json() == {
        "typeName": "DataSet",
        "guid": guid_of(ds("clean")),
        "status": "ACTIVE",
        "displayText": "clean",
        "attributes": {
            "name": "clean",
            "qualifiedName": ds("clean"),
            "namespace": "db",
            "description": "Clean.",
            "owner": "ana",
        },
        "classificationNames": ["PII=yes"],
    }
    assert (
        client.get(f"{BASE}/entity/guid/{guid_of(ds('old'))}/header").json()["status"] == "DELETED"
    )
    assert (
        client.get(f"{BASE}/entity/guid/{guid_of(job('load'))}/header").json()["typeName"]
        == "Process"
    )


def test_a_urn_and_another_name_of_a_dataset_will_do(client: TestClient) -> None:
    expected = get_lineage(client, ds("clean"))
    assert client.get(f"{BASE}/lineage/{ds('clean')}").json() == expected
    assert client.get(f"{BASE}/lineage/{ds('alias')}").json() == expected
    assert client.get(f"{BASE}/lineage/{guid_of(ds('clean')).upper()}").json() == expected
    by_name = client.get(
        f"{BASE}/lineage/uniqueAttribute/type/DataSet",
        params={"attr:qualifiedName": ds("clean"), "depth": 3},
    )
    assert by_name.json() == expected


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/lineage/00000000-0000-4000-8000-000000000000", 404, "ATLAS-404-00-005"),
        ("/lineage/nothing", 404, "ATLAS-404-00-005"),
        ("/lineage/dataset:x", 404, "ATLAS-404-00-005"),
        ("/lineage/run:a", 404, "ATLAS-404-00-005"),
        (f"/lineage/{ds('clean')}?depth=0", 400, "ATLAS-400-00-026"),
        (f"/lineage/{ds('clean')}?direction=input", 400, "ATLAS-400-00-026"),
        ("/lineage/uniqueAttribute/type/DataSet", 400, "ATLAS-400-00-026"),
        (
            f"/lineage/uniqueAttribute/type/Process?attr:qualifiedName={ds('clean')}",
            404,
            "ATLAS-404-00-005",
        ),
        ("/entity/guid/nothing/header", 404, "ATLAS-404-00-005"),
    ],
)
def test_wrong_requests(client: TestClient, path: str, status: int, code: str) -> None:
    answer = client.get(f"{BASE}{path}")
    assert (answer.status_code, answer.json()["errorCode"]) == (status, code), answer.text
    assert answer.json()["errorMessage"]


def test_hidden_nodes_are_not_found(client: TestClient) -> None:
    found = get_lineage(client, ds("clean"), visibility="db,etl")
    assert entities(found) == {ds("raw"), job("load"), ds("clean"), job("report"), ds("sums")}
    assert "secret" not in str(found)
    hidden = client.get(
        f"{BASE}/lineage/{guid_of(dataset_urn('secret', 'out'))}",
        headers={"x-visibility": "db,etl"},
    )
    assert (hidden.status_code, hidden.json()["errorCode"]) == (404, "ATLAS-404-00-005")
