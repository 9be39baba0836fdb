"""Statements over rows, and facts as rows bring them."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from headwater.cypher.database import Row, Transaction

F = TypeVar("F", bound=msgspec.Struct)


def run_rows(transaction: Transaction, name: str, rows: list[Any]) -> list[Row]:
    """Run a statement over some rows, and not at all over none."""
    return transaction.run(name, rows=rows) if rows else []


def facts_in(text: str, type: type[F]) -> F:
    """The facts that a row brings as JSON."""
    return msgspec.json.decode(text, type=type)
