"""Marquez' read paths on a history worked out by hand, asked by Marquez' own Python client and as its page asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from marquez_client import MarquezClient  # type: ignore[import-untyped]
from marquez_client.errors import APIError  # type: ignore[import-untyped]
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.schema.urns import artifact_urn, guid_of, job_urn
from tests.canonical import empty
from tests.event_builders import dataset, dataset_event, run_event, schema
from tests.rest.conftest import Log
from tests.run_builders import Event, at, tell

pytestmark = pytest.mark.neo4j

Json = dict[str, Any]
BUCKET = "s3://lake"
FIRST = "00000000-0000-4000-8000-000000000001"
FAILED = "00000000-0000-4000-8000-000000000002"
SECRET = "00000000-0000-4000-8000-000000000003"


def history() -> list[Event]:
    raw = dataset("raw/orders", schema(id="int", total="decimal"), namespace=BUCKET)
    source = {"dataSource": {"name": "shop", "uri": "postgres://shop:5432/db"}}
    described = {
        "documentation": {"description": "Clean orders."},
        "tags": {"tags": [{"key": "pii", "value": "yes"}]},
    }
    flow = {"inputFields": [{"namespace": BUCKET, "name": "raw/orders", "field": "id"}]}
    clean = dataset(
        "orders",
        {**schema(id="int"), **source, **described, "columnLineage": {"fields": {"id": flow}}},
    )
    failed = {"errorMessage": {"message": "no", "programmingLanguage": "SQL"}}
    spied = run_event(
        SECRET, "COMPLETE", 6, inputs=["orders"], outputs=[dataset("hidden", namespace="secret")]
    )
    return [
        run_event(
            FIRST, "START", 0, job="load", inputs=[raw], job_facets={"sql": {"query": "SELECT 1"}}
        ),
        run_event(FIRST, "COMPLETE", 2, job="load", inputs=[raw], outputs=[clean]),
        run_event(FAILED, "START", 3, job="report", inputs=["orders"]),
        run_event(
            FAILED, "FAIL", 4, job="report", inputs=["orders"], outputs=["sums"], facets=failed
        ),
        dataset_event("a:b", 5, namespace="colons:here"),
        {**spied, "job": {"namespace": "secret", "name": "spy", "facets": {}}},
    ]


@pytest.fixture(scope="module", autouse=True)
def told(database: Database, log: Log) -> Iterator[None]:
    empty(database)
    log.events = history()
    tell(database, log.events)
    yield
    log.events = []


@pytest.fixture(scope="module")
def marquez(address: str) -> MarquezClient:
    return MarquezClient(url=address)


def ask(client: TestClient, path: str, visibility: str = "", **params: Any) -> Json:
    answer = client.get(
        f"/api/v1{path}", params=params, headers={"x-visibility": visibility} if visibility else {}
    )
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def names(listed: list[Json]) -> list[str]:
    return [one["name"] for one in listed]


def test_namespaces(marquez: MarquezClient) -> None:
    found = marquez.list_namespaces()["namespaces"]
    assert names(found) == ["colons:here", "db", "etl", BUCKET, "secret"]
    lake = {"name": BUCKET, "createdAt": at(0), "updatedAt": at(2), "ownerName": "anonymous"}
    assert marquez.get_namespace(BUCKET) == {**lake, "description": None, "isHidden": False}
    assert names(marquez.list_namespaces(limit=2, offset=1)["namespaces"]) == ["db", "etl"]
    with pytest.raises(APIError):
        marquez.get_namespace("nowhere")


def test_datasets(marquez: MarquezClient) -> None:
    found = marquez.list_datasets("db")
    assert (names(found["datasets"]), found["totalCount"]) == (["orders", "sums"], 2)
    page = marquez.list_datasets("db", limit=1, offset=1)
    assert (names(page["datasets"]), page["totalCount"]) == (["sums"], 2)
    assert names(marquez.list_datasets(BUCKET)["datasets"]) == ["raw/orders"]


def test_a_dataset_as_a_whole(marquez: MarquezClient) -> None:
    found = marquez.get_dataset("db", "orders")
    facets = found.pop("facets")
    assert set(facets) == {"columnLineage", "dataSource", "documentation", "schema", "tags"} - {
        "columnLineage"
    }
    assert found == {
        "id": {"namespace": "db", "name": "orders"},
        "type": "DB_TABLE",
        "name": "orders",
        "physicalName": "orders",
        "createdAt": at(2),
        "updatedAt": at(6),
        "namespace": "db",
        "sourceName": "shop",
        "fields": [{"name": "id", "type": "int", "tags": [], "description": None}],
        "tags": ["pii=yes"],
        "lastModifiedAt": at(2),
        "lastLifecycleState": "",
        "description": "Clean orders.",
        "currentVersion": guid_of(artifact_urn("db", "orders", FIRST)),
        "columnLineage": [
            {
                "name": "id",
                "inputFields": [
                    {
                        "namespace": BUCKET,
                        "dataset": "raw/orders",
                        "field": "id",
                        "datasetVersion": None,
                        "transformationDescription": None,
                        "transformationType": None,
                    }
                ],
                "transformationDescription": None,
                "transformationType": None,
            }
        ],
        "deleted": False,
    }
    assert marquez.get_dataset(BUCKET, "raw/orders")["name"] == "raw/orders"
    assert marquez.get_dataset("colons:here", "a:b")["name"] == "a:b"


def test_the_versions_of_a_dataset(marquez: MarquezClient) -> None:
    found = marquez.list_dataset_versions("db", "orders")
    (version,) = found["versions"]
    assert (found["totalCount"], version["version"]) == (
        1,
        guid_of(artifact_urn("db", "orders", FIRST)),
    )
    assert version["createdByRun"]["id"] == FIRST
    assert marquez.get_dataset_version("db", "orders", version["version"]) == version
    with pytest.raises(APIError):
        marquez.get_dataset_version("db", "orders", guid_of("another"))


def test_jobs(marquez: MarquezClient) -> None:
    found = marquez.list_jobs("etl")
    assert (names(found["jobs"]), found["totalCount"]) == (["load", "report"], 2)
    load = marquez.get_job("etl", "load")
    assert (load["type"], load["simpleName"], load["location"]) == ("BATCH", "load", None)
    assert load["inputs"] == [{"namespace": BUCKET, "name": "raw/orders"}]
    assert load["outputs"] == [{"namespace": "db", "name": "orders"}]
    assert load["facets"]["sql"]["query"] == "SELECT 1"
    assert [run["id"] for run in load["latestRuns"]] == [FIRST]
    assert load["currentVersion"] == guid_of(job_urn("etl", "load"))
    with pytest.raises(APIError):
        marquez.get_job("etl", "nothing")


def test_the_runs_of_a_job(marquez: MarquezClient) -> None:
    (run,) = marquez.list_job_runs("etl", "load")["runs"]
    facets = run.pop("facets")
    assert facets == {}
    assert run == {
        "id": FIRST,
        "createdAt": at(0),
        "updatedAt": at(2),
        "nominalStartTime": None,
        "nominalEndTime": None,
        "state": "COMPLETED",
        "startedAt": at(0),
        "endedAt": at(2),
        "durationMs": 120_000,
        "args": {},
        "jobVersion": {
            "namespace": "etl",
            "name": "load",
            "version": guid_of(job_urn("etl", "load")),
        },
        "inputVersions": [
            {
                "namespace": BUCKET,
                "name": "raw/orders",
                "version": guid_of("source:s3%3A//lake:raw/orders"),
            }
        ],
        "outputVersions": [
            {
                "namespace": "db",
                "name": "orders",
                "version": guid_of(artifact_urn("db", "orders", FIRST)),
            }
        ],
    }
    failed = marquez.get_job_run(FAILED)
    assert (failed["state"], failed["facets"]["errorMessage"]["message"]) == ("FAILED", "no")


def test_all_jobs_by_when_and_by_the_state_of_their_newest_run(client: TestClient) -> None:
    found = ask(client, "/jobs")
    assert (names(found["jobs"]), found["totalCount"]) == (["spy", "report", "load"], 3)
    failed = ask(client, "/jobs", lastRunStates="FAILED,NEW")
    assert (names(failed["jobs"]), failed["totalCount"]) == (["report"], 1)
    assert names(ask(client, "/namespaces/etl/jobs", lastRunStates="completed")["jobs"]) == ["load"]
    page = ask(client, "/jobs", limit=1, offset=1)
    assert (names(page["jobs"]), page["totalCount"]) == (["report"], 3)


def test_the_one_version_of_a_job(client: TestClient) -> None:
    found = ask(client, "/namespaces/etl/jobs/load/versions")
    (version,) = found["versions"]
    assert found["totalCount"] == 1
    assert ask(client, f"/namespaces/etl/jobs/load/versions/{version['version']}") == version
    assert client.get("/api/v1/namespaces/etl/jobs/load/versions/other").status_code == 404


def test_the_facets_of_a_run_and_of_its_job(client: TestClient) -> None:
    assert set(ask(client, f"/jobs/runs/{FAILED}/facets", type="run")["facets"]) == {"errorMessage"}
    assert (
        ask(client, f"/jobs/runs/{FIRST}/facets", type="job")["facets"]["sql"]["query"]
        == "SELECT 1"
    )


def test_sources_and_tags(marquez: MarquezClient) -> None:
    found = {one["name"]: one for one in marquez.list_sources()["sources"]}
    assert set(found) == {"colons:here", "db", "shop", BUCKET, "secret"}
    assert (found["shop"]["type"], found["shop"]["connectionUrl"]) == (
        "POSTGRES",
        "postgres://shop:5432/db",
    )
    assert marquez.get_source(BUCKET) == found[BUCKET]
    assert marquez.list_tags() == {"tags": [{"name": "pii=yes", "description": None}]}


def graph(found: Json) -> dict[str, tuple[list[str], list[str]]]:
    return {
        node["id"]: (
            [edge["origin"] for edge in node["inEdges"]],
            [edge["destination"] for edge in node["outEdges"]],
        )
        for node in found["graph"]
    }


def test_the_lineage_of_a_node(client: TestClient) -> None:
    raw, load, orders, report, sums = (
        f"dataset:{BUCKET}:raw/orders",
        "job:etl:load",
        "dataset:db:orders",
        "job:etl:report",
        "dataset:db:sums",
    )
    spy, hidden = "job:secret:spy", "dataset:secret:hidden"
    seen = ask(client, "/lineage", nodeId=raw)
    assert graph(seen) == {
        raw: ([], [load]),
        load: ([raw], [orders]),
        orders: ([load], [report, spy]),
        report: ([orders], [sums]),
        sums: ([report], []),
        spy: ([orders], [hidden]),
        hidden: ([spy], []),
    }
    assert [node["id"] for node in seen["graph"]] == sorted(node["id"] for node in seen["graph"])
    assert all(
        edge["destination"] == node["id"] for node in seen["graph"] for edge in node["inEdges"]
    )
    types = {node["id"]: (node["type"], node["data"]["name"]) for node in seen["graph"]}
    assert types[load] == ("JOB", "load")
    assert types[raw] == ("DATASET", "raw/orders")
    whole = graph(ask(client, "/lineage", nodeId=quote(orders, safe=":/"), depth=1))
    assert set(whole) == {raw, load, orders, report, sums, spy, hidden}
    assert graph(ask(client, "/lineage", nodeId=orders, depth=0)) == {orders: ([], [])}
    assert set(graph(ask(client, "/lineage", nodeId=f"{orders}#{guid_of('any')}", depth=0))) == {
        orders
    }
    assert set(graph(ask(client, "/lineage", nodeId="dataset:colons:here:a:b"))) == {
        "dataset:colons:here:a:b"
    }


def test_what_may_not_be_seen_is_no_node_of_the_lineage(client: TestClient) -> None:
    seen = ask(client, "/lineage", "db,etl,s3*", nodeId="dataset:db:orders")
    assert set(graph(seen)) == {
        "dataset:db:orders",
        "dataset:db:sums",
        f"dataset:{BUCKET}:raw/orders",
        "job:etl:load",
        "job:etl:report",
    }
    assert graph(seen)["dataset:db:orders"] == (["job:etl:load"], ["job:etl:report"])
    assert "secret" not in str(seen)


def test_column_lineage(marquez: MarquezClient) -> None:
    ours, theirs = "datasetField:db:orders:id", f"datasetField:{BUCKET}:raw/orders:id"
    for found in (
        marquez.get_column_lineage_by_dataset("db", "orders"),
        marquez.get_column_lineage_by_dataset_field("db", "orders", "id"),
        marquez.get_column_lineage_by_job("etl", "load"),
    ):
        nodes = {node["id"]: node for node in found["graph"]}
        assert set(nodes) == {ours, theirs}
        assert nodes[ours]["inEdges"] == [{"origin": ours, "destination": theirs}]
        assert nodes[theirs]["outEdges"] == [{"origin": theirs, "destination": ours}]
        assert (nodes[ours]["data"]["field"], nodes[ours]["data"]["fieldType"]) == ("id", "int")
        assert [one["dataset"] for one in nodes[ours]["data"]["inputFields"]] == ["raw/orders"]
    alone = marquez.get_column_lineage_by_dataset_field(BUCKET, "raw/orders", "id")
    assert [node["id"] for node in alone["graph"]] == [theirs]
    down = marquez.get_column_lineage_by_dataset(BUCKET, "raw/orders", with_downstream=True)
    assert {node["id"] for node in down["graph"]} == {
        ours,
        theirs,
        f"datasetField:{BUCKET}:raw/orders:total",
    }


def test_search(client: TestClient) -> None:
    found = ask(client, "/search/", q="orders")
    assert found["totalCount"] == 2
    assert found["results"] == [
        {
            "type": "DATASET",
            "name": "orders",
            "updatedAt": at(6),
            "namespace": "db",
            "nodeId": "dataset:db:orders",
        },
        {
            "type": "DATASET",
            "name": "raw/orders",
            "updatedAt": at(2),
            "namespace": BUCKET,
            "nodeId": f"dataset:{BUCKET}:raw/orders",
        },
    ]
    assert names(ask(client, "/search", q="rep", filter="JOB", sort="UPDATED_AT")["results"]) == [
        "report"
    ]
    assert names(ask(client, "/search", q="orders", namespace="db")["results"]) == ["orders"]
    assert names(ask(client, "/search", q="orders", after=at(3))["results"]) == ["orders"]
    assert ask(client, "/search", q="")["results"] == []


def test_events_as_they_were_sent(client: TestClient, log: Log) -> None:
    found = ask(client, "/events/lineage")
    assert found["events"] == log.events[::-1]
    assert found["totalCount"] == len(log.events)
    page = ask(client, "/events/lineage", limit=2, offset=1, sortDirection="asc")
    assert (page["events"], page["totalCount"]) == (log.events[1:3], len(log.events))
    between = ask(client, "/events/lineage", after=at(2), before=at(4))
    assert (between["events"], between["totalCount"]) == (log.events[2:0:-1], 2)


def test_who_may_not_see_a_namespace_finds_nothing_of_it(client: TestClient) -> None:
    seen = "db,etl,s3*"
    assert names(ask(client, "/namespaces", seen)["namespaces"]) == ["db", "etl", BUCKET]
    assert ask(client, "/jobs", seen)["totalCount"] == 2
    assert "secret" not in names(ask(client, "/sources", seen)["sources"])
    assert ask(client, "/search", seen, q="hidden")["totalCount"] == 0
    events = ask(client, "/events/lineage", seen)
    assert (len(events["events"]), events["totalCount"]) == (4, 4)
    assert "secret" not in str(events)
    counted = client.get("/api/v1/stats/jobs", headers={"x-visibility": seen}).json()
    assert counted[-1]["count"] == 2
    for path in (
        "/namespaces/secret",
        "/namespaces/secret/jobs",
        "/namespaces/secret/jobs/spy",
        "/namespaces/secret/jobs/spy/runs",
        "/namespaces/secret/datasets/hidden",
        f"/jobs/runs/{SECRET}",
        f"/jobs/runs/{SECRET}/facets",
        "/lineage?nodeId=dataset:secret:hidden",
        "/sources/secret",
    ):
        hidden = client.get(f"/api/v1{path}", headers={"x-visibility": seen})
        missing = client.get(
            f"/api/v1{path.replace('secret', 'nowhere')}", headers={"x-visibility": seen}
        )
        assert hidden.status_code == 404, path
        assert hidden.json()["message"] == missing.json()["message"].replace("nowhere", "secret")


def test_how_many_there_were(client: TestClient) -> None:
    for asset, count in (("jobs", 3), ("datasets", 5), ("sources", 5)):
        for period, length in (("DAY", 24), ("WEEK", 7)):
            answer = client.get(
                f"/api/v1/stats/{asset}", params={"period": period, "timezone": "Europe/Berlin"}
            )
            found = answer.json()
            assert (len(found), {one["count"] for one in found}) == (length, {count}), (
                asset,
                found,
            )
    runs = client.get("/api/v1/stats/lineage-events", params={"period": "WEEK"}).json()
    assert len(runs) == 7
    assert {(one["start"], one["complete"], one["fail"], one["abort"]) for one in runs} == {
        (0, 0, 0, 0)
    }


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/namespaces?limit=many", 400, "limit: expected `int`, got `str`"),
        ("/namespaces?limit=-1", 400, "limit: expected `int` >= 0"),
        ("/lineage", 400, "nodeId: the field is missing"),
        ("/lineage?nodeId=table:x:y", 400, "nodeId: 'table:x:y' is not a node id"),
        ("/lineage?nodeId=dataset:x", 404, "node 'dataset:x' not found"),
        ("/lineage?nodeId=dataset:db:orders&depth=x", 400, "depth: expected `int`, got `str`"),
        (
            "/column-lineage?nodeId=datasetField:db:orders:nothing",
            404,
            "node 'datasetField:db:orders:nothing' not found",
        ),
        (f"/lineage?nodeId=dataset:{':' * 30}", 400, "nodeId: the id has more than 24 colons"),
        ("/search", 400, "q: the field is missing"),
        ("/search?q=x&filter=table", 400, "filter: `filter` must be dataset or job"),
        ("/events/lineage?after=yesterday", 400, "after: "),
        (
            "/stats/jobs?timezone=Mars/Base&period=WEEK",
            400,
            "timezone: 'Mars/Base' is not a time zone",
        ),
        ("/stats/apples", 400, "asset: invalid enum value 'apples'"),
        ("/jobs?lastRunStates=GREAT", 400, "lastRunStates: 'GREAT' is not one of"),
        ("/jobs/runs/nothing", 404, "Run 'nothing' not found."),
        ("/namespaces/db/datasets/%20", 404, "Dataset ' ' not found."),
    ],
)
def test_what_is_asked_wrongly(client: TestClient, path: str, status: int, said: str) -> None:
    answer = client.get(f"/api/v1{path}")
    told = answer.json()
    assert (answer.status_code, told["code"], told["message"].startswith(said)) == (
        status,
        status,
        True,
    ), told


def test_a_page_costs_as_many_statements_however_long_it_is(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    plain = Database.ask

    def counted(self: Database, text: str, *args: Any, **kwargs: Any) -> Any:
        asked.append(text)
        return plain(self, text, *args, **kwargs)

    monkeypatch.setattr(Database, "ask", counted)
    for path in ("/jobs", "/namespaces/db/datasets"):
        asked.clear()
        ask(client, path, limit=1)
        one = len(asked)
        ask(client, path, limit=50)
        assert 2 * one == len(asked) < 24, path
