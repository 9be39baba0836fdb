"""What inventories list, and which of it has no lineage: the gaps, with their owners."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.lineage.pagination import Page
from headwater.lineage.view import GraphView

INVENTORIES_MAX = 1_000


@dataclass(frozen=True)
class Inventory:
    """An inventory with the number of its visible datasets, and of those without lineage."""

    name: str
    datasets: int
    gaps: int


@dataclass(frozen=True)
class InventoryAsset:
    """A dataset that inventories list; `has_lineage` if a job reads or writes it now."""

    urn: str
    has_lineage: bool
    inventories: list[str]


def inventories(view: GraphView) -> list[Inventory]:
    """Return the inventories by name."""
    rows = view.read(
        "read/estate/inventories", visible=view.visibility.regexes, limit=INVENTORIES_MAX
    )
    return [Inventory(row["inventory"], row["datasets"], row["gaps"]) for row in rows]


def inventory_assets(
    view: GraphView, *, inventory: str = "", gaps: bool = False, first: int, after: str = ""
) -> Page[InventoryAsset]:
    """Return a page of the datasets that an inventory (or any) lists, by urn.

    `gaps`: only those without lineage. `after` is the urn of the last entry of the page before.
    """
    rows = view.read(
        "read/estate/inventory_assets",
        inventory=inventory,
        gaps=gaps,
        visible=view.visibility.regexes,
        cursor=after,
        limit=first + 1,
    )
    found = [InventoryAsset(row["urn"], row["hasLineage"], row["inventories"]) for row in rows]
    shown = found[:first]
    return Page(shown, [one.urn for one in shown], len(found) > first, bool(after))


def count_assets(view: GraphView, *, inventory: str = "", gaps: bool = False) -> int:
    """Return the number of datasets on all pages."""
    [row] = view.read(
        "read/estate/inventory_assets_count",
        inventory=inventory,
        gaps=gaps,
        visible=view.visibility.regexes,
    )
    return int(row["count"])
