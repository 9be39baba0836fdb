"""Errors about explained statements, moved to the place in the caller's text."""

from __future__ import annotations

import pytest

from headwater.cypher.driver.explain import in_caller_text


@pytest.mark.parametrize(
    ("message", "moved"),
    [
        (
            "Invalid input 'X' (line 2, column 3 (offset: 10))\n\"X\"\n ^",
            "Invalid input 'X' (line 1, column 3 (offset: 2))\n\"X\"\n ^",
        ),
        # What the caller wrote stays as it is.
        (
            "\"'(line 2, column 3 (offset: 10))' AS x\"",
            "\"'(line 2, column 3 (offset: 10))' AS x\"",
        ),
        ("expected CYPHER, EXPLAIN, PROFILE or Query", "expected CYPHER, PROFILE or Query"),
        ("Expected parameter(s): n", "Expected parameter(s): n"),
    ],
)
def test_places_are_those_of_the_caller(message: str, moved: str) -> None:
    assert in_caller_text(message) == moved
