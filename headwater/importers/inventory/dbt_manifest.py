"""The inventory of a dbt project: the tables and views of its manifest, sources among them."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.importers.dbt.artifacts import Artifacts
from headwater.importers.dbt.importer import owners_of
from headwater.importers.dbt.project import Project
from headwater.importers.inventory.assets import TABLE, VIEW, Asset
from headwater.importers.report import ImportReport


def read_manifest(artifacts: Artifacts, namespace: str, report: ImportReport) -> Iterator[Asset]:
    """Yield the models, seeds, snapshots and sources of a manifest that are tables or views."""
    project = Project(artifacts, namespace, report)
    for unique_id, node in artifacts.nodes.items():
        if project.is_table(unique_id):
            is_view = node.option("materialized") == "view"
            yield Asset(
                *project.dataset(unique_id),
                VIEW if is_view else TABLE,
                tuple(owners_of(artifacts, node)),
                node.description or "",
            )
