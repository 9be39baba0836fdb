"""A cached document is answered, and refused, as it was the first time."""

from __future__ import annotations

import asyncio
from typing import Any

import graphql
import pytest

from headwater.graphql import document_cache
from headwater.graphql.schema import create_schema

NAMED = 'query($is: Boolean!) { __type(name: "LineageNode") @include(if: $is) { name } }'
TRAVERSAL = (
    'query($depth: Int!) { lineage(urn: "x", depth: $depth) { nodes { urn kind } edges { '
    "source } } }"
)
REPEATS = "{ " + "owners { edges { cursor } } " * 200 + "}"


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the documents that are validated from now on."""
    found: list[str] = []

    def record(schema: Any, document: Any, *rules: Any, **options: Any) -> Any:
        found.append(document.loc.source.body)
        return graphql.validate(schema, document, *rules, **options)

    monkeypatch.setattr(document_cache, "validate", record)
    return found


def execute(schema: Any, query: str, **variables: Any) -> tuple[Any, list[str]]:
    result = asyncio.run(schema.execute(query, variable_values=variables))
    return result.data, [error.message for error in result.errors or ()]


def test_a_valid_document_is_validated_once_and_answered_by_its_variables(
    validated: list[str],
) -> None:
    schema = create_schema()
    found = {"__type": {"name": "LineageNode"}}
    assert [execute(schema, NAMED, **{"is": it}) for it in (True, False, True)] == [
        (found, []),
        ({}, []),
        (found, []),
    ]
    assert validated == [NAMED]
    # A variable that is missing is missing the second time too.
    assert "to be provided" in execute(schema, NAMED)[1][0]


def test_an_invalid_document_is_refused_every_time(validated: list[str]) -> None:
    schema = create_schema()
    first, second = (execute(schema, "{ nothing }") for _ in range(2))
    assert first == second
    assert "nothing" in first[1][0]
    assert len(validated) == 1


def test_a_document_of_many_misspelt_fields_has_its_first_errors() -> None:
    fields = " ".join(f"dataset{number}s" for number in range(1_000))
    messages = execute(create_schema(), f"{{ {fields} }}")[1]
    assert len(messages) == document_cache.ERRORS_MAX + 1
    assert "Did you mean" in messages[0]
    assert "limit reached" in messages[-1]


def test_a_cached_document_is_refused_when_its_variables_make_it_too_costly() -> None:
    schema = create_schema(cost_max=100)
    # The schema has no database here, so an accepted query fails when it is resolved.
    for _ in range(2):
        assert "may hold" not in execute(schema, TRAVERSAL, depth=1)[1][0]
        assert "the limit is 100" in execute(schema, TRAVERSAL, depth=50)[1][0]


def test_a_document_over_a_limit_is_never_validated(validated: list[str]) -> None:
    schema = create_schema()
    for _ in range(2):
        assert "repeats fields" in execute(schema, REPEATS)[1][0]
    assert validated == []


def test_a_long_document_is_not_cached(
    validated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_cache, "CACHED_CHARACTERS_MAX", len(NAMED) - 1)
    schema = create_schema()
    for _ in range(2):
        assert execute(schema, NAMED, **{"is": False}) == ({}, [])
    assert validated == [NAMED, NAMED]
