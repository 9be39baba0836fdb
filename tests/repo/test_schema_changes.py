"""A change of the GraphQL schema that could break a client of the last release is meant, and told.

`docs/reference/schema.released.graphql` is kept in the repository, so that a clone without history or tags can compare too.
"""

from __future__ import annotations

import re

import pytest
from graphql import build_schema, find_breaking_changes

from headwater.graphql.schema import sdl
from tests.repo.repository import text

RELEASED = "docs/reference/schema.released.graphql"
TOLD = "docs/reference/schema.breaking.md"


def breaking(old: str, new: str) -> set[str]:
    return {
        change.description for change in find_breaking_changes(build_schema(old), build_schema(new))
    }


def reasons(page: str) -> dict[str, str]:
    """What the page tells of: - `what breaks` why, over as many lines as it takes."""
    found = re.findall(r"^- `([^`]+)`(.*(?:\n  .*)*)", page, re.MULTILINE)
    return {what: why.strip() for what, why in found}


def test_what_breaks_clients_is_told_with_a_reason() -> None:
    found, told = breaking(text(RELEASED), sdl()), reasons(text(TOLD))
    assert found - told.keys() == set(), f"hint it, or tell in {TOLD} why it has to be"
    assert told.keys() - found == set(), f"{TOLD} tells of what breaks nothing"
    assert [what for what, why in told.items() if len(why) < 20] == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("type Query { run(runId: String!): Int }", "type Query { ran: Int }", "run was removed"),
        (
            "type Query { search: [Int] }",
            "type Query { search: String }",
            "search changed type",
        ),
        (
            "type Query { a: Int }",
            "type Query { a(first: Int!): Int }",
            "Query.a(first:) was added",
        ),
        ("type Query { a: E } enum E { X Y }", "type Query { a: E } enum E { X }", "Y was removed"),
    ],
)
def test_what_breaks_is_found(old: str, new: str, what: str) -> None:
    assert [change for change in breaking(old, new) if what in change]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("type Query { a: Int }", "type Query { a: Int b: Int }"),
        ("type Query { a: Int }", "type Query { a(first: Int = 5): Int! }"),
    ],
)
def test_what_breaks_nothing_may_be_done(old: str, new: str) -> None:
    assert breaking(old, new) == set()
