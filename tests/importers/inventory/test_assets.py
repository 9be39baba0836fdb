"""The events of an inventory, and what the graph says after each import."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.errors import QueryError
from headwater.health.service_levels.measures import MEASURES
from headwater.importers.inventory.assets import (
    Asset,
    ListedAsset,
    inventory_events,
    require_inventory_name,
    withdrawal_events,
)
from headwater.importers.report import ImportReport
from headwater.lineage.questions.coverage import coverage
from headwater.lineage.questions.inventories import (
    Inventory,
    count_assets,
    inventories,
    inventory_assets,
)
from headwater.lineage.view import GraphView
from headwater.schema.visibility import Visibility
from tests.canonical import canonical, empty
from tests.event_builders import node
from tests.run_builders import at, ds, run, write_events

ORDERS = Asset("db", "orders", "TABLE", ("ann",), "Orders of the shop")
LEDGER = Asset("db", "ledger", "TABLE", ("bob",))


def listed(inventory: str, minute: int, *assets: Asset) -> list[dict[str, Any]]:
    return list(inventory_events(inventory, at(minute), assets, ImportReport()))


def withdrawn(inventory: str, minute: int, *assets: ListedAsset) -> list[dict[str, Any]]:
    return list(withdrawal_events(inventory, at(minute), assets, ImportReport()))


def test_an_asset_counts_once() -> None:
    report = ImportReport()
    events = list(inventory_events("warehouse", at(0), [ORDERS, LEDGER, ORDERS], report))
    assert [event["dataset"]["name"] for event in events] == ["orders", "ledger"]
    assert report.counts["assets"] == 2
    facets = events[0]["dataset"]["facets"]
    assert facets["headwater_inventory_warehouse"]["inventory"] == "warehouse"
    assert facets["ownership"]["owners"] == [{"name": "ann"}]


@pytest.mark.parametrize("name", ["", "Warehouse", "a b", "-a", "x" * 61])
def test_a_name_that_no_facet_can_have_is_refused(name: str) -> None:
    with pytest.raises(QueryError, match="no name of an inventory"):
        require_inventory_name(name)


@pytest.mark.neo4j
def test_the_gaps_of_an_inventory(database: Database, view: GraphView) -> None:
    """Both inventories list orders; a job writes it. Nothing is known of ledger."""
    empty(database)
    write_events(
        database,
        run("r1", "load", ["raw"], ["orders"], minute=0),
        listed("warehouse", 10, ORDERS, LEDGER),
        listed("finance", 20, ORDERS),
    )
    assert inventories(view) == [Inventory("finance", 1, 0), Inventory("warehouse", 2, 1)]
    [gap] = inventory_assets(view, inventory="warehouse", gaps=True, first=5).entries
    assert (gap.urn, gap.has_lineage, gap.inventories) == (ds("ledger"), False, ["warehouse"])
    assert count_assets(view) == 2
    assert count_assets(view, gaps=True) == 1
    assert node(database, ds("ledger"))["owners"] == ["bob"]
    assert node(database, ds("orders"))["inventories"] == ["finance", "warehouse"]
    # raw and orders are connected, ledger is not; load has inputs and outputs.
    counts = coverage(view, days=1).total
    assert (counts.datasets, counts.connected) == (3, 2)
    # A page at a time.
    page = inventory_assets(view, first=1)
    assert [one.urn for one in page.entries] == [ds("ledger")]
    rest = inventory_assets(view, first=1, after=page.cursors[-1])
    assert [one.urn for one in rest.entries] == [ds("orders")]
    hidden = view.visible_to(Visibility(("elsewhere",)))
    assert inventories(hidden) == []
    assert count_assets(hidden) == 0
    assert MEASURES["M6"](hidden, (None, None)).counts.total == 0  # type: ignore[arg-type]


@pytest.mark.neo4j
def test_a_withdrawn_asset_in_any_order_of_events(database: Database, view: GraphView) -> None:
    """The later import lists neither; orders stays for its lineage, ledger is gone."""
    stories = [
        run("r1", "load", ["raw"], ["orders"], minute=0),
        listed("warehouse", 10, ORDERS, LEDGER),
        withdrawn(
            "warehouse",
            20,
            ListedAsset("db", "orders", is_known=True),
            ListedAsset("db", "ledger", is_known=False),
        ),
    ]
    graphs = []
    for order in permutations(stories):
        empty(database)
        write_events(database, *order, order[0])
        graphs.append(canonical(database))
        assert inventories(view) == []
        assert coverage(view, days=1).total.datasets == 2
    assert all(graph == graphs[0] for graph in graphs)
    # The next import lists ledger again.
    write_events(database, listed("warehouse", 30, LEDGER))
    assert inventories(view) == [Inventory("warehouse", 1, 1)]
