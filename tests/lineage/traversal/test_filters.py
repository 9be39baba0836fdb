"""Filters of nodes by their own properties."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.lineage.traversal.filters import Filter


def row(*tags: str) -> dict[str, Any]:
    return {
        "urn": "dataset:db:a",
        "namespace": "db",
        "tags": list(tags),
        "owners": [],
        "field": None,
        "type": None,
        "first": None,
        "last": None,
    }


@pytest.mark.parametrize(
    ("requested", "tags", "passes"),
    [
        ("certified", ("certified",), True),
        ("certified=true", ("certified",), True),
        ("certified=false", ("certified",), False),
        ("tier", ("tier=gold",), True),
        ("tier=gold", ("tier=gold",), True),
        ("tier=true", ("tier=gold",), False),
        ("tier=gold", ("tier",), False),
        ("tier", ("tiers=gold",), False),
        ("tier", (), False),
    ],
)
def test_a_tag_with_or_without_its_value(
    requested: str, tags: tuple[str, ...], passes: bool
) -> None:
    assert Filter(tags=(requested,)).admits(row(*tags)) is passes
