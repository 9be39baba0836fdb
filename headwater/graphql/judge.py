"""Judges every root field by its rule, once per request, before it is resolved (`headwater.access.rules`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio.to_thread
from strawberry.extensions import FieldExtension
from strawberry.types import get_object_definition

from headwater.access.rules import rule_of_field
from headwater.errors import ForbiddenError
from headwater.graphql.context import Info

T = TypeVar("T", bound=type)


class Judged(FieldExtension):
    """The field it stands on is resolved for those only whose key has its scope."""

    async def resolve_async(
        self, next_: Callable[..., Awaitable[Any]], source: Any, info: Info, **arguments: Any
    ) -> Any:
        field = f"{info.path.typename}.{info.field_name}"
        try:
            info.context.principal.require(rule_of_field(field))
        except ForbiddenError as error:
            await anyio.to_thread.run_sync(info.context.refused, field, error.message)
            raise
        return await next_(source, info, **arguments)


def judged(root: T) -> T:
    """A root type, every field of it behind its rule."""
    for field in get_object_definition(root, strict=True).fields:
        field.extensions.append(Judged())
    return root
