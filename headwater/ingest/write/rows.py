"""Run statements that take rows, and decode the facts in the rows that they return.

Neo4j keeps all rows of a statement in memory between two of its steps. So one statement gets a
bounded number of rows: the memory of a transaction is then that of its changes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from headwater.chunks import chunks
from headwater.cypher.driver.database import Row, Transaction

F = TypeVar("F", bound=msgspec.Struct)
T = TypeVar("T")

# The rows of one statement at most; the items of a list in a row count as rows.
ROWS_MAX = 5_000


def write_rows(transaction: Transaction, name: str, rows: Sequence[Row]) -> list[Row]:
    """Run the named statement for these rows, some at a time; return its results together.

    A statement must treat each row alone. Without rows it does not run.
    """
    results: list[Row] = []
    for some in in_parts(rows):
        results += transaction.run(name, rows=some)
    return results


def parts_of(items: Sequence[T]) -> Iterator[list[T]]:
    """Yield the items of a list in parts, each of which fits into a row of one statement."""
    return chunks(items, max(ROWS_MAX - 1, 1))


def in_parts(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows for each statement, at most `ROWS_MAX`; a larger row is alone."""
    some: list[Row] = []
    size = 0
    for row in rows:
        weight = 1 + sum(len(value) for value in row.values() if isinstance(value, list))
        if some and size + weight > ROWS_MAX:
            yield some
            some, size = [], 0
        some.append(row)
        size += weight
    if some:
        yield some


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
