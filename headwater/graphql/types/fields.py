"""How fields are resolved: the decorator for what is computed, and lookups that read a node only when they must.

Every computed field says what it is, and keeps its type for the checker. The name of a node is spelled by its urn;
its other properties are read, batched with those of all other nodes asked for in the same turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import strawberry
from strawberry.types.field import StrawberryField

from headwater.errors import QueryError
from headwater.graphql.context import Info
from headwater.schema.urns import parse_urn

T = TypeVar("T")
First = Annotated[int, strawberry.argument(description="At most this many.")]
After = Annotated[str | None, strawberry.argument(description="The cursor of the last one seen.")]
LIST_MAX = 200


def resolver(description: str) -> Callable[[Callable[..., Any]], StrawberryField]:
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


async def spelled(info: Info, urns: list[str], *keys: str) -> list[tuple[str, ...]]:
    """The parts of the name of each node, from its urn; only hashed urns have to be looked up, all at once."""
    parts = [parse_urn(urn).parts for urn in urns]
    hashed = [urn for urn, spelled_out in zip(urns, parts, strict=True) if not spelled_out]
    if not hashed:
        return parts
    rows = {row["urn"]: row for row in await info.context.load_existing(hashed)}
    return [
        spelled_out or tuple(str(rows.get(urn, {}).get(key) or "") for key in keys)
        for urn, spelled_out in zip(urns, parts, strict=True)
    ]
