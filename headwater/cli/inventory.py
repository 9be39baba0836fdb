"""Commands about inventories: `inventory import`, `inventory gaps`, `inventory list`."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, cast

import typer

from headwater.cli.imports import Delivery, DryRun, EventsFile, Strict, deliver
from headwater.cli.options import Home, Json, Profile, Url, existing
from headwater.cli.question import question
from headwater.cli.result import Result
from headwater.cli.send import open_unpacked
from headwater.client.backend import Backend
from headwater.client.times import instant_of
from headwater.errors import QueryError
from headwater.importers.report import ImportReport
from headwater.schema.headwater_facets import INVENTORY_FACET_PREFIX, Event

if TYPE_CHECKING:
    from rich.console import Console

    from headwater.importers.inventory.assets import Asset, ListedAsset

HELP = "List the assets that exist, and find those without lineage."
PAGE = 1_000
Data = dict[str, Any]
_GAP_COLUMNS = ("dataset", "type", "owners", "inventories")
_LIST_COLUMNS = ("inventory", "datasets", "without lineage", "covered")


def import_inventory(
    file: Annotated[
        str | None,
        typer.Argument(
            help="A CSV file with the columns namespace,name,type,owner,description.",
            metavar="FILE",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The name of the inventory.", show_default="that of the file", metavar="NAME"
        ),
    ] = None,
    jdbc: Annotated[
        str | None,
        typer.Option(
            help="The tables of a database: postgresql://user@host:5432/db, sqlite:///file.db.",
            metavar="URL",
        ),
    ] = None,
    hive: Annotated[
        str | None,
        typer.Option(help="The tables of a Hive metastore, by its database.", metavar="URL"),
    ] = None,
    iceberg: Annotated[
        str | None,
        typer.Option(help="The tables of an Iceberg catalogue, by its database.", metavar="URL"),
    ] = None,
    dbt_manifest: Annotated[
        str | None,
        typer.Option(help="The tables of a dbt project, by its target folder.", metavar="DIR"),
    ] = None,
    namespace: Annotated[
        str, typer.Option(help="Namespace of the datasets, if not that of the source.")
    ] = "",
    at: Annotated[
        str | None,
        typer.Option(help="The time of the inventory.", show_default="now", metavar="TIME"),
    ] = None,
    strict: Strict = False,
    home: Home = None,
    url: Url = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    output: EventsFile = None,
    as_json: Json = False,
) -> None:
    """Import an inventory: the assets that exist. Assets that it no longer lists are withdrawn.

    Without lineage they count as uncovered in the coverage, and `headwater inventory gaps` lists
    them. For example: headwater inventory import warehouse.csv
    """
    from headwater.importers.inventory.assets import require_inventory_name

    sources = {"FILE": file, "--jdbc": jdbc, "--hive": hive, "--iceberg": iceberg}
    given = {
        key: value for key, value in {**sources, "--dbt-manifest": dbt_manifest}.items() if value
    }
    if len(given) != 1:
        raise QueryError(
            "an inventory has one source",
            hint="Give a FILE, --jdbc, --hive, --iceberg or --dbt-manifest.",
        )
    [(kind, source)] = given.items()
    chosen = require_inventory_name(name or _default_name(kind, source))
    report = ImportReport()
    assets = _assets(kind, source, namespace, report)
    instant = instant_of("--at", at) or datetime.now(UTC)
    delivery = Delivery(home, url, profile, dry_run, output, as_json, strict)
    events = _events(chosen, instant, assets, report, delivery)
    deliver(events, report, delivery)


def _events(
    inventory: str,
    instant: datetime,
    assets: Iterable[Asset],
    report: ImportReport,
    delivery: Delivery,
) -> Iterator[Event]:
    """Yield the events of the assets, then those of the withdrawn ones.

    Nothing is withdrawn if a part of the inventory could not be read, or if it is not sent.
    """
    from headwater.importers.inventory.assets import inventory_events, withdrawal_events

    listed: set[tuple[str, str]] = set()

    def noted() -> Iterator[Asset]:
        for asset in assets:
            listed.add((asset.namespace, asset.name))
            yield asset

    time = instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
    events = inventory_events(inventory, time, noted(), report)
    first = next(events, None)
    if first is None:
        report.notes.append("the inventory lists nothing, so nothing is withdrawn")
        return
    yield from chain([first], events)
    if report.problems:
        report.notes.append("parts were passed over, so no earlier asset is withdrawn")
    elif delivery.dry_run or delivery.output:
        report.notes.append("the events withdraw no earlier asset; only an import that sends does")
    else:
        gone = [
            asset
            for asset in _listed_before(inventory, delivery)
            if (asset.namespace, asset.name) not in listed
        ]
        yield from withdrawal_events(inventory, time, gone, report)


def _listed_before(inventory: str, delivery: Delivery) -> Iterator[ListedAsset]:
    """Yield what an earlier import of the inventory lists, by the names that it gave."""
    from headwater.cli.backend.choice import open_backend
    from headwater.importers.inventory.assets import ListedAsset

    facet = f"{INVENTORY_FACET_PREFIX}{inventory}"
    with open_backend(delivery.url, delivery.profile, delivery.home) as backend:
        for node in _pages(backend, "inventory_listing", inventory, gaps=False):
            named = node["dataset"]["facets"].get(facet) or {}
            if named.get("name"):
                is_known = node["hasLineage"] or len(node["inventories"]) > 1
                yield ListedAsset(named.get("namespace", ""), named["name"], is_known)


def _pages(backend: Backend, document: str, inventory: str, *, gaps: bool) -> Iterator[Data]:
    """Yield the assets of an inventory, page by page."""
    after: str | None = None
    while True:
        found = backend.ask(document, inventory=inventory, gaps=gaps, first=PAGE, after=after)[
            "inventoryAssets"
        ]
        yield from (edge["node"] for edge in found["edges"])
        if not found["pageInfo"]["hasNextPage"]:
            return
        after = found["pageInfo"]["endCursor"]


def _default_name(kind: str, source: str) -> str:
    if kind == "FILE":
        return Path(source).name.partition(".")[0].lower()
    return kind.removeprefix("--").removesuffix("-manifest")


def _assets(kind: str, source: str, namespace: str, report: ImportReport) -> Iterator[Asset]:
    """Yield the assets of a source. Raises QueryError, UnavailableError."""
    if kind == "FILE":
        yield from _assets_of_csv(source, report)
    elif kind == "--dbt-manifest":
        yield from _assets_of_dbt(source, namespace, report)
    else:
        from headwater.importers.inventory import databases

        read = {
            "--jdbc": databases.read_tables,
            "--hive": databases.read_hive,
            "--iceberg": databases.read_iceberg,
        }[kind]
        yield from read(databases.open_catalogue(source, namespace))


def _assets_of_csv(path: str, report: ImportReport) -> Iterator[Asset]:
    from headwater.importers.inventory.csv_file import read_csv

    with open_unpacked(str(existing(path))) as stream:
        text = io.TextIOWrapper(
            cast(BinaryIO, stream), encoding="utf-8-sig", errors="replace", newline=""
        )
        yield from read_csv(text, path, report)


def _assets_of_dbt(path: str, namespace: str, report: ImportReport) -> Iterator[Asset]:
    from headwater.importers.dbt.artifacts import read_artifacts
    from headwater.importers.dbt.locate import ProfileOptions, find_namespace, target_folder
    from headwater.importers.inventory.dbt_manifest import read_manifest

    folder = target_folder(Path(path))
    artifacts = read_artifacts(folder, report)
    chosen = namespace or find_namespace(artifacts, folder, ProfileOptions("", "", ""), os.environ)
    yield from read_manifest(artifacts, chosen, report)


@question
def gaps(
    backend: Backend,
    inventory: Annotated[
        str, typer.Option(help="Only the assets of this inventory.", metavar="NAME")
    ] = "",
) -> Result:
    """List the assets of inventories without lineage, with their owners.

    For example: headwater inventory gaps --inventory warehouse --format csv"""
    found = list(_pages(backend, "inventory_assets", inventory, gaps=True))
    records = [{**node["dataset"], "inventories": node["inventories"]} for node in found]
    rows = [
        {
            "dataset": f"{one['namespace']} {one['name']}",
            "type": one["type"] or "",
            "owners": ", ".join(one["owners"]),
            "inventories": ", ".join(one["inventories"]),
        }
        for one in records
    ]
    return Result(
        data={"gaps": records},
        columns=_GAP_COLUMNS,
        rows=rows,
        records=records,
        show=partial(_show_gaps, rows=rows),
    )


def _show_gaps(out: Console, *, rows: list[Data]) -> None:
    from headwater.cli import render

    render.print_table(out, _GAP_COLUMNS, rows)
    out.print(f"{render.with_noun(len(rows), 'asset')} without lineage")


@question
def list_inventories(backend: Backend) -> Result:
    """List the inventories, with the share of their assets that has lineage."""
    from headwater.cli import render

    found = backend.ask("inventories")["inventories"]
    rows = [
        {
            "inventory": one["name"],
            "datasets": one["datasets"],
            "without lineage": one["gaps"],
            "covered": render.percent(one["covered"]),
        }
        for one in found
    ]
    return Result(
        data={"inventories": found},
        columns=_LIST_COLUMNS,
        rows=rows,
        records=found,
        show=lambda out: render.print_table(out, _LIST_COLUMNS, rows),
    )


COMMANDS: dict[str, Callable[..., None]] = {
    "import": import_inventory,
    "gaps": gaps,
    "list": list_inventories,
}
