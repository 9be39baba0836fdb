"""Lineage, column lineage, search, events and counts at Marquez' paths."""

from __future__ import annotations

from operator import itemgetter
from urllib.parse import quote

import pytest
from marquez_client import MarquezClient  # type: ignore[import-untyped]
from starlette.testclient import TestClient

from headwater.schema.urns import guid_of
from tests.rest.conftest import Log
from tests.rest.marquez.run_history import BUCKET, SECRET, Json, get_json, names
from tests.run_builders import at

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("folded")]


def graph(found: Json) -> dict[str, tuple[list[str], list[str]]]:
    edges = {}
    for node in found["graph"]:
        incoming = [edge["origin"] for edge in node["inEdges"]]
        outgoing = [edge["destination"] for edge in node["outEdges"]]
        edges[node["id"]] = (incoming, outgoing)
    return edges


def test_the_lineage_of_a_node(client: TestClient) -> None:
    raw, load, orders, report, sums = (
        f"dataset:{BUCKET}:raw/orders",
        "job:etl:load",
        "dataset:db:orders",
        "job:etl:report",
        "dataset:db:sums",
    )
    spy, hidden = "job:secret:spy", "dataset:secret:hidden"
    visible = get_json(client, "/lineage", nodeId=raw)
    assert graph(visible) == {
        raw: ([], [load]),
        load: ([raw], [orders]),
        orders: ([load], [report, spy]),
        report: ([orders], [sums]),
        sums: ([report], []),
        spy: ([orders], [hidden]),
        hidden: ([spy], []),
    }
    assert [node["id"] for node in visible["graph"]] == sorted(
        node["id"] for node in visible["graph"]
    )
    for node in visible["graph"]:
        assert all(edge["destination"] == node["id"] for edge in node["inEdges"])
    types = {node["id"]: (node["type"], node["data"]["name"]) for node in visible["graph"]}
    assert types[load] == ("JOB", "load")
    assert types[raw] == ("DATASET", "raw/orders")
    complete = graph(get_json(client, "/lineage", nodeId=quote(orders, safe=":/"), depth=1))
    assert set(complete) == {raw, load, orders, report, sums, spy, hidden}
    assert graph(get_json(client, "/lineage", nodeId=orders, depth=0)) == {orders: ([], [])}
    assert set(
        graph(get_json(client, "/lineage", nodeId=f"{orders}#{guid_of('any')}", depth=0))
    ) == {orders}
    assert set(graph(get_json(client, "/lineage", nodeId="dataset:colons:here:a:b"))) == {
        "dataset:colons:here:a:b"
    }


def test_a_hidden_node_is_not_in_the_lineage(client: TestClient) -> None:
    visible = get_json(client, "/lineage", "db,etl,s3*", nodeId="dataset:db:orders")
    assert set(graph(visible)) == {
        "dataset:db:orders",
        "dataset:db:sums",
        f"dataset:{BUCKET}:raw/orders",
        "job:etl:load",
        "job:etl:report",
    }
    assert graph(visible)["dataset:db:orders"] == (["job:etl:load"], ["job:etl:report"])
    assert "secret" not in str(visible)


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
    found = get_json(client, "/search/", q="orders")
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
    for sort, expected in (
        ("UPDATE_AT", ["orders", "raw/orders"]),
        ("update_at", ["orders", "raw/orders"]),
        ("NAME", ["orders", "raw/orders"]),
    ):
        assert names(get_json(client, "/search/", q="orders", sort=sort)["results"]) == expected
    newest = get_json(client, "/search/", q="e", sort="UPDATE_AT", limit=100)["results"]
    times = [result["updatedAt"] for result in newest]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) > 2
    assert names(
        get_json(client, "/search", q="rep", filter="JOB", sort="UPDATED_AT")["results"]
    ) == ["report"]
    assert names(get_json(client, "/search", q="orders", namespace="db")["results"]) == ["orders"]
    assert names(get_json(client, "/search", q="orders", after=at(3))["results"]) == ["orders"]
    assert get_json(client, "/search", q="")["results"] == []


def test_run_events_are_returned_unchanged(client: TestClient, log: Log) -> None:
    runs = sorted((event for event in log.events if "run" in event), key=itemgetter("eventTime"))
    found = get_json(client, "/events/lineage")
    assert (found["events"], found["totalCount"]) == (runs[::-1], 5)
    page = get_json(client, "/events/lineage", limit=2, offset=1, sortDirection="asc")
    assert (page["events"], page["totalCount"]) == (runs[1:3], 5)
    between = get_json(client, "/events/lineage", after=at(2), before=at(4))
    assert (between["events"], between["totalCount"]) == (log.events[2:0:-1], 2)


def test_run_events_of_one_run(client: TestClient, log: Log) -> None:
    [first, *_] = [event for event in log.events if "run" in event]
    run_id = first["run"]["runId"]
    own = [event for event in log.events if event.get("run", {}).get("runId") == run_id]
    found = get_json(client, "/events/lineage", runId=run_id, sortDirection="asc")
    assert (found["events"], found["totalCount"]) == (own, len(own))
    nothing = get_json(client, "/events/lineage", runId="nothing")
    assert (nothing["events"], nothing["totalCount"]) == ([], 0)
    hidden = get_json(client, "/events/lineage", "db,etl,s3*", runId=SECRET)
    assert (hidden["events"], hidden["totalCount"]) == ([], 0)
    assert get_json(client, "/events/lineage", runId=SECRET)["totalCount"] == 1


def test_a_hidden_namespace_occurs_in_no_answer(client: TestClient) -> None:
    visible = "db,etl,s3*"
    assert names(get_json(client, "/namespaces", visible)["namespaces"]) == ["db", "etl", BUCKET]
    assert get_json(client, "/jobs", visible)["totalCount"] == 2
    assert "secret" not in names(get_json(client, "/sources", visible)["sources"])
    assert get_json(client, "/search", visible, q="hidden")["totalCount"] == 0
    events = get_json(client, "/events/lineage", visible)
    assert (len(events["events"]), events["totalCount"]) == (4, 4)
    assert "secret" not in str(events)
    counted = client.get("/api/v1/stats/jobs", headers={"x-visibility": visible}).json()
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
        hidden = client.get(f"/api/v1{path}", headers={"x-visibility": visible})
        missing = client.get(
            f"/api/v1{path.replace('secret', 'nowhere')}", headers={"x-visibility": visible}
        )
        assert hidden.status_code == 404, path
        assert hidden.json()["message"] == missing.json()["message"].replace("nowhere", "secret")


def test_counts_over_time(client: TestClient) -> None:
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
