"""docs/reference/schema.graphql is up to date, and each computed field has a description."""

from __future__ import annotations

import json
from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLObjectType,
    GraphQLScalarType,
    build_schema,
    get_introspection_query,
    graphql_sync,
    is_introspection_type,
    is_specified_scalar_type,
)

from headwater.graphql.schema import create_schema, sdl

SDL = Path(__file__).parents[2] / "docs" / "reference" / "schema.graphql"


def test_the_printed_schema_is_up_to_date() -> None:
    assert SDL.read_text(encoding="utf-8") == sdl(), (
        "write headwater.graphql.schema.sdl() to docs/reference/schema.graphql"
    )


def test_every_question_is_described() -> None:
    schema = build_schema(sdl())
    for name in ("Query", "Mutation", "Subscription"):
        root = schema.type_map[name]
        assert isinstance(root, GraphQLObjectType)
        assert [field for field, value in root.fields.items() if not value.description] == []


def test_scalars_and_enums_are_described() -> None:
    types = [
        one for one in create_schema()._schema.type_map.values() if not is_introspection_type(one)
    ]
    scalars = [one for one in types if isinstance(one, GraphQLScalarType)]
    custom = [one for one in scalars if not is_specified_scalar_type(one)]
    assert {one.name for one in custom} == {"DateTime", "JSON", "Long"}
    for scalar in custom:
        assert scalar.description
        assert (scalar.specified_by_url or "").startswith("https://")
    for enum in types:
        if isinstance(enum, GraphQLEnumType):
            assert enum.description
            assert [name for name, value in enum.values.items() if not value.description] == []


def test_introspection_has_no_location_that_older_clients_refuse() -> None:
    """graphql-js before 16.14 fails on DIRECTIVE_DEFINITION."""
    query = get_introspection_query(specified_by_url=True, input_value_deprecation=True)
    found = graphql_sync(create_schema()._schema, query)
    assert found.errors is None
    assert found.data is not None
    assert "DIRECTIVE_DEFINITION" not in json.dumps(found.data)
    deprecated = next(
        one for one in found.data["__schema"]["directives"] if one["name"] == "deprecated"
    )
    assert "FIELD_DEFINITION" in deprecated["locations"]
    locations = next(
        one for one in found.data["__schema"]["types"] if one["name"] == "__DirectiveLocation"
    )
    assert len(locations["enumValues"]) > 15


def test_the_node_interface_is_that_of_relay() -> None:
    schema = build_schema(sdl())
    node = schema.type_map["Node"]
    assert {name: str(field.type) for name, field in node.fields.items()} == {"id": "ID!"}  # type: ignore[attr-defined]
    field = schema.query_type.fields["node"]  # type: ignore[union-attr]
    assert (str(field.type), str(field.args["id"].type)) == ("Node", "ID!")
