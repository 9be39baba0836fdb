"""Run statements that take rows, and decode the facts in the rows that they return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.cypher.driver.database import Row, Transaction

F = TypeVar("F", bound=msgspec.Struct)


def write_rows(transaction: Transaction, name: str, rows: list[Any]) -> list[Row]:
    """Run the named statement with these rows; return its result. Skip it if there are no rows."""
    return transaction.run(name, rows=rows) if rows else []


def read_facts(
    transaction: Transaction,
    kind: str,
    type: type[F],
    urns: Iterable[str],
    cached: Mapping[str, F | None],
) -> dict[str, F]:
    """Return the stored facts of runs, jobs or answers (`kind`), in the order of their urns.

    Facts come from `cached`, where None stands for a missing entity, or else from the graph.
    """
    urns = sorted(urns)
    unknown = [urn for urn in urns if urn not in cached]
    rows = transaction.run(f"read/write_path/facts_of_{kind}", urns=unknown) if unknown else []
    read = {row["urn"]: decode_facts(row["facts"], type) for row in rows if row["facts"]}
    return {urn: facts for urn in urns if (facts := cached.get(urn) or read.get(urn)) is not None}


def decode_facts(text: str, type: type[F]) -> F:
    """Return the facts in the JSON of a row."""
    return msgspec.json.decode(text, type=type)
