"""Compare the GraphQL schema with the released one: a change that breaks clients must be listed
with its reason.

`docs/reference/schema.released.graphql` is kept in the repository, so that a clone without history
or tags can compare too.
"""

from __future__ import annotations

import re

import pytest
from graphql import build_schema, find_breaking_changes

from headwater.graphql.schema import sdl
from tests.repo.repository import text

RELEASED = "docs/reference/schema.released.graphql"
REASONS = "docs/reference/schema.breaking.md"


def breaking(old: str, new: str) -> set[str]:
    return {
        change.description for change in find_breaking_changes(build_schema(old), build_schema(new))
    }


def reasons(page: str) -> dict[str, str]:
    """Return the entries of the page: the change in backquotes, then its reason on one or more
    lines.
    """
    entries = re.findall(r"^- `([^`]+)`(.*(?:\n  .*)*)", page, re.MULTILINE)
    return {change: reason.strip() for change, reason in entries}


def test_each_breaking_change_is_listed_with_a_reason() -> None:
    changes, listed = breaking(text(RELEASED), sdl()), reasons(text(REASONS))
    assert changes - listed.keys() == set(), f"undo the change, or give its reason in {REASONS}"
    assert listed.keys() - changes == set(), f"{REASONS} lists changes that break nothing"
    assert [change for change, reason in listed.items() if len(reason) < 20] == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("type Query { run(runId: ID!): Int }", "type Query { ran: Int }", "run was removed"),
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
def test_breaking_changes_are_found(old: str, new: str, change: str) -> None:
    assert [found for found in breaking(old, new) if change in found]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("type Query { a: Int }", "type Query { a: Int b: Int }"),
        ("type Query { a: Int }", "type Query { a(first: Int = 5): Int! }"),
    ],
)
def test_compatible_changes_are_allowed(old: str, new: str) -> None:
    assert breaking(old, new) == set()
