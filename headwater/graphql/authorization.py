"""Authorization of root fields: each needs the scope that `headwater.access.rules` gives it."""

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


class RequireScope(FieldExtension):
    """An extension of a root field: only keys with the scope of the field resolve it."""

    async def resolve_async(
        self, next_: Callable[..., Any], source: Any, info: Info, **arguments: Any
    ) -> Any:
        """Resolve the field, or raise ForbiddenError and report the refusal."""
        field = f"{info.path.typename}.{info.field_name}"
        try:
            info.context.principal.require(rule_of_field(field))
        except ForbiddenError as error:
            await anyio.to_thread.run_sync(info.context.on_refusal, field, error.message)
            raise
        result = next_(source, info, **arguments)
        # A subscription returns a stream, which is not awaited.
        return await result if isinstance(result, Awaitable) else result


class RequireWebSocket(SchemaExtension):
    """An extension that refuses subscriptions over HTTP, which would resolve once, to nothing."""

    def on_validate(self) -> Iterator[None]:
        """Refuse the operation before it is validated."""
        context = self.execution_context
        is_subscription = context.operation_type is OperationType.SUBSCRIPTION
        if is_subscription and context.context.subscription is None:
            hint = "Connect by WebSocket as docs/reference/graphql.md shows."
            error = GraphQLError(
                "subscriptions need a WebSocket connection",
                extensions={"code": "BAD_REQUEST", "hint": hint},
            )
            context.pre_execution_errors = [error]
        yield


def authorize_fields(root: T) -> T:
    """Add `RequireScope` to every field of a root type and return that type."""
    for field in get_object_definition(root, strict=True).fields:
        field.extensions.append(RequireScope())
    return root
