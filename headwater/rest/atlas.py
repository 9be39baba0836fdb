"""Lineage and entities in the shape of Apache Atlas, under `/api/atlas/v2`.

A dataset is a `DataSet` and a job a `Process`. A guid is the UUID derived from a node's urn; every
dataset and job has it as an indexed property. The API also accepts the urn itself as a guid. The
qualified name is the urn. `INPUT` is upstream. Atlas has edges between a DataSet and a Process
only; this API may also return an edge from DataSet to DataSet.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.errors import HeadwaterError, UnavailableError
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.lineage import lineage
from headwater.lineage.traversal.request import DEPTH_MAX, LineageRequest
from headwater.lineage.view import GraphView
from headwater.rest.atlas_entities import (
    ENTITY_BYTES_MAX,
    AtlasEntities,
    EntityMutation,
    EntityWithReferred,
    NewEntities,
    NewEntity,
    UniqueParams,
)
from headwater.rest.atlas_nodes import (
    TYPES,
    EntityNotFoundError,
    Header,
    HeaderParams,
    Text,
    header_of,
    urn_of_guid,
)
from headwater.rest.operations import Api, ArgumentError, Operation, OperationRequest
from headwater.schema.urns import guid_of, parse_urn

NODES_MAX = 1_000
_DIRECTIONS = {"INPUT": "UPSTREAM", "OUTPUT": "DOWNSTREAM", "BOTH": "BOTH"}
Direction = Literal["INPUT", "OUTPUT", "BOTH"]
Depth = Annotated[int, Meta(ge=1, le=DEPTH_MAX)]


class LineageParams(msgspec.Struct, kw_only=True):
    """Parameters of a lineage; `guid` may be a urn."""

    guid: Text
    direction: Direction = "BOTH"
    depth: Depth = 3


class EntityParams(msgspec.Struct, kw_only=True):
    """Parameters of a lineage by qualified name, which is the urn."""

    type_name: str = msgspec.field(name="typeName")
    qualified_name: Text = msgspec.field(name="attr:qualifiedName")
    direction: Direction = "BOTH"
    depth: Depth = 3


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


def get_lineage(request: OperationRequest) -> LineageInfo:
    """Return the lineage of an entity by guid."""
    params: LineageParams = request.params
    return _lineage(
        request.view, urn_of_guid(request.view, params.guid), params.direction, params.depth
    )


def get_lineage_by_name(request: OperationRequest) -> LineageInfo:
    """Return the lineage of an entity by type and qualified name."""
    params: EntityParams = request.params
    urn = urn_of_guid(request.view, params.qualified_name)
    if TYPES[parse_urn(urn).kind] != params.type_name:
        raise EntityNotFoundError(
            f"Instance {params.type_name} with unique attribute qualifiedName={urn} does not exist"
        )
    return _lineage(request.view, urn, params.direction, params.depth)


def get_header(request: OperationRequest) -> Header:
    """Return the header of an entity by guid."""
    params: HeaderParams = request.params
    urn = urn_of_guid(request.view, params.guid)
    return header_of(urn, read_nodes(request.view, [urn])[urn])


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
        guid_entity_map={guid_of(node): header_of(node, row) for node, row in sorted(rows.items())},
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
    entities = AtlasEntities()
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
            "/entity/uniqueAttribute/type/{typeName}",
            "An entity by its qualified name",
            entities.get_by_name,
            EntityWithReferred,
            UniqueParams,
            errors=not_found,
        ),
        Operation(
            "GET",
            "/entity/guid/{guid}",
            "An entity",
            entities.get,
            EntityWithReferred,
            HeaderParams,
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
        *_writes(entities),
    )
    return Api("Atlas", ("/api/atlas/v2",), operations, AtlasError, _atlas_error)


def _writes(entities: AtlasEntities) -> list[Operation]:
    """Return the routes that create or update entities; Atlas has POST and PUT for each."""
    created = partial(Operation, answer=EntityMutation, body_bytes_max=ENTITY_BYTES_MAX)
    one, one_text = partial(created, body=NewEntity), "Create or update an entity"
    many, many_text = partial(created, body=NewEntities), "Create or update entities"
    return [
        one("POST", "/entity", one_text, entities.create),
        one("PUT", "/entity", one_text, entities.update),
        many("POST", "/entity/bulk", many_text, entities.create_all),
        many("PUT", "/entity/bulk", many_text, entities.update_all),
    ]
