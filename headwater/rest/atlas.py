"""Lineage in the shape of Apache Atlas: `GET /api/atlas/v2/lineage/{guid}`.

A dataset is a `DataSet` and a job a `Process`. A guid is the UUID that is derived from a node's urn, kept on every
dataset and job and looked up by index; the urn itself is taken for it too. The qualified name is the urn. `INPUT` is
upstream.
Where Atlas knows no edge but between a DataSet and a Process, there may be one from DataSet to DataSet here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.cypher.driver.database import Database, Row
from headwater.errors import HeadwaterError, NotFoundError, QueryError, UnavailableError
from headwater.lineage.nodes import read_nodes, resolve
from headwater.lineage.questions.assets import by_guid
from headwater.lineage.questions.lineage import DEPTH_MAX, lineage
from headwater.rest.operations import Api, ArgumentError, Asked, Operation
from headwater.schema.urns import guid_of, parse_urn

NODES_MAX = 1_000
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TYPES = {"dataset": "DataSet", "job": "Process"}
_DIRECTIONS = {"INPUT": "UPSTREAM", "OUTPUT": "DOWNSTREAM", "BOTH": "BOTH"}
Direction = Literal["INPUT", "OUTPUT", "BOTH"]
Depth = Annotated[int, Meta(ge=1, le=DEPTH_MAX)]


class WhichLineage(msgspec.Struct, kw_only=True):
    """`guid` may be a urn."""

    guid: Annotated[str, Meta(max_length=4_000)]
    direction: Direction = "BOTH"
    depth: Depth = 3


class WhichEntity(msgspec.Struct, kw_only=True):
    """An entity by its qualified name, which is its urn."""

    type_name: str = msgspec.field(name="typeName")
    qualified_name: Annotated[str, Meta(max_length=4_000)] = msgspec.field(
        name="attr:qualifiedName"
    )
    direction: Direction = "BOTH"
    depth: Depth = 3


class WhichHeader(msgspec.Struct, kw_only=True):
    """`guid` may be a urn."""

    guid: Annotated[str, Meta(max_length=4_000)]


class Attributes(msgspec.Struct, kw_only=True, rename="camel"):
    name: str
    qualified_name: str
    namespace: str
    description: str | None
    owner: str | None


class Header(msgspec.Struct, kw_only=True, rename="camel"):
    """An entity in short."""

    type_name: Literal["DataSet", "Process"]
    guid: str
    status: Literal["ACTIVE", "DELETED"]
    display_text: str
    attributes: Attributes
    classification_names: list[str]


class Relation(msgspec.Struct, kw_only=True, rename="camel"):
    """Data flows from one entity to the other."""

    from_entity_id: str
    to_entity_id: str
    relationship_id: str


class LineageInfo(msgspec.Struct, kw_only=True, rename="camel"):
    """The entities around one, by guid, and how they hang together."""

    base_entity_guid: str
    lineage_direction: Direction
    lineage_depth: int
    guid_entity_map: dict[str, Header]
    relations: list[Relation]


class AtlasError(msgspec.Struct, kw_only=True, rename="camel"):
    """What is wrong."""

    error_code: str
    error_message: str


class NoEntityError(NotFoundError):
    """A guid, or a qualified name, of nothing that may be seen."""


def get_lineage(asked: Asked) -> LineageInfo:
    which: WhichLineage = asked.arguments
    return _lineage(
        asked.database, _urn_of(asked.database, which.guid), which.direction, which.depth
    )


def get_lineage_by_name(asked: Asked) -> LineageInfo:
    which: WhichEntity = asked.arguments
    urn = _urn_of(asked.database, which.qualified_name)
    if _TYPES[parse_urn(urn).kind] != which.type_name:
        raise NoEntityError(
            f"Instance {which.type_name} with unique attribute qualifiedName={urn} does not exist"
        )
    return _lineage(asked.database, urn, which.direction, which.depth)


def get_header(asked: Asked) -> Header:
    which: WhichHeader = asked.arguments
    urn = _urn_of(asked.database, which.guid)
    return _header(urn, read_nodes(asked.database, [urn])[urn])


def _urn_of(database: Database, guid: str) -> str:
    """The urn of a dataset or job. Raises NoEntityError."""
    found = by_guid(database, guid.lower()) if _GUID.fullmatch(guid) else None
    if found is None and guid.partition(":")[0] in _TYPES:
        try:
            found = next(
                iter(
                    read_nodes(database, [guid]) or read_nodes(database, [resolve(database, guid)])
                ),
                None,
            )
        except QueryError:
            found = None
    if found is None:
        raise NoEntityError(f"Given instance guid {guid[:200]} is invalid/not found")
    return found


def _lineage(database: Database, urn: str, direction: Direction, depth: int) -> LineageInfo:
    found = lineage(
        database, urn, direction=_DIRECTIONS[direction], depth=depth, nodes_max=NODES_MAX
    )
    rows = read_nodes(
        database, [node.urn for node in found.nodes if node.kind in ("DATASET", "JOB")]
    )
    return LineageInfo(
        base_entity_guid=guid_of(urn),
        lineage_direction=direction,
        lineage_depth=depth,
        guid_entity_map={guid_of(one): _header(one, row) for one, row in sorted(rows.items())},
        relations=[
            Relation(
                from_entity_id=guid_of(edge.source),
                to_entity_id=guid_of(edge.target),
                relationship_id=guid_of(f"{edge.source} {edge.target}"),
            )
            for edge in found.edges
            if edge.source in rows and edge.target in rows
        ],
    )


def _header(urn: str, row: Mapping[str, object] | Row) -> Header:
    owners, tags = row.get("owners"), row.get("tags")
    name, namespace, description = row.get("name"), row.get("namespace"), row.get("description")
    return Header(
        type_name="DataSet" if urn.startswith("dataset:") else "Process",
        guid=guid_of(urn),
        status="DELETED" if row.get("droppedAt") else "ACTIVE",
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


def _refused(error: HeadwaterError, status: int) -> AtlasError:
    if isinstance(error, NoEntityError):
        code, message = "ATLAS-404-00-005", error.message
    elif isinstance(error, ArgumentError):
        code, message = "ATLAS-400-00-026", f"{error.field}: {error.message}"
    elif isinstance(error, UnavailableError):
        code, message = "ATLAS-503-00-001", error.message
    else:
        code, message = f"ATLAS-{status}-00-001", error.message
    return AtlasError(error_code=code, error_message=message)


def atlas_api() -> Api:
    """The routes of Atlas."""
    gone = {404: "There is no such entity."}
    operations = (
        Operation(
            "GET",
            "/lineage/uniqueAttribute/type/{typeName}",
            "The lineage of an entity by its qualified name",
            get_lineage_by_name,
            LineageInfo,
            WhichEntity,
            refusals=gone,
        ),
        Operation(
            "GET",
            "/lineage/{guid}",
            "The lineage of an entity",
            get_lineage,
            LineageInfo,
            WhichLineage,
            refusals=gone,
        ),
        Operation(
            "GET",
            "/entity/guid/{guid}/header",
            "An entity in short",
            get_header,
            Header,
            WhichHeader,
            refusals=gone,
        ),
    )
    return Api("Atlas", ("/api/atlas/v2",), operations, AtlasError, _refused)
