"""Every type, field and argument of the schema has a description, and none is kept for nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from headwater.graphql.schema import create_schema

TYPES: dict[str, Any] = create_schema()._schema.type_map
ROOTS = {"Query", "Mutation", "Subscription"}


def elements() -> Iterator[tuple[str, Any]]:
    """Yield every type, field, argument and value with its place."""
    for name, kind in TYPES.items():
        if name.startswith("__"):
            continue
        if name not in ROOTS:
            yield name, kind
        for value, one in getattr(kind, "values", {}).items():
            yield f"{name}.{value}", one
        for field_name, field in getattr(kind, "fields", {}).items():
            yield f"{name}.{field_name}", field
            for argument, one in getattr(field, "args", {}).items():
                yield f"{name}.{field_name}.{argument}", one


def test_everything_is_described() -> None:
    assert [place for place, element in elements() if not element.description] == []


def test_a_description_at_the_definition_counts_first() -> None:
    assert TYPES["Job"].fields["runs"].description != "The runs."
    lineage = TYPES["Query"].fields["lineage"]
    assert lineage.args["job"].description == "The start: a job by namespace and name."


def test_no_description_is_left_over() -> None:
    text = files("headwater.graphql").joinpath("descriptions.toml").read_text(encoding="utf-8")
    kept, used = tomllib.loads(text), {element.description for _, element in elements()}
    assert {**kept["names"], **kept["places"]}.keys() == {
        name for part in kept.values() for name, text in part.items() if text in used
    }
    places = {place for place, _ in elements()}
    assert kept["places"].keys() - places == set()
