"""Helpers of resolvers: the field decorator, common arguments, and lookups of node properties.

A node's name is part of its urn, so only other properties are read from Neo4j. They are read
together with those of all nodes that the same turn of the event loop needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import strawberry
from strawberry.types.field import StrawberryField

from headwater.errors import NotFoundError
from headwater.graphql.context import Info
from headwater.lineage.pagination import PAGE_DEFAULT, require_between
from headwater.schema.urns import parse_urn

T = TypeVar("T")
First = Annotated[
    int | None,
    strawberry.argument(description="The most entries to return; null for the default."),
]
After = Annotated[
    str | None,
    strawberry.argument(description="A cursor: return the entries after it."),
]
Last = Annotated[
    int | None,
    strawberry.argument(
        description="The most entries to return from the end of the list, instead of `first`."
    ),
]
Before = Annotated[
    str | None,
    strawberry.argument(description="A cursor: return the entries before it; needs `last`."),
]
LIST_MAX = 200
LONG_PAGE_DEFAULT = 100


def resolver(description: str) -> Callable[[Callable[..., Any]], StrawberryField]:
    """Return a decorator that makes a resolver a described field of the schema."""

    def decorate(resolver: Callable[..., Any]) -> StrawberryField:
        field: StrawberryField = strawberry.field(resolver=resolver, description=description)
        return field

    return decorate


def page_length(first: int | None, default: int = PAGE_DEFAULT, limit: int = LIST_MAX) -> int:
    """Return the length of a page. Raises QueryError outside 0 to `limit`."""
    length = default if first is None else first
    require_between("first", length, 0, limit)
    return length


def node_not_found(kind: str, name: str) -> NotFoundError:
    """Return the error for a node that is missing or not visible to the key."""
    return NotFoundError(
        f"there is no {kind} {name[:200]!r}",
        hint="Check the spelling, find it with `search`, or use a key for its namespace.",
    )


async def property_of(info: Info, urn: str, key: str, kind: type[T]) -> T | None:
    """Return a property of a node, or None if it has none of that type."""
    value = (await info.context.nodes.load(urn) or {}).get(key)
    return value if isinstance(value, kind) else None


async def name_parts(info: Info, urns: list[str], *keys: str) -> list[tuple[str, ...]]:
    """Return the parts of the name of each node.

    The urn contains them, unless it is hashed; hashed urns are looked up together.
    """
    parts = [parse_urn(urn).parts for urn in urns]
    hashed = [urn for urn, parts_of_name in zip(urns, parts, strict=True) if not parts_of_name]
    if not hashed:
        return parts
    rows = {row["urn"]: row for row in await info.context.load_existing(hashed)}
    names = []
    for urn, parts_of_name in zip(urns, parts, strict=True):
        row = rows.get(urn, {})
        names.append(parts_of_name or tuple(str(row.get(key) or "") for key in keys))
    return names
