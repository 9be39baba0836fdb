"""Principals and their scopes."""

from __future__ import annotations

import pytest

from headwater.access.principal import ANONYMOUS, UNAUTHENTICATED, Principal, Scope
from headwater.errors import ForbiddenError
from headwater.schema.visibility import Visibility


def test_admin_includes_every_scope() -> None:
    for scope in Scope:
        ANONYMOUS.require(scope)


def test_a_missing_scope_is_refused_by_name() -> None:
    reader = Principal("ci", frozenset({Scope.READ}))
    assert reader.has_scope(Scope.READ)
    with pytest.raises(ForbiddenError, match="scope ingest; 'ci' has read"):
        reader.require(Scope.INGEST)
    with pytest.raises(ForbiddenError, match="has none"):
        UNAUTHENTICATED.require(Scope.READ)


def test_what_counts_everything_needs_every_namespace() -> None:
    Principal("all", frozenset({Scope.READ})).require_every_namespace("/metrics")
    some = Principal("some", frozenset({Scope.READ}), Visibility(("db",)))
    with pytest.raises(ForbiddenError, match="/metrics counts the events"):
        some.require_every_namespace("/metrics")
