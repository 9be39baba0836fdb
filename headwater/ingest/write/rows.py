"""Statements over rows, and facts as rows bring them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.cypher.driver.database import Row, Transaction

F = TypeVar("F", bound=msgspec.Struct)


def run_rows(transaction: Transaction, name: str, rows: list[Any]) -> list[Row]:
    """Run a statement over some rows, and not at all over none."""
    return transaction.run(name, rows=rows) if rows else []


def held(
    transaction: Transaction,
    kind: str,
    type: type[F],
    urns: Iterable[str],
    known: Mapping[str, F | None],
) -> dict[str, F]:
    """What the graph holds of these runs, jobs or answers (`kind`), in the order of their urns: as it is known, where
    None is for those that it does not have, or else read."""
    urns = sorted(urns)
    unknown = [urn for urn in urns if urn not in known]
    rows = transaction.run(f"read/write_path/facts_of_{kind}", urns=unknown) if unknown else []
    read = {row["urn"]: facts_in(row["facts"], type) for row in rows if row["facts"]}
    return {urn: facts for urn in urns if (facts := known.get(urn) or read.get(urn)) is not None}


def facts_in(text: str, type: type[F]) -> F:
    """The facts that a row brings as JSON."""
    return msgspec.json.decode(text, type=type)
