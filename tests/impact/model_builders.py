"""Builders of dependency models: tables `dataset:db:NAME`, jobs `job:etl:NAME`, column edges."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from headwater.code_analysis.model import ALL, References
from headwater.code_analysis.sql.references import references_in_sql
from headwater.impact.model import Consumer, DependencyModel, Effect, PropagatedChange, Table
from headwater.impact.propagate import ImpactResult, propagate
from headwater.lineage.questions.downstream import ColumnEdge
from tests.run_builders import ds, job

Edges = Mapping[tuple[str, str], Sequence[tuple[str, str, str | None, str]]]


def table(name: str, *columns: str) -> Table:
    return Table(ds(name), name, columns or None)


def consumer(
    name: str, *outputs: str, sql: str | None = None, covered: bool = False, hidden: bool = False
) -> Consumer:
    """Return a job. Without `sql` its code is unknown."""

    def code() -> References | None:
        return None if sql is None else _parsed(sql)

    made = {ds(output): None for output in outputs}
    return Consumer(job(name), "JOB", made, code, covered=covered, is_hidden=hidden)


@cache
def _parsed(sql: str) -> References:
    return references_in_sql(sql)


def build_model(
    tables: Iterable[Table], readers: Mapping[str, Sequence[Consumer]], edges: Edges | None = None
) -> DependencyModel:
    """Return a model. `edges`: (table, column) -> [(job, table, column or None for all, type)]."""
    by_urn = {one.urn: one for one in tables}
    listed: dict[str, list[ColumnEdge]] = defaultdict(list)
    for (source, column), targets in (edges or {}).items():
        for name, target, into, way in targets:
            at = by_urn[ds(target)]
            urn = at.urn if into is None else at.column_urn(into)
            listed[by_urn[ds(source)].column_urn(column)].append(
                ColumnEdge(job(name), (way,), urn, at.urn, into)
            )

    def column_edges(columns: Iterable[str]) -> dict[str, list[ColumnEdge]]:
        return {urn: listed[urn] for urn in columns if urn in listed}

    return DependencyModel(
        by_urn, {ds(name): list(some) for name, some in readers.items()}, column_edges
    )


def change(
    model: DependencyModel, name: str, column: str = ALL, kind: Effect = "renamed"
) -> ImpactResult:
    """Propagate a change of one column, or of a whole table."""
    path = (ds(name),) if column == ALL else (model.table(ds(name)).column_urn(column),)
    return propagate(
        model, [PropagatedChange(ds(name), column, kind, path=path)], time.monotonic() + 20
    )


def severities(found: ImpactResult) -> dict[str, str]:
    return {urn.rpartition(":")[2]: hit.severity for urn, hit in found.affected.items()}
