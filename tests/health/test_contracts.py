"""Cursors of contracts; tests/graphql/queries/test_contracts.py has the answers."""

from __future__ import annotations

import pytest

from headwater.errors import QueryError
from headwater.health.contracts import _cursor, _position


def test_cursors() -> None:
    assert _position(_cursor("dataset:db:a", "orders", 3)) == ("dataset:db:a", "orders", 3)
    assert _position("") == ("", "", -1)
    for text in ("x", "[]", '["a", "b"]', '["a", 1, 2]', '["a", "b", "c"]', "{}", "\ud800"):
        with pytest.raises(QueryError):
            _position(text)
