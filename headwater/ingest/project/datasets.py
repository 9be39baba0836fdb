"""Project datasets: their properties, current columns, and registered source."""

from __future__ import annotations

import msgspec

from headwater.ingest.project.values import (
    Properties,
    deleted_at,
    parse_count,
    parse_time,
    read_facet,
    seen_properties,
    tag_texts,
    time_at,
)
from headwater.schema import headwater_facets as native
from headwater.schema.facets.dataset import (
    Catalog,
    DatasetDocumentation,
    DatasetOwnership,
    DatasetTags,
    DatasetType,
    DataSource,
    Hierarchy,
    LifecycleStateChange,
    Schema,
    Storage,
    flatten_fields,
)
from headwater.schema.facets.headwater import AssetFacet, SourceFacet
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


def dataset_view(facts: DatasetFacts, *, own: DatasetFacts | None = None) -> DatasetView:
    """Return a dataset from the joined facts of all its aliases.

    `own` are the facts of its canonical name alone, if they differ.
    """
    name = facts.dataset
    schema = read_facet(Schema, facts.facets, "schema")
    fields = flatten_fields(schema.fields) if schema else {}
    node = {
        "namespace": display_name(name.namespace),
        "name": display_name(name.name),
        "guid": guid_of(dataset_urn(name.namespace, name.name)),
        **seen_properties(facts.span),
        "columns": list(fields) or None,
        "schema": msgspec.json.encode(fields).decode() if fields else None,
        **_described(facts),
        **_lifecycle(facts),
        "deletedAt": deleted_at(facts),
        "facts": pack(own or facts),
    }
    columns = {
        column_urn(name.namespace, name.name, field): {
            **column_properties(name, field),
            "type": type,
            "current": True,
        }
        for field, type in fields.items()
    }
    return DatasetView(node, columns, _source(facts), source_urn(name.namespace, name.name))


def _described(facts: DatasetFacts) -> Properties:
    kind = read_facet(DatasetType, facts.facets, "datasetType")
    owners = read_facet(DatasetOwnership, facts.facets, "ownership")
    documentation = read_facet(DatasetDocumentation, facts.facets, "documentation")
    tags = read_facet(DatasetTags, facts.facets, "tags")
    source = read_facet(DataSource, facts.facets, "dataSource")
    storage = read_facet(Storage, facts.facets, "storage")
    catalog = read_facet(Catalog, facts.facets, "catalog")
    hierarchy = read_facet(Hierarchy, facts.facets, "hierarchy")
    asset = read_facet(AssetFacet, facts.facets, native.ASSET_FACET)
    return {
        "type": kind.dataset_type if kind else None,
        "subType": kind.sub_type if kind else None,
        "owners": [owner.name for owner in owners.owners or ()] if owners else None,
        "description": documentation.description if documentation else None,
        "tags": tag_texts(edited_tags(tags.tags if tags else None, facts.tag_edits)),
        "sourceName": source.name if source else None,
        "sourceUri": source.uri if source else None,
        "sourceRef": asset.source_ref or None if asset else None,
        "storage": storage.storage_layer if storage else None,
        "fileFormat": storage.file_format if storage else None,
        "catalog": catalog.name if catalog else None,
        "hierarchy": [level.name for level in hierarchy.hierarchy] if hierarchy else None,
    }


def _lifecycle(facts: DatasetFacts) -> Properties:
    change = read_facet(LifecycleStateChange, facts.facets, "lifecycleStateChange")
    kind = change.lifecycle_state_change.upper() if change else None
    at = time_at(facts.facets["lifecycleStateChange"].instant) if change else None
    return {"lifecycle": kind, "lifecycleAt": at, "droppedAt": at if kind == "DROP" else None}


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
