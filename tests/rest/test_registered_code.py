"""Impacts judged by the code that registered assets point to."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.rest.test_assets import ask, impact, register, shown

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def reader(client_with_code: tuple[TestClient, Path]) -> TestClient:
    """Return a client of an API that reads the code of registered assets."""
    client, root = client_with_code
    (root / "models").mkdir()
    (root / "models" / "stg.sql").write_text("select id, total from {{ source('raw', 'orders') }}")
    (root / "report.py").write_text("hook.get_records('select sum(total) from marts.stg')")
    (root.parent / "secret.py").write_text("SECRET = 'abc'")
    return client


def test_an_impact_is_judged_by_the_code_of_a_registration(reader: TestClient) -> None:
    register(reader, "raw_orders", source_ref="postgres://warehouse/raw/orders")
    model = register(reader, "stg", "raw_orders", kind="dbt_model", source_ref="models/stg.sql")
    dag = register(reader, "report", "stg", kind="dag", source_ref="report.py")
    assert (model["code"], dag["code"]) == (
        {"language": "sql", "problem": None},
        {"language": "python", "problem": None},
    )
    rename = {"type": "column_rename", "from": "total", "to": "amount"}
    found = impact(reader, rename, id="raw_orders")
    assert [
        (one["id"], one["asset_type"], one["severity"], one["affected_references"])
        for one in found["affected_assets"]
    ] == [
        (model["id"], "dbt_model", "breaking", ["total"]),
        (dag["id"], "dag", "breaking", ["total"]),
    ]
    assert found["affected_assets"][0]["evidence"][0]["line"] == 1
    assert impact(reader, {"type": "column_drop", "column": "note"}, id="raw_orders") == {
        **found,
        "risk_level": "low",
        "affected_count": 0,
        "breaking_count": 0,
        "affected_assets": [],
    }
    # The tree shows a model and its job as one asset.
    assert shown(ask(reader, "raw_orders")["graph"]) == (
        "table",
        "raw_orders",
        [("dbt_model", "stg", [("dag", "report", [])])],
    )


def test_a_later_registration_without_code_makes_the_effect_unknown(reader: TestClient) -> None:
    register(reader, "raw_orders", source_ref="postgres://warehouse/raw/orders")
    rename = {"type": "column_rename", "from": "total", "to": "amount"}
    for source_ref, severity in (("models/stg.sql", "breaking"), ("models/gone.sql", "unknown")):
        register(reader, "stg", "raw_orders", kind="dbt_model", source_ref=source_ref)
        register(reader, "report", "stg", kind="dag", source_ref="DAG id")
        found = impact(reader, rename, id="raw_orders")["affected_assets"]
        assert [(one["name"], one["severity"]) for one in found] == [
            ("stg", severity),
            ("report", "unknown"),
        ]


@pytest.mark.parametrize(
    ("source_ref", "problem"),
    [
        ("../secret.py", "the path must not have empty parts, `.` or `..`"),
        ("/etc/hosts.py", "the path must be relative to the root, with forward slashes"),
        ("models/gone.sql", "there is no such file, or a part of its path is a link"),
        ("models/.stg.sql", "hidden files are not read"),
    ],
)
def test_a_registration_reads_nothing_outside(
    reader: TestClient, source_ref: str, problem: str
) -> None:
    found = register(reader, "a", kind="dag", source_ref=source_ref)
    assert found["code"] == {"language": None, "problem": problem}
    assert "SECRET" not in reader.get("/v1/lineage/a").text


def test_a_registration_without_a_configured_folder(client: TestClient) -> None:
    found = register(client, "a", kind="dag", source_ref="dags/a.py")
    assert "HEADWATER_REPOSITORY_ROOT" in found["code"]["problem"]
    assert register(client, "b", kind="dag", source_ref="daily")["code"] is None
