"""The inventory of a dbt project: tables and views, not tests or ephemeral models."""

from __future__ import annotations

from pathlib import Path

from headwater.importers.dbt.artifacts import read_artifacts
from headwater.importers.inventory.assets import Asset
from headwater.importers.inventory.dbt_manifest import read_manifest
from headwater.importers.report import ImportReport
from tests.importers.dbt import artifact_builders as dbt


def test_the_tables_of_a_manifest(tmp_path: Path) -> None:
    nodes = [
        dbt.node("model.shop.orders", "source.shop.raw.lines", meta={"owner": ["ann", "bob"]}),
        dbt.node("model.shop.paid", config={"materialized": "view"}, group="finance"),
        dbt.node("model.shop.part", config={"materialized": "ephemeral"}),
        dbt.generic_test("unique", "model.shop.orders", "id"),
        dbt.source("lines", description="Lines of orders"),
    ]
    groups = {"group.shop.finance": {"name": "finance", "owner": {"email": "fin@example.com"}}}
    folder = dbt.write_artifacts(tmp_path, *nodes, groups=groups)
    report = ImportReport()
    assets = list(read_manifest(read_artifacts(folder, report), "postgres://db:5432", report))
    assert assets == [
        Asset("postgres://db:5432", "shop.main.orders", "TABLE", ("ann", "bob")),
        Asset("postgres://db:5432", "shop.main.paid", "VIEW", ("fin@example.com",)),
        Asset("postgres://db:5432", "shop.raw.lines", "TABLE", (), "Lines of orders"),
    ]
    assert report.problems == []
