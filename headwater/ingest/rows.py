"""Statements over rows."""

from __future__ import annotations

from typing import Any

from headwater.cypher.database import Row, Transaction


def run_rows(transaction: Transaction, name: str, rows: list[Any]) -> list[Row]:
    """Run a statement over some rows, and not at all over none."""
    return transaction.run(name, rows=rows) if rows else []
