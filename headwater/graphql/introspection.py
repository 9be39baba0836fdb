"""Questions about the schema: bounded, executed in a thread, and executed once for all who ask.

graphql-core executes such a question without a pause, so on the event loop it would delay all other
operations. Its answer depends only on the document, the variables and the name of the operation:
no part of the schema is hidden from any caller. A document that also selects data is refused,
because its other fields need the event loop.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    MiddlewareManager,
    OperationDefinitionNode,
    execute_sync,
)
from strawberry.extensions import SchemaExtension

from headwater.access.bounded_threads import BoundedThreads
from headwater.errors import UnavailableError

# The question of GraphiQL, of Apollo and of graphql-codegen selects some 20,000 values.
VALUES_MAX = 50_000
# An answer takes some 5 MB of memory. Most clients send one of a few documents.
ANSWERS_MAX = 4
SCHEMA_FIELDS = frozenset({"__schema", "__type"})
_threads = BoundedThreads("questions about the schema", 1)


class Introspection(SchemaExtension):
    """An extension that answers questions about the schema; it must follow the limits."""

    def on_validate(self) -> Iterator[None]:
        """Refuse a document that asks for the schema and for data."""
        context = self.execution_context
        document = context.graphql_document
        if (
            document is not None
            and context.pre_execution_errors is None
            and _selects_schema(document)
            and not _selects_schema_only(document)
        ):
            hint = "Select `__schema` and `__type` at the root of a document of their own."
            error = GraphQLError(
                "the document selects both the schema and data",
                extensions={"code": "BAD_REQUEST", "hint": hint},
            )
            context.pre_execution_errors = [error]
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        """Answer a question about the schema; strawberry then executes nothing."""
        context = self.execution_context
        document, caller = context.graphql_document, context.context
        if document is not None and _selects_schema(document):
            try:
                found = await _threads.run(
                    _answer,
                    context.schema._schema,
                    document,
                    json.dumps(context.variables or {}, sort_keys=True, default=str),
                    context.operation_name,
                    caller=caller.principal.name if caller is not None else "",
                )
            except UnavailableError as error:
                # An error that leaves this hook would get no code.
                found = ExecutionResult(None, [GraphQLError(error.message, original_error=error)])
            context.result = ExecutionResult(found.data, found.errors)
        yield


def _selects_schema(document: DocumentNode) -> bool:
    """Return True if any part of a document selects `__schema` or `__type`."""
    pending: list[Any] = list(document.definitions)
    while pending:
        node = pending.pop()
        if isinstance(node, FieldNode) and node.name.value in SCHEMA_FIELDS:
            return True
        if (selected := getattr(node, "selection_set", None)) is not None:
            pending += selected.selections
    return False


def _selects_schema_only(document: DocumentNode) -> bool:
    """Return True if each operation selects only fields about the schema at its root."""
    return all(
        isinstance(field, FieldNode) and field.name.value in {*SCHEMA_FIELDS, "__typename"}
        for operation in document.definitions
        if isinstance(operation, OperationDefinitionNode)
        for field in operation.selection_set.selections
    )


@lru_cache(ANSWERS_MAX)
def _answer(
    schema: GraphQLSchema, document: DocumentNode, variables: str, operation_name: str | None
) -> ExecutionResult:
    """Return the answer to a question about the schema, or an error if it is too large."""
    count = 0

    def resolve_counted(resolve: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count > VALUES_MAX:
            raise GraphQLError("too many values")
        return resolve(*arguments, **named)

    result = execute_sync(
        schema,
        document,
        variable_values=json.loads(variables),
        operation_name=operation_name,
        middleware=MiddlewareManager(resolve_counted),
    )
    if count <= VALUES_MAX:
        return result
    extensions = {
        "code": "TOO_COSTLY",
        "limit": VALUES_MAX,
        "hint": "Select fewer fields of the schema.",
    }
    message = f"the answer about the schema holds over {VALUES_MAX} values"
    return ExecutionResult(None, [GraphQLError(message, extensions=extensions)])
