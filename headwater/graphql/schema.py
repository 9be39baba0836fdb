"""The GraphQL schema with its extensions; `sdl()` is the content of docs/reference/schema.graphql.

`headwater.graphql.query_limits` bounds a query before it runs; `headwater.lineage` bounds each
traversal.
"""

from __future__ import annotations

from collections.abc import Callable

import strawberry
from graphql import (
    DirectiveLocation,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLSchema,
    introspection_types,
)
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig

from headwater.graphql.authorization import RequireWebSocket, authorize_fields
from headwater.graphql.descriptions import add_descriptions
from headwater.graphql.document_cache import DocumentParserCache, DocumentValidation
from headwater.graphql.errors import ErrorCodes
from headwater.graphql.introspection import Introspection
from headwater.graphql.mutations import Mutation
from headwater.graphql.queries.query import Query
from headwater.graphql.query_limits import COST_MAX, query_limits
from headwater.graphql.subscriptions import Subscription
from headwater.graphql.types.scalars import SCALARS

_QUERY = authorize_fields(Query)
_MUTATION = authorize_fields(Mutation)
_SUBSCRIPTION = authorize_fields(Subscription)


class Schema(strawberry.Schema):
    """A schema that leaves the logging of errors to `headwater.graphql.errors`."""

    def process_errors(self, errors: object, execution_context: object = None) -> None:
        """Skip strawberry's log of errors: `ErrorCodes` logs each unexpected error once."""


def create_schema(cost_max: int = COST_MAX) -> Schema:
    """Return the schema; it refuses a query whose answer may hold over `cost_max` values."""
    # The order matters: documents are refused before they are validated.
    extensions: list[type[SchemaExtension] | Callable[[], SchemaExtension]] = [
        query_limits(cost_max),
        RequireWebSocket,
        Introspection,
        DocumentParserCache,
        DocumentValidation,
        ErrorCodes,
    ]
    schema = Schema(
        query=_QUERY,
        mutation=_MUTATION,
        subscription=_SUBSCRIPTION,
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=False),
        extensions=extensions,
    )
    _hide_directive_definitions(schema._schema)
    add_descriptions(schema._schema)
    return schema


def _hide_directive_definitions(schema: GraphQLSchema) -> None:
    """Remove the location DIRECTIVE_DEFINITION from the introspection of a schema.

    graphql-core adds it to `@deprecated`, as the draft of the specification does. graphql-codegen
    with graphql-js before 16.14 fails on a location that it does not have.
    """
    schema.directives = tuple(map(_without_directive_definitions, schema.directives))
    name = "__DirectiveLocation"
    original = introspection_types[name]
    assert isinstance(original, GraphQLEnumType)
    values = {
        key: value
        for key, value in original.values.items()
        if key != DirectiveLocation.DIRECTIVE_DEFINITION.name
    }
    # The constructor refuses names that begin with two underscores.
    locations = GraphQLEnumType("Locations", values, description=original.description)
    locations.name = name
    schema.type_map[name] = locations


def _without_directive_definitions(directive: GraphQLDirective) -> GraphQLDirective:
    settings = directive.to_kwargs()
    settings["locations"] = tuple(
        location
        for location in directive.locations
        if location is not DirectiveLocation.DIRECTIVE_DEFINITION
    )
    return GraphQLDirective(**settings)


def sdl() -> str:
    """Return the schema as text."""
    return create_schema().as_str() + "\n"
