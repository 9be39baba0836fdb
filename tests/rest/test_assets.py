"""Registered assets over REST: registrations, trees, impact, and every kind of wrong request."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.lineage.questions.assets import asset_id
from headwater.schema.urns import dataset_urn
from tests.event_builders import dataset_event
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

Json = dict[str, Any]


def register(
    client: TestClient, name: str, *upstream: str, kind: str = "table", **more: Any
) -> Json:
    new = {
        "asset_type": kind,
        "name": name,
        "source_ref": f"refs/{name}",
        "upstream_assets": list(upstream),
        **more,
    }
    answer = client.post("/v1/lineage/trace", json=new)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


def ask(client: TestClient, id: str, direction: str = "downstream", **params: Any) -> Json:
    answer = client.get(f"/v1/lineage/{id}", params={"direction": direction, **params})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def shown(node: Json, direction: str = "downstream") -> Any:
    """Return a tree as nested (type, name, children); a reference as its name."""
    if node.get("ref"):
        return node["name"]
    return (
        node["asset_type"],
        node["name"],
        [shown(child, direction) for child in node[direction]],
    )


def story(client: TestClient) -> Json:
    first = register(client, "raw_orders")
    register(client, "stg_orders", "raw_orders", kind="dbt_model")
    register(client, "fct_orders", "stg_orders", kind="dbt_model")
    register(
        client,
        "daily_revenue_report",
        "fct_orders",
        kind="dag",
        source_ref="dags/daily_revenue_report.py",
    )
    register(
        client,
        "customer_ltv_model",
        "fct_orders",
        kind="spark_job",
        source_ref="jobs/customer_ltv.py",
    )
    return first


def test_the_story_of_the_orders_as_trees(client: TestClient) -> None:
    first = story(client)
    assert first["id"] == asset_id(dataset_urn("default", "raw_orders"))
    found = ask(client, first["id"], depth=10)
    assert shown(found["graph"]) == (
        "table",
        "raw_orders",
        [
            (
                "dbt_model",
                "stg_orders",
                [
                    (
                        "dbt_model",
                        "fct_orders",
                        [
                            ("dag", "daily_revenue_report", []),
                            ("spark_job", "customer_ltv_model", []),
                        ],
                    )
                ],
            )
        ],
    )
    assert (found["node_count"], found["truncated"]) == (5, None)
    upward = ask(client, "customer_ltv_model", "upstream")
    assert shown(upward["graph"], "upstream") == (
        "spark_job",
        "customer_ltv_model",
        [("dbt_model", "fct_orders", [("dbt_model", "stg_orders", [("table", "raw_orders", [])])])],
    )
    assert "downstream" not in upward["graph"]
    both = ask(client, "stg_orders", "both")["graph"]
    assert [child["name"] for child in both["downstream"]] == ["fct_orders"]
    assert [child["name"] for child in both["upstream"]] == ["raw_orders"]


def test_a_depth_cuts_the_tree_and_is_reported(client: TestClient) -> None:
    found = ask(client, story(client)["id"], depth=1)
    assert shown(found["graph"]) == ("table", "raw_orders", [("dbt_model", "stg_orders", [])])
    assert found["truncated"] == "depth"


def test_registering_again_is_the_same_asset_and_replaces_its_upstream(client: TestClient) -> None:
    first = register(client, "c", "a", "b")
    assert register(client, "c", "a", "b")["id"] == first["id"]
    register(client, "c", "b")
    assert shown(ask(client, "c", "upstream")["graph"], "upstream") == (
        "table",
        "c",
        [("unknown", "b", [])],
    )
    register(client, "c")
    assert shown(ask(client, "c", "upstream")["graph"], "upstream") == ("table", "c", [])
    assert shown(ask(client, "a")["graph"]) == ("unknown", "a", [])


@pytest.mark.parametrize(
    ("before", "after"), [("table", "dag"), ("dag", "table"), ("spark_job", "dag")]
)
def test_an_asset_may_turn_out_to_be_something_else(
    client: TestClient, before: str, after: str
) -> None:
    register(client, "x", "a", kind=before)
    register(client, "y", "x")
    register(client, "x", "b", kind=after)
    assert shown(ask(client, "y", "upstream")["graph"], "upstream") == (
        "table", "y", [(after, "x", [("unknown", "b", [])])],
    )  # fmt: skip
    assert shown(ask(client, "a")["graph"]) == ("unknown", "a", [])


def test_a_placeholder_fills_in_later_whatever_it_turns_out_to_be(client: TestClient) -> None:
    child = register(client, "report", "later")
    assert [(one["name"], one["known"]) for one in child["upstream_assets"]] == [("later", False)]
    assert shown(ask(client, "later")["graph"]) == ("unknown", "later", [("table", "report", [])])
    placeholder = child["upstream_assets"][0]["id"]
    assert register(client, "later", "raw", kind="dag")["id"] == placeholder
    assert shown(ask(client, placeholder)["graph"]) == ("dag", "later", [("table", "report", [])])
    assert shown(ask(client, "raw")["graph"]) == (
        "unknown",
        "raw",
        [("dag", "later", [("table", "report", [])])],
    )
    assert register(client, "report", "later")["upstream_assets"][0]["known"] is True


def test_a_cycle_ends(client: TestClient) -> None:
    register(client, "a", "b")
    register(client, "b", "a", kind="dag")
    assert shown(ask(client, "a")["graph"]) == ("table", "a", [("dag", "b", ["a"])])
    assert shown(ask(client, "a", "upstream")["graph"], "upstream") == (
        "table",
        "a",
        [("dag", "b", ["a"])],
    )


def test_in_a_diamond_each_node_is_expanded_once(client: TestClient) -> None:
    register(client, "top")
    for level in range(6):
        above = "top" if level == 0 else f"bottom{level - 1}"
        register(client, f"left{level}", above)
        register(client, f"right{level}", above)
        register(client, f"bottom{level}", f"left{level}", f"right{level}")
    found = ask(client, "top", depth=50)
    counted: dict[str, list[bool]] = {}
    waiting = [found["graph"]]
    while waiting:
        node = waiting.pop()
        counted.setdefault(node["name"], []).append(bool(node.get("ref")))
        waiting.extend(node.get("downstream", []))
    # There are 2^6 paths from top to bottom; the tree has each expanded asset and each edge once.
    assert len(counted) == found["node_count"] == 19
    assert all(references.count(False) == 1 for references in counted.values())
    assert sum(map(len, counted.values())) == 1 + 6 * 4
    assert found["truncated"] is None


def test_the_name_of_an_existing_dataset_means_that_dataset(
    client: TestClient, database: Database
) -> None:
    write_events(database, run("r", "load", ["raw"], ["orders"]))
    mart = register(client, "mart", "orders")
    assert mart["upstream_assets"] == [
        {"id": asset_id(dataset_urn("db", "orders")), "name": "orders", "known": True}
    ]
    assert shown(ask(client, dataset_urn("db", "raw"))["graph"]) == (
        "dataset", "raw", [("job", "load", [("dataset", "orders", [("table", "mart", [])])])],
    )  # fmt: skip


def test_a_name_that_several_assets_have_is_called_ambiguous(
    client: TestClient, database: Database
) -> None:
    write_events(
        database, [dataset_event("t", namespace="one"), dataset_event("t", namespace="two")]
    )
    answer = client.post(
        "/v1/lineage/trace",
        json={"asset_type": "table", "name": "m", "upstream_assets": ["x", "t"]},
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(
        "upstream_assets[1]: 2 assets have the name 't': dataset:one:t, dataset:two:t."
    )
    response = client.get("/v1/lineage/t")
    assert (response.status_code, "2 assets have the name 't'" in response.json()["detail"]) == (
        409,
        True,
    )
    by_urn = register(client, "m", "dataset:two:t")
    assert by_urn["upstream_assets"] == [
        {"id": asset_id("dataset:two:t"), "name": "dataset:two:t", "known": True}
    ]
    odd = register(client, "odd", "dataset::x", "dataset:#x", "dataset:y", "job:a:b")
    assert [one["known"] for one in odd["upstream_assets"]] == [False] * 4
    # A reader of one of the two has no ambiguity, and the answer does not name the other.
    visible = client.get("/v1/lineage/t", headers={"x-visibility": "one"})
    assert (visible.status_code, visible.json()["id"]) == (200, asset_id("dataset:one:t"))
    # The asset of the own namespace comes before those of others.
    own = register(client, "t")
    assert client.get("/v1/lineage/t").json()["id"] == own["id"]


def test_hidden_nodes_are_not_found(client: TestClient, database: Database) -> None:
    write_events(database, run("r", "load", ["raw"], ["orders"]))
    hidden = {"x-visibility": "default"}
    for reference in (asset_id(dataset_urn("db", "orders")), dataset_urn("db", "orders"), "orders"):
        answer = client.get(f"/v1/lineage/{reference}", headers=hidden)
        unknown = client.get("/v1/lineage/nothing", headers=hidden)
        assert (answer.status_code, unknown.status_code) == (404, 404)
        assert answer.json()["detail"] == unknown.json()["detail"].replace("nothing", reference)
    new = {"asset_type": "table", "name": "m", "upstream_assets": ["orders"]}
    assert (
        client.post("/v1/lineage/trace", json=new, headers=hidden).json()["upstream_assets"][0][
            "known"
        ]
        is False
    )
    foreign = client.post("/v1/lineage/trace", json={**new, "namespace": "db"}, headers=hidden)
    assert (foreign.status_code, "does not cover namespace 'db'" in foreign.json()["detail"]) == (
        403,
        True,
    )


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"name": 7}, "name: expected `str`, got `int`"),
        ({"name": None}, "name: expected `str`, got `null`"),
        ({"name": ""}, "name: expected `str` of length >= 1"),
        ({"name": " "}, "name: expected `str` matching"),
        ({"name": "a\x00b"}, "name: expected `str` matching"),
        ({"asset_type": "no type!"}, "asset_type: expected `str` matching"),
        (
            {"asset_type": "Unknown"},
            "asset_type: 'Unknown' is reserved for assets that are not registered",
        ),
        ({"upstream_assets": "raw"}, "upstream_assets: expected `array`, got `str`"),
        ({"upstream_assets": ["a", 7]}, "upstream_assets[1]: expected `str`, got `int`"),
        (
            {"upstream_assets": ["a", "me"]},
            "upstream_assets[1]: an asset cannot be its own upstream asset",
        ),
        ({"source_ref": ["x"]}, "source_ref: expected `str`, got `array`"),
        ({"name": "é" * 1_000}, "name: the name is too long"),
        ({"upstream_assets": ["a", "é" * 1_000]}, "upstream_assets[1]: the name is too long"),
        (
            {"upstream_assets": ["dataset:default:me"]},
            "upstream_assets[0]: an asset cannot be its own upstream asset",
        ),
    ],
)
def test_a_wrong_definition_names_its_field(client: TestClient, change: Json, detail: str) -> None:
    answer = client.post("/v1/lineage/trace", json={"asset_type": "table", "name": "me", **change})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


def test_missing_fields_are_named(client: TestClient) -> None:
    assert client.post("/v1/lineage/trace", json={"asset_type": "table"}).json() == {
        "detail": "name: the field is missing"
    }
    for body in (b"", b"{", b"\xff", b'{"name": "\\ud800", "asset_type": "table"}', b"{" * 100_000):
        answer = client.post("/v1/lineage/trace", content=body)
        assert (answer.status_code, answer.json()["detail"]) == (
            422,
            "body: the body is not JSON",
        ), body[:20]
    too_large = client.post("/v1/lineage/trace", content=b" " * 300_000)
    assert (too_large.status_code, "larger than" in too_large.json()["detail"]) == (413, True)


def test_a_wrong_question_names_its_fault(client: TestClient) -> None:
    register(client, "a")
    for params, detail in (
        ({"direction": "sideways"}, "direction: invalid enum value 'sideways'"),
        ({"depth": "0"}, "depth: expected `int` >= 1"),
        ({"depth": "51"}, "depth: expected `int` <= 50"),
        ({"depth": "deep"}, "depth: expected `int`, got `str`"),
    ):
        answer = client.get("/v1/lineage/a", params=params)
        assert (answer.status_code, answer.json()["detail"]) == (422, detail)
    for unknown in (
        "asset_0000000000000000",
        "dataset:x:y",
        "dataset:x",
        "run:x",
        "job:%20",
        "answer:x",
    ):
        answer = client.get(f"/v1/lineage/{unknown}")
        assert (answer.status_code, answer.json()["detail"].startswith("there is no asset")) == (
            404,
            True,
        )


def test_it_is_the_same_without_the_prefix(client: TestClient) -> None:
    new = {"asset_type": "table", "name": "plain"}
    assert client.post("/lineage/trace", json=new).status_code == 201
    assert client.get("/lineage/plain/").json() == client.get("/v1/lineage/plain").json()


def impact(client: TestClient, *changes: Json, id: str = "raw_orders", **more: Any) -> Json:
    answer = client.post(
        "/v1/lineage/impact", json={"asset_id": id, "proposed_changes": list(changes), **more}
    )
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


RENAME = {"type": "column_rename", "from": "order_total", "to": "total_amount"}
DROP = {"type": "column_drop", "column": "legacy_discount_code"}


def test_without_code_the_effect_on_all_readers_is_unknown(client: TestClient) -> None:
    id = story(client)["id"]
    found = impact(client, RENAME, DROP, id=id)
    assert (found["risk_level"], found["affected_count"], found["unknown_count"]) == (
        "high",
        4,
        4,
    )
    assert [
        (one["name"], one["asset_type"], one["severity"]) for one in found["affected_assets"]
    ] == [
        ("stg_orders", "dbt_model", "unknown"),
        ("fct_orders", "dbt_model", "unknown"),
        ("customer_ltv_model", "spark_job", "unknown"),
        ("daily_revenue_report", "dag", "unknown"),
    ]
    ids = {one["name"]: one["id"] for one in found["affected_assets"]}
    assert (
        client.get(f"/v1/lineage/{ids['daily_revenue_report']}").json()["graph"]["name"]
        == "daily_revenue_report"
    )


def test_files_show_the_broken_assets(client: TestClient) -> None:
    id = story(client)["id"]
    files = {
        "models/staging/stg_orders.sql": "select id, order_total from {{ ref('raw_orders') }}",
        "models/marts/fct_orders.sql": "select id, order_total from {{ ref('stg_orders') }}",
        "dags/daily_revenue_report.py": "spark.sql('select sum(order_total) from fct_orders')\n",
        "jobs/customer_ltv.py": "spark.sql('select count(id) from fct_orders')\n",
    }
    found = impact(client, RENAME, id=id, files=files)
    severities = {
        one["name"]: (one["severity"], one["affected_references"])
        for one in found["affected_assets"]
    }
    assert severities == {
        "stg_orders": ("breaking", ["order_total"]),
        "fct_orders": ("breaking", ["order_total"]),
        "daily_revenue_report": ("breaking", ["order_total"]),
    }
    assert found["risk_level"] == "high"


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ([], "proposed_changes: expected `array` of length >= 1"),
        ({}, "proposed_changes: expected `array`, got `object`"),
        (["drop it"], "proposed_changes[0]: expected `object`, got `str`"),
        ([{}], "proposed_changes[0]: type None is not a type of change"),
        (
            [RENAME, {"type": "column_eat"}],
            "proposed_changes[1]: type 'column_eat' is not a type of change",
        ),
        (
            [{"type": "column_rename", "to": "b"}],
            "proposed_changes[0]: column_rename: 'from' is missing",
        ),
        (
            [{**RENAME, "to": 7}],
            "proposed_changes[0]: column_rename: 'to' must be a text that is not empty, not 7",
        ),
        ([{"type": "job_delete"}], "there is no job"),
    ],
)
def test_a_malformed_change_names_its_fault(client: TestClient, change: Any, detail: str) -> None:
    register(client, "raw_orders")
    answer = client.post(
        "/v1/lineage/impact", json={"asset_id": "raw_orders", "proposed_changes": change}
    )
    assert answer.status_code == (404 if detail.startswith("there") else 400)
    assert answer.json()["detail"].startswith(detail)


def test_an_impact_needs_an_asset(client: TestClient) -> None:
    answer = client.post(
        "/v1/lineage/impact",
        json={"asset_id": "asset_0000000000000000", "proposed_changes": [DROP]},
    )
    assert (answer.status_code, answer.json()["detail"].startswith("there is no asset")) == (
        404,
        True,
    )
    missing = client.post("/v1/lineage/impact", json={"proposed_changes": [DROP]})
    assert (missing.status_code, missing.json()["detail"]) == (
        400,
        "asset_id: the field is missing",
    )


def test_a_deleted_process_leaves_its_outputs(client: TestClient) -> None:
    register(client, "nightly", "raw_orders", kind="dag")
    register(client, "report", "nightly")
    found = impact(client, {"type": "job_delete"}, id="nightly")
    assert [(one["name"], one["severity"]) for one in found["affected_assets"]] == [
        ("report", "warning")
    ]


def test_an_impact_does_not_name_hidden_nodes(client: TestClient, database: Database) -> None:
    write_events(database, run("r", "load", ["raw"], ["orders"]))
    answer = client.post(
        "/v1/lineage/impact",
        json={"asset_id": dataset_urn("db", "raw"), "proposed_changes": [{"type": "table_drop"}]},
        headers={"x-visibility": "db"},
    )
    found = answer.json()
    assert (found["hidden_affected"], "etl" in answer.text) == (True, False)


def test_a_hidden_asset_is_a_stub_in_the_tree(client: TestClient, database: Database) -> None:
    write_events(database, run("r", "load", ["raw"], ["orders"]))
    answer = client.get(f"/v1/lineage/{dataset_urn('db', 'raw')}", headers={"x-visibility": "db"})
    tree = answer.json()["graph"]
    (stub,) = tree["downstream"]
    assert (stub["id"], stub["name"], stub["asset_type"], stub["hidden"]) == (
        None,
        "hidden",
        "hidden",
        True,
    )
    assert [child["name"] for child in stub["downstream"]] == ["orders"]
    assert "load" not in answer.text
    assert "etl" not in answer.text
