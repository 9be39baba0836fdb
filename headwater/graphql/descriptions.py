"""Descriptions of the fields and arguments whose names say nearly everything.

They stand in `descriptions.toml`, once for each name. A description at the definition of a field
counts before them.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from graphql import GraphQLInputObjectType, GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema

_EDGE = "An entry of a list, with its cursor."
_WITH_FIELDS = (GraphQLObjectType, GraphQLInterfaceType, GraphQLInputObjectType)


def add_descriptions(schema: GraphQLSchema) -> None:
    """Describe the fields, arguments and edges of a schema that have no description."""
    texts = tomllib.loads(
        files("headwater.graphql").joinpath("descriptions.toml").read_text(encoding="utf-8")
    )
    for name, kind in schema.type_map.items():
        if name.startswith("__") or not isinstance(kind, _WITH_FIELDS):
            continue
        if name.endswith("Edge") and not kind.description:
            kind.description = _EDGE
        for field_name, field in kind.fields.items():
            _describe(field, f"{name}.{field_name}", texts)
            for argument_name, argument in getattr(field, "args", {}).items():
                _describe(argument, f"{name}.{field_name}.{argument_name}", texts)


def _describe(element: Any, place: str, texts: dict[str, dict[str, str]]) -> None:
    if not element.description:
        name = place.rpartition(".")[2]
        element.description = texts["places"].get(place) or texts["names"].get(name)
