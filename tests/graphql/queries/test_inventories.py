"""Inventories in the schema: two datasets are listed, one of them has no lineage."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.database import Database
from headwater.importers.inventory.assets import Asset, inventory_events
from headwater.importers.report import ImportReport
from tests.canonical import empty
from tests.graphql.conftest import Ask
from tests.run_builders import at, ds, run, write_events

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def history(database: Database) -> None:
    empty(database)
    assets = [Asset("db", "orders"), Asset("db", "ledger", "TABLE", ("ann",))]
    write_events(
        database,
        run("r1", "load", ["raw"], ["orders"], minute=0),
        list(inventory_events("warehouse", at(5), assets, ImportReport())),
    )


def test_inventories_and_their_gaps(ask: Ask) -> None:
    found = ask(
        """{ inventories { name datasets gaps covered }
          inventoryAssets(inventory: "warehouse", gaps: true) {
            totalCount nodes { hasLineage inventories dataset { urn owners inventories } } }
          none: inventoryAssets(inventory: "other") { totalCount } }"""
    )["data"]
    assert found["inventories"] == [{"name": "warehouse", "datasets": 2, "gaps": 1, "covered": 0.5}]
    gap = {"urn": ds("ledger"), "owners": ["ann"], "inventories": ["warehouse"]}
    assert found["inventoryAssets"] == {
        "totalCount": 1,
        "nodes": [{"hasLineage": False, "inventories": ["warehouse"], "dataset": gap}],
    }
    assert found["none"] == {"totalCount": 0}
