"""Plans and urns for people."""

from __future__ import annotations

import pytest

from headwater.cli import render


@pytest.mark.parametrize(
    ("urn", "shown"),
    [
        ("dataset:db:orders", "db  orders"),
        ("dataset:s3%3A//lake:raw/orders", "s3://lake  raw/orders"),
        ("run:load-1", "load-1"),
    ],
)
def test_urns_are_shown_without_their_encoding(urn: str, shown: str) -> None:
    assert render.plain_urn(urn) == shown
