"""A document that was answered before is answered, and refused, as it was the first time."""

from __future__ import annotations

import asyncio
from typing import Any

import graphql
import pytest
import strawberry.schema.schema
from graphql import parse

from headwater.graphql.document_cache import Documents
from headwater.graphql.schema import make_schema

NAMED = 'query($is: Boolean!) { __type(name: "Node") @include(if: $is) { name } }'
WALK = 'query($depth: Int!) { lineage(urn: "x", depth: $depth) { nodes { urn kind } edges { source } } }'


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The documents that are validated from now on."""
    found: list[str] = []

    def noted(schema: Any, document: Any, *rules: Any) -> Any:
        found.append(document.loc.source.body)
        return graphql.validate(schema, document, *rules)

    monkeypatch.setattr(strawberry.schema.schema, "validate", noted)
    return found


def asked(schema: Any, query: str, **variables: Any) -> tuple[Any, list[str]]:
    result = asyncio.run(schema.execute(query, variable_values=variables))
    return result.data, [error.message for error in result.errors or ()]


def test_what_was_valid_is_validated_once_and_answered_by_its_variables(
    validated: list[str],
) -> None:
    schema = make_schema()
    told = {"__type": {"name": "Node"}}
    assert [asked(schema, NAMED, **{"is": it}) for it in (True, False, True)] == [
        (told, []),
        ({}, []),
        (told, []),
    ]
    assert validated == [NAMED]
    # A variable that is missing is missing the second time too.
    assert "to be provided" in asked(schema, NAMED)[1][0]


def test_what_was_not_valid_is_refused_every_time(validated: list[str]) -> None:
    schema = make_schema()
    first, again = (asked(schema, "{ nothing }") for _ in range(2))
    assert first == again
    assert "nothing" in first[1][0]
    assert len(validated) == 2


def test_what_is_known_is_still_refused_when_its_variables_make_it_too_large() -> None:
    schema = make_schema(cost_max=100)
    # Nobody serves it a database, so what may be asked fails only when it is resolved.
    for _ in range(2):
        assert "may hold" not in asked(schema, WALK, depth=1)[1][0]
        assert "100 are allowed" in asked(schema, WALK, depth=50)[1][0]


def test_the_longest_unused_goes_when_there_is_too_much() -> None:
    documents, document = Documents(30), parse("{ a }")
    texts = [letter * 10 for letter in "abcd"]
    for text in texts[:3]:
        documents.put(text, document)
    assert documents.known(texts[0]) is document
    documents.put(texts[3], document)
    assert [documents.known(text) is document for text in texts] == [True, False, True, True]
    # One that is longer than all may be drives nothing out.
    documents.put("e" * 31, document)
    documents.put(texts[0], document)
    assert [documents.known(text) is document for text in [*texts, "e" * 31]] == [
        True,
        False,
        True,
        True,
        False,
    ]
