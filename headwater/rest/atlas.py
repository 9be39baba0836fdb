"""Lineage in the shape of Apache Atlas: `GET /api/atlas/v2/lineage/{guid}`.

A dataset is a `DataSet` and a job a `Process`. A guid is the UUID derived from a node's urn; every
dataset and job has it as an indexed property. The API also accepts the urn itself as a guid. The
qualified name is the urn. `INPUT` is upstream. Atlas has edges between a DataSet and a Process
only; this API may also return an edge from DataSet to DataSet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.cypher.driver.database import Row
from headwater.errors import HeadwaterError, NotFoundError, QueryError, UnavailableError
from headwater.lineage.nodes import read_nodes, resolve_urn
from headwater.lineage.questions.assets import find_by_guid
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.traversal.request import DEPTH_MAX, LineageRequest
from headwater.lineage.view import GraphView
from headwater.rest.operations import Api, ArgumentError, Operation, OperationRequest
from headwater.schema.urns import guid_of, parse_urn

NODES_MAX = 1_000
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TYPES = {"dataset": "DataSet", "job": "Process"}
_DIRECTIONS = {"INPUT": "UPSTREAM", "OUTPUT": "DOWNSTREAM", "BOTH": "BOTH"}
Direction = Literal["INPUT", "OUTPUT", "BOTH"]
Depth = Annotated[int, Meta(ge=1, le=DEPTH_MAX)]


class LineageParams(msgspec.Struct, kw_only=True):
    """Parameters of a lineage; `guid` may be a urn."""

    guid: Annotated[str, Meta(max_length=4_000)]
    direction: Direction = "BOTH"
    depth: Depth = 3


class EntityParams(msgspec.Struct, kw_only=True):
    """Parameters of a lineage by qualified name, which is the urn."""

    type_name: str = msgspec.field(name="typeName")
    qualified_name: Annotated[str, Meta(max_length=4_000)] = msgspec.field(
        name="attr:qualifiedName"
    )
    direction: Direction = "BOTH"
    depth: Depth = 3


class HeaderParams(msgspec.Struct, kw_only=True):
    """Parameters of an entity header; `guid` may be a urn."""

    guid: Annotated[str, Meta(max_length=4_000)]


class Attributes(msgspec.Struct, kw_only=True, rename="camel"):
    name: str
    qualified_name: str
    namespace: str
    description: str | None
    owner: str | None


class Header(msgspec.Struct, kw_only=True, rename="camel"):
    """The header of an entity."""

    type_name: Literal["DataSet", "Process"]
    guid: str
    status: Literal["ACTIVE", "DELETED"]
    display_text: str
    attributes: Attributes
    classification_names: list[str]


class Relation(msgspec.Struct, kw_only=True, rename="camel"):
    """A flow of data from one entity to another."""

    from_entity_id: str
    to_entity_id: str
    relationship_id: str


class LineageInfo(msgspec.Struct, kw_only=True, rename="camel"):
    """The entities around a base entity, by guid, and the relations between them."""

    base_entity_guid: str
    lineage_direction: Direction
    lineage_depth: int
    guid_entity_map: dict[str, Header]
    relations: list[Relation]


class AtlasError(msgspec.Struct, kw_only=True, rename="camel"):
    """The body of an error response."""

    error_code: str
    error_message: str


class EntityNotFoundError(NotFoundError):
    """An error about a guid or qualified name without a visible entity."""


def get_lineage(request: OperationRequest) -> LineageInfo:
    """Return the lineage of an entity by guid."""
    params: LineageParams = request.params
    return _lineage(
        request.view, _urn_of(request.view, params.guid), params.direction, params.depth
    )


def get_lineage_by_name(request: OperationRequest) -> LineageInfo:
    """Return the lineage of an entity by type and qualified name."""
    params: EntityParams = request.params
    urn = _urn_of(request.view, params.qualified_name)
    if _TYPES[parse_urn(urn).kind] != params.type_name:
        raise EntityNotFoundError(
            f"Instance {params.type_name} with unique attribute qualifiedName={urn} does not exist"
        )
    return _lineage(request.view, urn, params.direction, params.depth)


def get_header(request: OperationRequest) -> Header:
    """Return the header of an entity by guid."""
    params: HeaderParams = request.params
    urn = _urn_of(request.view, params.guid)
    return _header(urn, read_nodes(request.view, [urn])[urn])


def _urn_of(view: GraphView, guid: str) -> str:
    """Return the urn of a dataset or job by guid or urn. Raises EntityNotFoundError."""
    urn = find_by_guid(view, guid.lower()) if _GUID.fullmatch(guid) else None
    if urn is None and guid.partition(":")[0] in _TYPES:
        try:
            rows = read_nodes(view, [guid])
            rows = rows or read_nodes(view, [resolve_urn(view, guid)])
            urn = next(iter(rows), None)
        except QueryError:
            urn = None
    if urn is None:
        raise EntityNotFoundError(f"Given instance guid {guid[:200]} is invalid/not found")
    return urn


def _lineage(view: GraphView, urn: str, direction: Direction, depth: int) -> LineageInfo:
    result = lineage(
        view,
        LineageRequest((urn,), direction=_DIRECTIONS[direction], depth=depth, nodes_max=NODES_MAX),
    )
    rows = read_nodes(view, [node.urn for node in result.nodes if node.kind in ("DATASET", "JOB")])
    return LineageInfo(
        base_entity_guid=guid_of(urn),
        lineage_direction=direction,
        lineage_depth=depth,
        guid_entity_map={guid_of(node): _header(node, row) for node, row in sorted(rows.items())},
        relations=[
            Relation(
                from_entity_id=guid_of(edge.source),
                to_entity_id=guid_of(edge.target),
                relationship_id=guid_of(f"{edge.source} {edge.target}"),
            )
            for edge in result.edges
            if edge.source in rows and edge.target in rows
        ],
    )


def _header(urn: str, row: Mapping[str, object] | Row) -> Header:
    owners, tags = row.get("owners"), row.get("tags")
    name, namespace, description = row.get("name"), row.get("namespace"), row.get("description")
    return Header(
        type_name="DataSet" if urn.startswith("dataset:") else "Process",
        guid=guid_of(urn),
        status="DELETED" if row.get("droppedAt") or row.get("deletedAt") else "ACTIVE",
        display_text=str(name),
        attributes=Attributes(
            name=str(name),
            qualified_name=urn,
            namespace=str(namespace),
            description=description if isinstance(description, str) else None,
            owner=str(owners[0]) if isinstance(owners, list) and owners else None,
        ),
        classification_names=[str(tag) for tag in tags] if isinstance(tags, list) else [],
    )


def _atlas_error(error: HeadwaterError, status: int) -> AtlasError:
    if isinstance(error, EntityNotFoundError):
        code, message = "ATLAS-404-00-005", error.message
    elif isinstance(error, ArgumentError):
        code, message = "ATLAS-400-00-026", f"{error.field}: {error.message}"
    elif isinstance(error, UnavailableError):
        code, message = "ATLAS-503-00-001", error.message
    else:
        code, message = f"ATLAS-{status}-00-001", error.message
    return AtlasError(error_code=code, error_message=message)


def atlas_api() -> Api:
    """Return the routes of Atlas."""
    not_found = {404: "No entity has this guid or qualified name."}
    operations = (
        Operation(
            "GET",
            "/lineage/uniqueAttribute/type/{typeName}",
            "The lineage of an entity by its qualified name",
            get_lineage_by_name,
            LineageInfo,
            EntityParams,
            errors=not_found,
        ),
        Operation(
            "GET",
            "/lineage/{guid}",
            "The lineage of an entity",
            get_lineage,
            LineageInfo,
            LineageParams,
            errors=not_found,
        ),
        Operation(
            "GET",
            "/entity/guid/{guid}/header",
            "The header of an entity",
            get_header,
            Header,
            HeaderParams,
            errors=not_found,
        ),
    )
    return Api("Atlas", ("/api/atlas/v2",), operations, AtlasError, _atlas_error)
