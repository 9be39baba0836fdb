"""Versions of contracts that an import need not send."""

from __future__ import annotations

from headwater.cli.known_contracts import KnownContracts


def test_an_import_that_sends_nothing_knows_nothing() -> None:
    assert KnownContracts(None).versions_of("orders", "db", "orders") == set()
