"""Datasets and jobs as entities of Apache Atlas: their guids and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headwater.cypher.driver.database import Row
from headwater.errors import NotFoundError, QueryError
from headwater.lineage.nodes import read_nodes, resolve_urn
from headwater.lineage.questions.assets import find_by_guid
from headwater.lineage.view import GraphView
from headwater.schema.urns import guid_of

TYPES = {"dataset": "DataSet", "job": "Process"}
Text = Annotated[str, Meta(max_length=4_000)]
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class HeaderParams(msgspec.Struct, kw_only=True):
    """Parameters of an entity; `guid` may be a urn."""

    guid: Text


class Attributes(msgspec.Struct, kw_only=True, rename="camel"):
    name: str
    qualified_name: str
    namespace: str
    description: str | None
    owner: str | None


class Header(msgspec.Struct, kw_only=True, rename="camel"):
    """The header of an entity."""

    type_name: str
    guid: str
    status: Literal["ACTIVE", "DELETED"]
    display_text: str
    attributes: Attributes
    classification_names: list[str]


class EntityNotFoundError(NotFoundError):
    """An error about a guid or qualified name without a visible entity."""


def urn_of_guid(view: GraphView, guid: str) -> str:
    """Return the urn of a dataset or job by guid or urn. Raises EntityNotFoundError."""
    urn = find_by_guid(view, guid.lower()) if _GUID.fullmatch(guid) else None
    if urn is None and guid.partition(":")[0] in TYPES:
        try:
            rows = read_nodes(view, [guid])
            rows = rows or read_nodes(view, [resolve_urn(view, guid)])
            urn = next(iter(rows), None)
        except QueryError:
            urn = None
    if urn is None:
        raise EntityNotFoundError(f"Given instance guid {guid[:200]} is invalid/not found")
    return urn


def header_of(
    urn: str,
    row: Mapping[str, object] | Row,
    sent: Mapping[str, object] | None = None,
    type_name: str = "",
) -> Header:
    """Return the header of a dataset or job; `sent` and `type_name` are those of its client."""
    sent = sent or {}
    owners, tags = row.get("owners"), row.get("tags")
    owner = owners[0] if isinstance(owners, list) and owners else None
    name, namespace, description = row.get("name"), row.get("namespace"), row.get("description")
    return Header(
        type_name=type_name or TYPES[urn.partition(":")[0]],
        guid=guid_of(urn),
        status="DELETED" if row.get("droppedAt") or row.get("deletedAt") else "ACTIVE",
        display_text=str(name),
        attributes=Attributes(
            name=str(name),
            qualified_name=str(sent.get("qualifiedName", urn)),
            namespace=str(namespace),
            description=_text(sent.get("description", description)),
            owner=_text(sent.get("owner", owner)),
        ),
        classification_names=[str(tag) for tag in tags] if isinstance(tags, list) else [],
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
