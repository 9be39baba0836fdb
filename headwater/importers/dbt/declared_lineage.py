"""Lineage that the `meta` of a dbt project declares under the key `lineage`.

Three forms are read:

    models:
      - name: aggregated_features
        meta:
          lineage:
            upstream: ["raw_transactions.amount"]
            downstream: ["fraud_model.features"]
        columns:
          - name: customer_lifetime_value
            meta:
              lineage: "raw_orders.total_amount -> cleaned_orders.amount -> features.clv"
          - name: amount_log
            meta:
              lineage: {upstream: ["raw_transactions.amount"]}

A place is a column (`table.column`), a table, or a mapping with `namespace`, `name` and `field`. A
chain ends at the column that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.importers.dbt.artifacts import Node

ARROW = "->"


@dataclass(frozen=True)
class Place:
    """A table, or a column of it, as `meta` names it: a text, or a namespace with a name."""

    text: str
    namespace: str = ""
    field: str = ""


@dataclass(frozen=True)
class Flow:
    """A declared flow. None is the table of the node, with the column `column`, or as a whole."""

    source: Place | None
    target: Place | None
    column: str = ""


class DeclaredLineageError(Exception):
    """A `meta.lineage` that cannot be read; the message says what it must be."""


def flows_of(node: Node) -> Iterator[Flow]:
    """Yield the flows that a node and its columns declare. Raises DeclaredLineageError."""
    columns = list((node.columns or {}).values())
    # A model with one described column declares the lineage of that column.
    only = columns[0].name if len(columns) == 1 else ""
    yield from _flows(node.all_meta.get("lineage"), only)
    for column in columns:
        configured = (column.config or {}).get("meta")
        meta = {**(configured if isinstance(configured, dict) else {}), **(column.meta or {})}
        yield from _flows(meta.get("lineage"), column.name)


def _flows(declared: Any, column: str) -> Iterator[Flow]:
    if declared is None:
        return
    if isinstance(declared, Mapping):
        for place in _places(declared.get("upstream")):
            yield Flow(place, None, column)
        for place in _places(declared.get("downstream")):
            yield Flow(None, place, column)
        return
    for chain in declared if isinstance(declared, list) else [declared]:
        if not isinstance(chain, str):
            raise DeclaredLineageError("meta.lineage must be a chain or have upstream, downstream")
        places = [Place(part.strip()) for part in chain.split(ARROW) if part.strip()]
        for source, target in zip(places, [*places[1:], None], strict=False):
            yield Flow(source, target, column)


def _places(declared: Any) -> Iterator[Place]:
    if declared is None:
        return
    for one in declared if isinstance(declared, list) else [declared]:
        if isinstance(one, str) and one.strip():
            yield Place(one.strip())
        elif isinstance(one, Mapping) and one.get("namespace") and one.get("name"):
            yield Place(str(one["name"]), str(one["namespace"]), str(one.get("field") or ""))
        else:
            raise DeclaredLineageError(
                "meta.lineage must list texts such as table.column, or mappings with namespace, "
                "name and field"
            )
