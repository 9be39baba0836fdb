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


class ErrorMessage(msgspec.Struct):
    message: str


class ProcessingEngine(msgspec.Struct):
    name: str
    version: str | None = None


class NominalTime(msgspec.Struct, rename="camel"):
    nominal_start_time: str


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
    job_type: str | None = None


class Sql(msgspec.Struct):
    query: str


class SchemaField(msgspec.Struct):
    name: str
    type: str | None = None
    fields: list[SchemaField] | None = None


class Schema(msgspec.Struct):
    fields: list[SchemaField] = []


def read_facet(kind: type[T], facets: Registers, name: str) -> T | None:
    """A facet as its type; None when it is absent, deleted or not what its name promises."""
    register = facets.get(name)
    if register is None or not register.value:
        return None
    try:
        return msgspec.json.decode(register.value, type=kind, strict=False)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
