"""Requests are checked for JSON and for their shape."""

from __future__ import annotations

import pytest

from headwater.graphql.transport.requests import find_problem, parse_json


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"nonsense", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b'{"query": "\\ud800"}', "the body contains a lone surrogate"),
    ],
)
def test_bad_json_is_refused(body: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_json(body)


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ([], "the body must be a JSON object with a query"),
        ({"query": 5}, "`query` must be text or null"),
        ({"query": "{ a }", "variables": []}, "`variables` must be a JSON object or null"),
        ({"query": "{ a }", "operationName": {}}, "`operationName` must be text or null"),
        ({"documentId": 1}, "`documentId` must be text or null"),
        ({"query": "{ a }", "extensions": "x"}, "`extensions` must be a JSON object or null"),
        ({"query": "{ a }", "variables": None, "operationName": "a"}, ""),
        ({}, ""),
    ],
)
def test_the_shape_of_a_request_is_checked(request_: object, problem: str) -> None:
    assert find_problem(request_) == problem
