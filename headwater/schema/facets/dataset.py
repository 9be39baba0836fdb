"""The facets of a dataset, wherever it stands. Source: the facet schemas of the OpenLineage
specification 2-0-2.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from headwater.schema.facets.kinds import (
    Expected,
    Facet,
    Integer,
    Label,
    LifecycleState,
    Part,
    Time,
    Uri,
)


class Catalog(Facet, frozen=True):
    name: str
    framework: Expected[str] = None
    type: Expected[str] = None
    metadata_uri: str | None = None
    warehouse_uri: str | None = None
    source: str | None = None
    catalog_properties: dict[str, str] | None = None


class ColumnMetrics(Part, frozen=True):
    null_count: Integer | None = None
    distinct_count: Integer | None = None
    sum: float | None = None
    count: float | None = None
    min: float | None = None
    max: float | None = None
    quantiles: dict[str, float] | None = None


class DataQualityMetrics(Facet, frozen=True):
    column_metrics: dict[str, ColumnMetrics]
    row_count: Integer | None = None
    bytes: Integer | None = None
    file_count: Integer | None = None
    last_updated: Time | None = None


class DatasetType(Facet, frozen=True):
    dataset_type: Expected[str] = None
    sub_type: str | None = None


class DatasetVersion(Facet, frozen=True):
    dataset_version: Label


class DataSource(Facet, frozen=True):
    name: str | None = None
    uri: Uri | None = None


class DatasetDocumentation(Facet, frozen=True):
    description: str
    content_type: str | None = None


class HierarchyLevel(Part, frozen=True):
    name: str
    type: Expected[str] = None


class Hierarchy(Facet, frozen=True):
    hierarchy: list[HierarchyLevel]


class PreviousIdentifier(Part, frozen=True):
    namespace: str
    name: str


class LifecycleStateChange(Facet, frozen=True):
    lifecycle_state_change: LifecycleState
    previous_identifier: PreviousIdentifier | None = None


class DatasetOwner(Part, frozen=True):
    name: str
    type: str | None = None


class DatasetOwnership(Facet, frozen=True):
    owners: list[DatasetOwner] | None = None


class SchemaField(Part, frozen=True):
    name: str
    type: str | None = None
    description: str | None = None
    ordinal_position: Integer | None = msgspec.field(name="ordinal_position", default=None)
    fields: list[SchemaField] | None = None


class Schema(Facet, frozen=True):
    fields: list[SchemaField] | None = None


class Storage(Facet, frozen=True):
    storage_layer: Expected[str] = None
    file_format: str | None = None


class Symlink(Part, frozen=True):
    namespace: str
    name: str
    type: Expected[str] = None


class Symlinks(Facet, frozen=True):
    identifiers: list[Symlink] | None = None


class DatasetTag(Part, frozen=True):
    key: str
    value: Expected[str] = None
    source: str | None = None
    field: str | None = None


class DatasetTags(Facet, frozen=True):
    tags: list[DatasetTag] | None = None


# Deeper fields, and fields with a longer path, are no columns: paths grow with the square of the
# depth.
_FIELD_DEPTH_MAX = 50
FIELD_PATH_MAX = 2_000


def flatten_fields(
    fields: Iterable[SchemaField] | None, prefix: str = "", depth: int = 1
) -> dict[str, str | None]:
    """Return the types of fields by their dotted path, parents before children."""
    flat: dict[str, str | None] = {}
    for field in fields or ():
        path = prefix + field.name
        if not field.name.strip() or (prefix and len(path) > FIELD_PATH_MAX):
            continue
        flat[path] = field.type
        if field.fields and depth < _FIELD_DEPTH_MAX:
            flat.update(flatten_fields(field.fields, f"{path}.", depth + 1))
    return flat
