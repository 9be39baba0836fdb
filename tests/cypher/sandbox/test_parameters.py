"""Parameters of queries: text and JSON by their declared types."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.cypher.query_catalog import Parameter, Query
from headwater.cypher.sandbox.parameters import json_or_text, parse_parameters
from headwater.errors import QueryError


def query_with(*parameters: Parameter) -> Query:
    return Query("audit/x", "A query.", "read", parameters, "n", "headwater cypher x", "RETURN 1")


def parsed(type: str, given: Any) -> Any:
    return parse_parameters(query_with(Parameter("p", type, None, True)), {"p": given})["p"]


@pytest.mark.parametrize(
    ("type", "given", "expected"),
    [
        ("STRING", "7", "7"),
        ("INTEGER", "7", 7),
        ("INTEGER", 7, 7),
        ("FLOAT", "0.5", 0.5),
        ("BOOLEAN", "True", True),
        ("BOOLEAN", False, False),
        ("DATETIME", "2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("MAP", '{"a": 1}', {"a": 1}),
        ("LIST<STRING>", "a, b,", ["a", "b"]),
        ("LIST<STRING>", ["a,b"], ["a,b"]),
        ("LIST<MAP>", [{"a": 1}], [{"a": 1}]),
    ],
)
def test_value_is_parsed_by_its_type(type: str, given: Any, expected: Any) -> None:
    assert parsed(type, given) == expected


@pytest.mark.parametrize(
    ("type", "given"),
    [
        ("INTEGER", "seven"),
        ("INTEGER", str(2**63)),
        ("BOOLEAN", "yes"),
        ("DATETIME", "yesterday"),
        ("MAP", "[1]"),
        ("LIST<STRING>", "[1]"),
        ("LIST<MAP>", "{}"),
    ],
)
def test_value_of_another_type_is_refused(type: str, given: str) -> None:
    with pytest.raises(QueryError, match=r"^p .* is not "):
        parsed(type, given)


def test_missing_and_unknown_parameters() -> None:
    query = query_with(
        Parameter("name", "STRING", None, True), Parameter("limit", "INTEGER", 20, False)
    )
    assert parse_parameters(query, {"name": "a"}) == {"name": "a", "limit": 20}
    assert parse_parameters(query, {"name": "a", "limit": None}) == {"name": "a", "limit": 20}
    with pytest.raises(QueryError, match="needs the parameter name") as refusal:
        parse_parameters(query, {})
    assert "name STRING, limit INTEGER" in refusal.value.hint
    with pytest.raises(QueryError, match="has no parameter other"):
        parse_parameters(query, {"name": "a", "other": "b"})


def test_argument_of_the_command_line_is_json_or_text() -> None:
    assert [json_or_text(text) for text in ("7", "[1]", "seven")] == [7, [1], "seven"]
    for text in ("[" * 3_000, "9" * 5_000):
        assert json_or_text(text) == text
