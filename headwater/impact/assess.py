"""The assessment of planned changes: the affected assets, their severity and the evidence.

The effect of each change downstream:

- A renamed or dropped column breaks every reference to it, and everything made of it. Code that
  only takes it along (`SELECT *`) hands the change on under the same name.
- A dropped or renamed table breaks its readers. Everything made of its columns breaks too; the
  rest is a warning, because it continues on data that nobody refreshes.
- A deleted job leaves its outputs as they are: everything beyond is a warning.
- A narrower or unlike type breaks references as long as the column is handed on unchanged, and is
  a warning beyond. A wider type, or another meaning, is a warning for every reference.
- A new column that must not be null breaks INSERTs without a list of columns. Any new column
  breaks a `*` in a UNION.

The assessment uses the current lineage graph, unless it is asked to include stale readers. Hidden
nodes are traversed but never named; the report then sets `hidden_affected`.

Everything ends at one deadline. Code that there is no time to read is unknown, like code that
cannot be read. A propagation that has not ended by then is truncated.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwater.code_analysis.files import read_files
from headwater.code_analysis.model import ALL
from headwater.code_analysis.names import fold_case
from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.impact.assets import AffectedAssets
from headwater.impact.changes import (
    Change,
    ColumnAdd,
    ColumnDrop,
    ColumnRename,
    ColumnTypeChange,
    JobDelete,
    TableDrop,
    TableRename,
)
from headwater.impact.load import ColumnEdges, columns_in, load_model
from headwater.impact.model import Consumer, DependencyModel, Effect, PropagatedChange, Table
from headwater.impact.propagate import ImpactResult, propagate
from headwater.impact.report import Evidence, Report
from headwater.impact.severity import classify_writer
from headwater.lineage.node_visibility import find_hidden
from headwater.lineage.nodes import read_nodes, require_node
from headwater.lineage.questions.downstream import DownstreamGraph, citing_answers, read_downstream
from headwater.lineage.view import GraphView
from headwater.schema.type_changes import is_narrowing

CHANGES_MAX = 200
TIMEOUT_SECONDS = 20.0
TRAVERSAL_SECONDS_MAX = 8.0


@dataclass(frozen=True)
class _PlannedChange:
    """A change and the row of the dataset or job that it is about."""

    change: Change
    row: Row

    @property
    def urn(self) -> str:
        return str(self.row["urn"])

    @property
    def column(self) -> str | None:
        """Return the column of the change as the dataset spells it.

        None for a change without one."""
        name = getattr(self.change, "column", None)
        if not name:
            return None
        columns = self.row.get("columns") or ()
        return next(
            (column for column in columns if fold_case(column) == fold_case(name)), str(name)
        )


def assess(
    view: GraphView,
    changes: Sequence[Change],
    *,
    files: Mapping[str, str] | None = None,
    dialect: str = "",
    include_stale: bool = False,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Report:
    """Return the assets that these changes affect together.

    files: code by path, in `dialect`, that counts beside the code that producers sent.
    include_stale: include consumers that no longer read.

    Raises NotFoundError for an unknown dataset or job, QueryError for more than `CHANGES_MAX`
    changes."""
    if not 1 <= len(changes) <= CHANGES_MAX:
        raise QueryError(
            f"{len(changes)} changes are not between 1 and {CHANGES_MAX}",
            hint="Send fewer changes at once.",
        )
    deadline = time.monotonic() + timeout_seconds + view.planning_seconds
    # The report is about the graph as it is now, not about a cache that is a moment old.
    view = view.up_to_date()
    planned = [_PlannedChange(change, require_node(view, change.urn)) for change in changes]
    down = read_downstream(
        view,
        [change.urn for change in planned],
        seconds=min(timeout_seconds, TRAVERSAL_SECONDS_MAX),
        ever=include_stale,
    )
    unseen = find_hidden(view, down.rows)
    codes = read_files(
        files or {},
        dialect=dialect,
        columns=columns_in(_visible_tables(down, unseen)),
        timeout_seconds=min(timeout_seconds / 2, deadline - time.monotonic()),
    )
    edges = ColumnEdges(view)
    model = load_model(edges, down, _changed_columns(planned), codes, unseen, deadline)
    assets = AffectedAssets(view, down.rows, model)
    for planned_change in planned:
        starts = _start_changes(view, planned_change, down, model)
        result = propagate(model, starts, deadline)
        if planned_change.column is not None:
            _add_writers(
                starts[0],
                model.writers.get(planned_change.urn, []),
                result,
                model.table(planned_change.urn),
            )
        assets.add_result(result)
        _add_answers(view, assets, result)
    notes: list[str] = []
    for planned_change in planned:
        notes += _notes(planned_change)
    truncated = down.truncated or ("" if edges.is_complete else "edges")
    return assets.report(truncated=truncated, notes=notes)


def _visible_tables(down: DownstreamGraph, unseen: set[str]) -> list[Table]:
    return [
        Table(urn, str(row.get("name")), tuple(row.get("columns") or ()) or None)
        for urn, row in down.rows.items()
        if urn not in unseen
    ]


def _changed_columns(planned: Sequence[_PlannedChange]) -> dict[str, list[str]]:
    """Return the existing columns that changes are about, by dataset."""
    columns: dict[str, list[str]] = defaultdict(list)
    for change in planned:
        if change.column is not None and not isinstance(change.change, ColumnAdd):
            columns[change.urn].append(change.column)
    return columns


def _start_changes(
    view: GraphView, planned: _PlannedChange, down: DownstreamGraph, model: DependencyModel
) -> list[PropagatedChange]:
    """Return the effects of a change on the tables where it is made."""
    urn, change = planned.urn, planned.change
    if isinstance(change, JobDelete):
        tables = [*down.outputs.get(urn, {}), *([urn] if urn in down.reads else [])]
        return [PropagatedChange(table, ALL, "stale", False, 0, (table,)) for table in tables]
    if isinstance(change, TableDrop | TableRename):
        return [PropagatedChange(urn, ALL, "gone", path=(urn,))]
    column = planned.column
    if column is None:
        return [PropagatedChange(urn, ALL, "redefined", path=(urn,))]
    step = model.table(urn).column_urn(column)
    return [PropagatedChange(urn, column, _effect(view, change, step), path=(step,))]


def _effect(view: GraphView, change: Change, column_urn: str) -> Effect:
    if isinstance(change, ColumnRename):
        return "renamed"
    if isinstance(change, ColumnDrop):
        return "gone"
    if isinstance(change, ColumnAdd):
        return "added" if change.nullable else "added_required"
    if isinstance(change, ColumnTypeChange):
        before = change.before or read_nodes(view, [column_urn]).get(column_urn, {}).get("type")
        return "narrowed" if is_narrowing(before, change.to) else "widened"
    return "redefined"


def _add_writers(
    change: PropagatedChange, writers: list[Consumer], result: ImpactResult, table: Table
) -> None:
    if change.effect == "redefined":
        return
    for writer in writers:
        result.add(writer, change, classify_writer(writer, change, table), 0)


def _add_answers(view: GraphView, assets: AffectedAssets, result: ImpactResult) -> None:
    """Add the answers that cite an affected column or dataset.

    A cited column counts like any reference. A cited version of a dataset is a warning, unless
    the dataset goes away."""
    worst: dict[str, PropagatedChange] = {}
    by_column: dict[str, PropagatedChange] = {}
    for change in result.changes.values():
        if not change.table.startswith("dataset:") or change.is_addition:
            continue
        if change.column != ALL and change.path:
            by_column[assets.model.table(change.table).column_urn(change.column)] = change
        before = worst.get(change.table)
        if before is None or _answer_rank(change) > _answer_rank(before):
            worst[change.table] = change
    for cited, answers in citing_answers(view, worst, by_column).items():
        change = by_column.get(cited) or worst[cited]
        is_dropped_table = change.column == ALL and change.is_start
        is_reference = cited in by_column or is_dropped_table
        severity = change.severity if is_reference else "warning"
        for answer in sorted(answers):
            evidence = Evidence("READS_ONLY", (cited, answer))
            if cited in by_column:
                evidence = Evidence.column_path((*change.path, answer))
            assets.add_answer(answer, severity, evidence, change)


def _answer_rank(change: PropagatedChange) -> tuple[bool, tuple[bool, int]]:
    """Return a value by which a change of the whole table comes before changes of its columns."""
    return change.column == ALL, change.rank


def _notes(planned: _PlannedChange) -> list[str]:
    """Return the inconsistencies between a change and the columns that the graph knows."""
    change, name = planned.change, planned.row["name"]
    columns = [fold_case(column) for column in planned.row.get("columns") or ()]
    column = getattr(change, "column", None)
    if not columns or column is None:
        return []
    is_known = fold_case(column) in columns
    if isinstance(change, ColumnAdd):
        return [f"{name} already has a column {column!r}"] if is_known else []
    notes = [] if is_known else [f"the graph knows no column {column!r} of {name}"]
    if isinstance(change, ColumnRename) and fold_case(change.to) in columns:
        notes.append(f"{name} already has a column {change.to!r}")
    return notes
