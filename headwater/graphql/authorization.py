"""Judges every root field by its rule, once per request, before it is resolved (`headwater.access.rules`), and whether
it came the way that it should."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import anyio.to_thread
from graphql import GraphQLError
from strawberry.extensions import FieldExtension, SchemaExtension
from strawberry.types import get_object_definition
from strawberry.types.graphql import OperationType

from headwater.access.rules import rule_of_field
from headwater.errors import ForbiddenError
from headwater.graphql.context import Info

T = TypeVar("T", bound=type)


class Judged(FieldExtension):
    """The field it stands on is resolved for those only whose key has its scope."""

    async def resolve_async(
        self, next_: Callable[..., Any], source: Any, info: Info, **arguments: Any
    ) -> Any:
        field = f"{info.path.typename}.{info.field_name}"
        try:
            info.context.principal.require(rule_of_field(field))
        except ForbiddenError as error:
            await anyio.to_thread.run_sync(info.context.refused, field, error.message)
            raise
        found = next_(source, info, **arguments)
        # A subscription is no answer to wait for, but a stream of them.
        return await found if isinstance(found, Awaitable) else found


class Subscribed(SchemaExtension):
    """Refuses a subscription that does not come over a socket: it would be resolved once, to nothing."""

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        if context.operation_type is OperationType.SUBSCRIPTION and context.context.told is None:
            said = {"code": "BAD_REQUEST", "hint": "docs/reference/graphql.md tells how."}
            context.pre_execution_errors = [
                GraphQLError("subscriptions go over WebSocket", extensions=said)
            ]
        yield


def judged(root: T) -> T:
    """A root type, every field of it behind its rule."""
    for field in get_object_definition(root, strict=True).fields:
        field.extensions.append(Judged())
    return root
