"""The facets that the graph is made from, read back from the facts.

Each type holds what is used of one facet and no more; a facet that is not what its name promises reads as absent.
Sources: the facet schemas of the OpenLineage specification 2-0-2; the `headwater_` ones are in `schema.native`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from headwater.schema.facts import Registers

T = TypeVar("T")


class Statistics(msgspec.Struct, rename="camel"):
    row_count: Any = None
    size: Any = None
    file_count: Any = None


class ErrorMessage(msgspec.Struct, rename="camel"):
    message: str
    stack_trace: str | None = None


class ProcessingEngine(msgspec.Struct):
    name: str
    version: str | None = None


class NominalTime(msgspec.Struct, rename="camel"):
    nominal_start_time: str
    nominal_end_time: str | None = None


class RunDetails(msgspec.Struct, rename="camel"):
    version: str | None = None
    triggered_by: str | None = None
    undated: bool = False


class ArtifactDetails(msgspec.Struct, rename="camel"):
    run_id: str
    type: str | None = None
    row_count: Any = None
    storage_path: str | None = None
    created_at: str | None = None
    schema: str | None = None


class SourceDetails(msgspec.Struct, rename="camel"):
    origin: str | None = None
    format: str | None = None
    row_count: Any = None
    captured_at: str | None = None
    checksum: str | None = None


class TypeFacet(msgspec.Struct, rename="camel"):
    dataset_type: str | None = None
    sub_type: str | None = None


class JobKind(msgspec.Struct, rename="camel"):
    job_type: str | None = None
    processing_type: str | None = None
    integration: str | None = None


class Sql(msgspec.Struct):
    query: str


class SchemaField(msgspec.Struct):
    name: str
    type: str | None = None
    fields: list[SchemaField] | None = None


class Schema(msgspec.Struct):
    fields: list[SchemaField] = []


class Owner(msgspec.Struct):
    name: str


class Owners(msgspec.Struct):
    owners: list[Owner] = []


class Documentation(msgspec.Struct):
    description: str


class Tag(msgspec.Struct):
    key: str
    value: str | None = None
    field: str | None = None


class Tags(msgspec.Struct):
    tags: list[Tag] = []


class DataSource(msgspec.Struct):
    name: str | None = None
    uri: str | None = None


class Storage(msgspec.Struct, rename="camel"):
    storage_layer: str | None = None
    file_format: str | None = None


class Catalog(msgspec.Struct):
    name: str | None = None
    type: str | None = None


class Level(msgspec.Struct):
    name: str


class Hierarchy(msgspec.Struct):
    hierarchy: list[Level] = []


class LifecycleChange(msgspec.Struct, rename="camel"):
    lifecycle_state_change: str


class CodeLocation(msgspec.Struct, rename="camel"):
    url: str | None = None
    repo_url: str | None = None
    path: str | None = None
    version: str | None = None
    branch: str | None = None


class SourceCode(msgspec.Struct, rename="camel"):
    language: str | None = None
    source_code: str | None = None


class ExternalQuery(msgspec.Struct, rename="camel"):
    external_query_id: str
    source: str | None = None


class ExtractionFailure(msgspec.Struct, rename="camel"):
    error_message: str


class ExtractionError(msgspec.Struct):
    errors: list[ExtractionFailure] = []


class Assertion(msgspec.Struct):
    assertion: str
    success: bool
    column: str | None = None
    name: str | None = None


class Assertions(msgspec.Struct):
    assertions: list[Assertion] = []


class TestExecution(msgspec.Struct):
    name: str
    status: str


class Tests(msgspec.Struct):
    tests: list[TestExecution] = []


class MappedTask(msgspec.Struct, rename="camel"):
    map_index: int


# Fields nested deeper, or with a longer path, are no columns of their own: paths grow with the square of the depth.
_FIELD_DEPTH_MAX = 50
_FIELD_PATH_MAX = 2_000


def flattened(fields: list[SchemaField], prefix: str = "", depth: int = 1) -> dict[str, str | None]:
    """The types of fields by their dotted path, parents before children."""
    flat: dict[str, str | None] = {}
    for field in fields:
        path = prefix + field.name
        if not field.name.strip() or (prefix and len(path) > _FIELD_PATH_MAX):
            continue
        flat[path] = field.type
        if field.fields and depth < _FIELD_DEPTH_MAX:
            flat.update(flattened(field.fields, f"{path}.", depth + 1))
    return flat


def read_facet(kind: type[T], facets: Registers, name: str) -> T | None:
    """A facet as its type; None when it is absent, deleted or not what its name promises."""
    register = facets.get(name)
    if register is None or not register.value:
        return None
    try:
        return msgspec.json.decode(register.value, type=kind, strict=False)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
