"""The assets of an inventory, and the events that say which inventory lists them.

An inventory has a name. Each of its assets is described by a dataset event with a facet of that
inventory (`headwater_inventory_NAME`). An asset that a later import no longer lists gets an event
that deletes this facet. If nothing else is known of the asset, the event deletes the dataset, too,
until another event names it. So the graph stays a function of the events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headwater.errors import QueryError
from headwater.importers.events import DatasetName, dataset, dataset_event, facets
from headwater.importers.report import ImportReport
from headwater.schema.headwater_facets import (
    DELETION_FACET,
    INVENTORY_FACET_PREFIX,
    Event,
)

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
TABLE, VIEW = "TABLE", "VIEW"


@dataclass(frozen=True)
class Asset:
    """One asset of an inventory. `other_name`: the name under which a catalogue lists it."""

    namespace: str
    name: str
    type: str = ""
    owners: tuple[str, ...] = ()
    description: str = ""
    other_name: DatasetName | None = None


@dataclass(frozen=True)
class ListedAsset:
    """An asset that an earlier import listed under this name.

    `is_known`: by lineage or another inventory, too.
    """

    namespace: str
    name: str
    is_known: bool


def require_inventory_name(name: str) -> str:
    """Return the name of an inventory. Raises QueryError for one that no facet can have."""
    if not NAME.fullmatch(name):
        raise QueryError(
            f"{name[:80]!r} is no name of an inventory",
            hint="Use up to 60 small letters, digits, - and _, for example warehouse.",
        )
    return name


def inventory_events(
    inventory: str, time: str, assets: Iterable[Asset], report: ImportReport
) -> Iterator[Event]:
    """Yield the events of the assets that an inventory lists at a time; each asset counts once."""
    seen: set[DatasetName] = set()
    for asset in assets:
        key = asset.namespace, asset.name
        if key not in seen:
            seen.add(key)
            report.counts["assets"] += 1
            yield _listed(inventory, time, asset)


def withdrawal_events(
    inventory: str, time: str, assets: Iterable[ListedAsset], report: ImportReport
) -> Iterator[Event]:
    """Yield the events of the assets that an inventory no longer lists."""
    facet = f"{INVENTORY_FACET_PREFIX}{inventory}"
    for asset in assets:
        own = facets(**{facet: {"_deleted": True}})
        if not asset.is_known:
            own |= facets(**{DELETION_FACET: {"reason": f"withdrawn from {inventory}"}})
        report.counts["withdrawn assets"] += 1
        yield dataset_event(time, dataset((asset.namespace, asset.name), own))


def _listed(inventory: str, time: str, asset: Asset) -> Event:
    owners = [{"name": owner} for owner in asset.owners]
    other = asset.other_name
    # The name as the inventory has it: naming rules and aliases may give the dataset another.
    listed = {"inventory": inventory, "namespace": asset.namespace, "name": asset.name}
    symlinks = [{"namespace": other[0], "name": other[1], "type": TABLE}] if other else []
    own = facets(
        **{f"{INVENTORY_FACET_PREFIX}{inventory}": listed},
        datasetType={"datasetType": asset.type or None},
        ownership={"owners": owners or None},
        documentation={"description": asset.description or None},
        symlinks={"identifiers": symlinks or None},
    )
    return dataset_event(time, dataset((asset.namespace, asset.name), own))
