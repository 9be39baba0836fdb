"""The length of a page is bounded, and a missing node has a clear error."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.graphql.types.fields import node_not_found, page_length


def test_the_length_of_a_page() -> None:
    assert [page_length(first) for first in (None, 0, 7, 200)] == [20, 0, 7, 200]
    assert page_length(None, default=100) == 100
    assert page_length(500, limit=500) == 500
    for first in (-1, 201):
        with pytest.raises(QueryError, match=f"first {first} is not between 0 and 200"):
            page_length(first)


def test_a_missing_node() -> None:
    error = node_not_found("run", "x" * 1_000)
    assert error.message == f"there is no run {'x' * 200!r}"
    assert error.hint
