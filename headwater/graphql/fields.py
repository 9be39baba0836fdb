"""How fields are resolved: the decorator for what is computed, and lookups that read a node only when they must.

Every computed field says what it is, and keeps its type for the checker. The name of a node is spelled by its urn;
its other properties are read, batched with those of all other nodes asked for in the same turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import strawberry
from strawberry.types.field import StrawberryField

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.schema.urns import parse_urn

T = TypeVar("T")
LIST_MAX = 200


def resolved(description: str) -> Callable[[Callable[..., Any]], StrawberryField]:
    """A field of the schema that this resolver computes."""

    def decorate(resolver: Callable[..., Any]) -> StrawberryField:
        field: StrawberryField = strawberry.field(resolver=resolver, description=description)
        return field

    return decorate


def checked_first(first: int) -> int:
    """The length of a list that a client asks for. Raises QueryError outside the bounds."""
    if not 0 <= first <= LIST_MAX:
        raise QueryError(f"first {first} is not between 0 and {LIST_MAX}")
    return first


async def property_of(info: Info, urn: str, key: str, kind: type[T]) -> T | None:
    """A property of a node; None when it has none of that kind."""
    value = (await info.context.nodes.load(urn) or {}).get(key)
    return value if isinstance(value, kind) else None


async def spelled(info: Info, urn: str, part: int, key: str) -> str:
    """A part of a name, from the urn; only a hashed urn has to be looked up."""
    parts = parse_urn(urn).parts
    return parts[part] if parts else await property_of(info, urn, key, str) or ""
