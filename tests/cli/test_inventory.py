"""The commands about inventories, against a real API and a real worker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli import app
from headwater.errors import QueryError
from tests.canonical import empty
from tests.end_to_end.conftest import Running, running
from tests.importers.dbt.artifact_builders import MANIFEST_VERSION

__all__ = ["running"]

HEADER = "namespace,name,type,owner,description\n"


def invoke(*words: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["inventory", *words], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result.stdout


def gaps(running: Running) -> list[dict[str, Any]]:
    running.wait_folded()
    found: list[dict[str, Any]] = json.loads(invoke("gaps", "--json", "--url", running.url))["gaps"]
    return found


@pytest.mark.neo4j
def test_an_inventory_is_imported_and_later_lists_less(running: Running, tmp_path: Path) -> None:
    """Nobody sends lineage. The spelling of the namespace in the file is not the canonical one."""
    empty(running.database)
    file = tmp_path / "warehouse.csv"
    orders, ledger = "postgresql://DB/,shop.public.orders", "postgresql://DB/,shop.public.ledger"
    lines = [f"{orders},table,ann,", f"{ledger},table,bob;team:x,Entries"]
    file.write_text(HEADER + "\n".join(lines))
    answer = json.loads(invoke("import", str(file), "--json", "--url", running.url))
    assert answer["accepted"] == 2
    gap, _ = gaps(running)
    named = {key: gap[key] for key in ("namespace", "name", "owners", "inventories")}
    assert named == {
        "namespace": "postgres://db:5432",
        "name": "shop.public.ledger",
        "owners": ["bob", "team:x"],
        "inventories": ["warehouse"],
    }
    # The same list again withdraws nothing.
    answer = json.loads(invoke("import", str(file), "--json", "--url", running.url))
    assert answer["read"] == {"assets": 2}
    assert len(gaps(running)) == 2
    # A line that cannot be read keeps the other assets.
    file.write_text(HEADER + lines[0] + "\npostgresql://DB/,,,,\n")
    answer = json.loads(invoke("import", str(file), "--json", "--url", running.url))
    assert answer["problems"][0]["reason"] == "the column `name` is empty"
    assert len(gaps(running)) == 2
    file.write_text(HEADER + lines[0])
    answer = json.loads(invoke("import", str(file), "--json", "--url", running.url))
    assert answer["read"] == {"assets": 1, "withdrawn assets": 1}
    assert [one["name"] for one in gaps(running)] == ["shop.public.orders"]
    table = invoke("list", "--format", "csv", "--url", running.url)
    assert table.splitlines()[-1] == "warehouse,1,1,0.0 %"


def test_an_inventory_has_one_source(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="has one source"):
        invoke("import")
    with pytest.raises(QueryError, match="has one source"):
        invoke("import", str(tmp_path / "a.csv"), "--jdbc", "sqlite:///x.db")


def test_a_dry_run_prints_the_events(tmp_path: Path) -> None:
    file = tmp_path / "Lake.csv"
    file.write_text(f"{HEADER}db,orders,,,\n")
    result = CliRunner().invoke(
        app, ["inventory", "import", str(file), "--dry-run", "--at", "2026-01-31"]
    )
    assert result.exit_code == 0, result.output
    event = json.loads(result.stdout.splitlines()[0])
    assert event["eventTime"] == "2026-01-31T00:00:00Z"
    assert "headwater_inventory_lake" in event["dataset"]["facets"]


def test_the_tables_of_a_dbt_project(tmp_path: Path) -> None:
    node = {
        "unique_id": "model.shop.orders",
        "name": "orders",
        "resource_type": "model",
        "database": "dwh",
        "schema": "public",
        "meta": {"owner": "ann"},
        "config": {"materialized": "view"},
        "description": "Orders",
    }
    manifest = {
        "metadata": {
            "project_name": "shop",
            "adapter_type": "postgres",
            "dbt_schema_version": MANIFEST_VERSION,
        },
        "nodes": {node["unique_id"]: node},
        "sources": {},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    words = ["inventory", "import", "--dbt-manifest", str(tmp_path), "--namespace", "db"]
    result = CliRunner().invoke(app, [*words, "--dry-run"])
    assert result.exit_code == 0, result.output
    dataset = json.loads(result.stdout.splitlines()[0])["dataset"]
    assert (dataset["namespace"], dataset["name"]) == ("db", "dwh.public.orders")
    assert dataset["facets"]["ownership"]["owners"] == [{"name": "ann"}]
    assert dataset["facets"]["datasetType"]["datasetType"] == "VIEW"
    assert "headwater_inventory_dbt" in dataset["facets"]
