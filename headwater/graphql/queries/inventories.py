"""Inventories in the schema: what exists, and which of it has no lineage."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import strawberry

from headwater.graphql.context import Info
from headwater.graphql.types.fields import After, First, page_length, resolver
from headwater.graphql.types.nodes import Dataset
from headwater.graphql.types.results import Connection
from headwater.lineage.pagination import PAGE_DEFAULT
from headwater.lineage.questions import inventories as listing
from headwater.lineage.questions.coverage import share

ASSETS_MAX = 1_000


@strawberry.type(
    description="A list of datasets that exist, whether or not anybody sends lineage for them."
)
class Inventory:
    name: str = strawberry.field(description="Its name.")
    datasets: int = strawberry.field(description="The number of datasets that it lists.")
    gaps: int = strawberry.field(description="The number of these that no job reads or writes now.")

    @resolver("The share of its datasets with lineage.")
    def covered(self) -> float | None:
        return share(self.datasets - self.gaps, self.datasets)


@strawberry.type(description="A dataset that inventories list.")
class InventoryAsset:
    has_lineage: bool = strawberry.field(description="True if a job reads or writes it now.")
    inventories: list[str] = strawberry.field(description="The inventories that list it.")
    urn: strawberry.Private[str]

    @resolver("The dataset, with its owners.")
    async def dataset(self, info: Info) -> Dataset:
        return (await Dataset.all(info, [self.urn]))[0]


@strawberry.type
class InventoryQueries:
    @resolver("The inventories by name, with the number of their datasets without lineage.")
    async def inventories(self, info: Info) -> list[Inventory] | None:
        found = await info.context.run_in_thread(listing.inventories, info.context.view)
        return [Inventory(name=one.name, datasets=one.datasets, gaps=one.gaps) for one in found]

    @resolver("The datasets that an inventory lists, by urn.")
    async def inventory_assets(
        self,
        info: Info,
        inventory: Annotated[
            str, strawberry.argument(description="The name of the inventory; empty for any.")
        ] = "",
        gaps: Annotated[
            bool, strawberry.argument(description="Only datasets without lineage.")
        ] = False,
        first: First = PAGE_DEFAULT,
        after: After = None,
    ) -> Connection[InventoryAsset] | None:
        page = await info.context.run_in_thread(
            partial(
                listing.inventory_assets,
                info.context.view,
                inventory=inventory,
                gaps=gaps,
                first=page_length(first, limit=ASSETS_MAX),
                after=after or "",
            )
        )
        assets = [
            InventoryAsset(has_lineage=one.has_lineage, inventories=one.inventories, urn=one.urn)
            for one in page.entries
        ]
        count = partial(
            info.context.run_in_thread,
            partial(listing.count_assets, info.context.view, inventory=inventory, gaps=gaps),
        )
        return Connection.of(page, assets, count)
