"""Limits of callers, kept by name."""

from __future__ import annotations

import pytest

from headwater.access.limit_store import Limits, LimitStore
from headwater.access.store import AccessStore
from headwater.errors import NotFoundError, QueryError


def test_limits_are_kept_by_name(store: AccessStore) -> None:
    stored = LimitStore(store)
    assert stored.find("ann") is None
    stored.set("ann", Limits(5, 100, 2))
    stored.set("ann", Limits(6, 100, 2))
    stored.set("bob", Limits(concurrency=1))
    assert stored.find("ann") == Limits(6.0, 100.0, 2)
    assert list(stored.list()) == ["ann", "bob"]
    stored.remove("ann")
    assert stored.find("ann") is None
    with pytest.raises(NotFoundError, match="'ann' has no limits"):
        stored.remove("ann")
    with pytest.raises(QueryError, match="the limit -1 must"):
        stored.set("ann", Limits(requests=-1))
