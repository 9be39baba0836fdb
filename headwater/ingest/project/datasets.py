"""Project datasets: their properties, current columns, and registered source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headwater.ingest.project.quality import failed_checks
from headwater.ingest.project.values import (
    Properties,
    approval_properties,
    deleted_at,
    deprecation_properties,
    owner_names,
    parse_count,
    parse_time,
    read_facet,
    seen_properties,
    tag_texts,
    time_at,
)
from headwater.schema import headwater_facets as native
from headwater.schema.contracts import FACET_PREFIX as CONTRACT_PREFIX
from headwater.schema.contracts import contract_tags, contract_versions, current_versions
from headwater.schema.dataset_labels import dataset_label
from headwater.schema.edits import edited_description, edited_owners
from headwater.schema.facets.dataset import (
    FIELD_PATH_MAX,
    Catalog,
    DatasetDocumentation,
    DatasetOwnership,
    DatasetTag,
    DatasetTags,
    DatasetType,
    DataSource,
    Hierarchy,
    LifecycleStateChange,
    Schema,
    Storage,
    flatten_fields,
)
from headwater.schema.facets.headwater import AssetFacet, InventoryFacet, SourceFacet
from headwater.schema.facts import DatasetFacts, Name
from headwater.schema.facts_codec import pack
from headwater.schema.tags import edited_tags
from headwater.schema.urns import column_urn, dataset_urn, display_name, guid_of, source_urn

UNREGISTERED_SOURCE = dict.fromkeys(("origin", "format", "rowCount", "capturedAt", "checksum"))


class DatasetView(msgspec.Struct):
    node: Properties
    columns: dict[str, Properties]
    source: Properties | None
    source_urn: str
    label: str | None = None


def dataset_view(facts: DatasetFacts, *, own: DatasetFacts | None = None) -> DatasetView:
    """Return a dataset from the joined facts of all its aliases.

    `own` are the facts of its canonical name alone, if they differ.
    """
    name = facts.dataset
    schema = read_facet(Schema, facts.facets, "schema")
    fields = flatten_fields(schema.fields) if schema else {}
    tags = _tags(facts)
    node = {
        "namespace": display_name(name.namespace),
        "name": display_name(name.name),
        "guid": guid_of(dataset_urn(name.namespace, name.name)),
        **seen_properties(facts.span),
        "columns": list(fields) or None,
        "schema": msgspec.json.encode(fields).decode() if fields else None,
        **_described(facts),
        "tags": tag_texts(tags),
        **_lifecycle(facts),
        "deletedAt": deleted_at(facts),
        **deprecation_properties(facts.edits),
        **approval_properties(facts.edits),
        **_own_checks(facts),
        "facts": pack(own or facts),
    }
    columns = _columns(name, fields, _column_tags(tags, fields))
    label = dataset_label(node["type"], node["storage"], name.namespace)
    own_urn = source_urn(name.namespace, name.name)
    return DatasetView(node, columns, _source(facts), own_urn, label)


def _tags(facts: DatasetFacts) -> list[DatasetTag]:
    """Return the tags of a dataset and of its columns, with the edits of people.

    Classifications in its contracts are tags of its columns."""
    facet = read_facet(DatasetTags, facts.facets, "tags")
    tags = [*((facet.tags if facet else None) or ()), *contract_tags(facts.facets)]
    edited = edited_tags(tags, facts.tag_edits)
    return [tag for tag in edited if isinstance(tag, DatasetTag)]


def _columns(
    dataset: Name, fields: Mapping[str, str | None], tags: Mapping[str, list[DatasetTag]]
) -> dict[str, Properties]:
    """Return the columns that the schema lists, and those that only have tags, by urn."""
    return {
        column_urn(dataset.namespace, dataset.name, field): {
            **column_properties(dataset, field),
            "type": fields.get(field),
            "current": field in fields,
            "tags": tag_texts(tags.get(field), of_field=True),
        }
        for field in dict.fromkeys([*fields, *tags])
    }


def _column_tags(tags: Iterable[DatasetTag], fields: Iterable[str]) -> dict[str, list[DatasetTag]]:
    """Return the tags of each column.

    A tag belongs to the column of the schema with that name, or else with that name in other case.
    A column with a very long name is named as its node shows it.
    """
    exact = set(fields)
    folded = {display_name(field).casefold(): field for field in sorted(exact, reverse=True)}
    of_column: dict[str, list[DatasetTag]] = {}
    for tag in tags:
        if tag.field and tag.field.strip() and len(tag.field) <= FIELD_PATH_MAX:
            is_known = tag.field in exact
            field = tag.field if is_known else folded.get(tag.field.casefold(), tag.field)
            of_column.setdefault(field, []).append(tag)
    return of_column


def _described(facts: DatasetFacts) -> Properties:
    kind = read_facet(DatasetType, facts.facets, "datasetType")
    owners = read_facet(DatasetOwnership, facts.facets, "ownership")
    documentation = read_facet(DatasetDocumentation, facts.facets, "documentation")
    source = read_facet(DataSource, facts.facets, "dataSource")
    storage = read_facet(Storage, facts.facets, "storage")
    catalog = read_facet(Catalog, facts.facets, "catalog")
    hierarchy = read_facet(Hierarchy, facts.facets, "hierarchy")
    asset = read_facet(AssetFacet, facts.facets, native.ASSET_FACET)
    return {
        "type": kind.dataset_type if kind else None,
        "subType": kind.sub_type if kind else None,
        "owners": edited_owners(owner_names(owners), facts.edits),
        "description": edited_description(
            documentation.description if documentation else None, facts.edits
        ),
        "sourceName": source.name if source else None,
        "sourceUri": source.uri if source else None,
        "sourceRef": asset.source_ref or None if asset else None,
        "storage": storage.storage_layer if storage else None,
        "fileFormat": storage.file_format if storage else None,
        "catalog": catalog.name if catalog else None,
        "hierarchy": [level.name for level in hierarchy.hierarchy] if hierarchy else None,
        "inventories": _inventories(facts) or None,
        "contracts": _contracts(facts) or None,
    }


def _inventories(facts: DatasetFacts) -> list[str]:
    """Return the names of the inventories that list a dataset, in order."""
    found = [
        read_facet(InventoryFacet, facts.facets, name)
        for name in facts.facets
        if name.startswith(native.INVENTORY_FACET_PREFIX)
    ]
    return sorted(facet.inventory for facet in found if facet and facet.inventory)


def _contracts(facts: DatasetFacts) -> list[str]:
    """Return the ids of the contracts about a dataset, in order."""
    if not any(name.startswith(CONTRACT_PREFIX) for name in facts.facets):
        return []
    return [one.facet.contract_id for one in current_versions(contract_versions(facts.facets))]


def _lifecycle(facts: DatasetFacts) -> Properties:
    change = read_facet(LifecycleStateChange, facts.facets, "lifecycleStateChange")
    kind = change.lifecycle_state_change.upper() if change else None
    at = time_at(facts.facets["lifecycleStateChange"].instant) if change else None
    return {"lifecycle": kind, "lifecycleAt": at, "droppedAt": at if kind == "DROP" else None}


def _own_checks(facts: DatasetFacts) -> Properties:
    """Return the failed checks that an event of the dataset itself reported, outside a run."""
    failed = failed_checks(facts.facets)
    names = failed["failedChecks"]
    register = facts.facets.get("dataQualityAssertions")
    return {
        **failed,
        "checksFailed": len(names) if names else None,
        "checkedAt": time_at(register.instant) if register and register.value else None,
    }


def column_properties(dataset: Name, field: str) -> Properties:
    """Return the properties of every column node, listed in a schema or only named by an edge."""
    return {
        "namespace": display_name(dataset.namespace),
        "dataset": display_name(dataset.name),
        "name": display_name(field),
    }


def source_properties(dataset: Name) -> Properties:
    """Return the properties of every source node, registered or not."""
    return {
        "namespace": display_name(dataset.namespace),
        "name": display_name(dataset.name),
        "dataset": dataset_urn(dataset.namespace, dataset.name),
    }


def _source(facts: DatasetFacts) -> Properties | None:
    details = read_facet(SourceFacet, facts.facets, native.SOURCE_FACET)
    if details is None:
        return None
    return {
        **source_properties(facts.dataset),
        "registered": True,
        "origin": details.origin,
        "format": details.format,
        "rowCount": parse_count(details.row_count),
        "capturedAt": parse_time(details.captured_at),
        "checksum": details.checksum,
    }
