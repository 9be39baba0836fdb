"""docs/reference/schema.graphql is up to date, and each computed field has a description."""

from __future__ import annotations

from pathlib import Path

from graphql import GraphQLObjectType, build_schema

from headwater.graphql.schema import sdl

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
