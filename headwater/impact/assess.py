"""The assessment: given changes that somebody means to make, who is affected, how badly, and how one knows.

What each change does to what lies downstream:

- a column that is renamed or dropped breaks whoever refers to it, and whatever is made of it: that cannot be made any
  more. CodeFile that only takes it along (`SELECT *`) hands the change on under the same name;
- a table that is dropped or renamed breaks whoever reads it. Beyond, what is made of its columns breaks, and the rest
  is a warning: it goes on, on data that nobody refreshes;
- a job that is deleted leaves its outputs as they are, so all beyond it is a warning;
- a narrower or unlike type breaks references as long as the column is handed on unchanged, and is a warning beyond; a
  wider one, or another meaning, is a warning for every reference;
- a new column that must not be null breaks INSERTs without a list of columns, and any new column a `*` in a UNION.

Only the map as it is now counts, unless asked otherwise. What may not be seen is walked through and never named:
`hidden_affected`.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from headwater.code_analysis.files import read_files
from headwater.code_analysis.model import ALL, fold_case
from headwater.cypher.driver.database import Row
from headwater.errors import QueryError
from headwater.impact.assets import Assets
from headwater.impact.changes import (
    Change,
    ColumnAdd,
    ColumnDrop,
    ColumnRename,
    ColumnTypeChange,
    JobDelete,
    SemanticsChange,
    TableDrop,
    TableRename,
)
from headwater.impact.load import ColumnEdges, columns_in, gather, writers
from headwater.impact.model import Consumer, DependencyModel, Kind, PropagatedChange, Table
from headwater.impact.propagate import ImpactResult, propagate
from headwater.impact.report import Evidence, Report
from headwater.impact.severity import classify_writer
from headwater.impact.type_changes import is_narrowing
from headwater.lineage.node_visibility import hidden
from headwater.lineage.nodes import read_nodes, require_node
from headwater.lineage.questions.downstream import DownstreamGraph, citing_answers, read_downstream
from headwater.lineage.view import GraphView

CHANGES_MAX = 200
SECONDS_MAX = 20.0
WALK_SECONDS_MAX = 8.0


def assess(
    view: GraphView,
    changes: Sequence[Change],
    *,
    files: Mapping[str, str] | None = None,
    dialect: str = "",
    include_stale: bool = False,
    seconds: float = SECONDS_MAX,
) -> Report:
    """Who is affected by these changes, together. `files` is code by path that counts beside what producers sent, in
    `dialect`; `include_stale` counts who read once and reads no more; `seconds` bounds the whole.

    Raises NotFoundError for a dataset or job that is not in the graph, QueryError for more than `CHANGES_MAX`."""
    if not 1 <= len(changes) <= CHANGES_MAX:
        raise QueryError(
            f"{len(changes)} changes are not between 1 and {CHANGES_MAX}",
            hint="Ask for fewer at once.",
        )
    deadline = time.monotonic() + seconds
    # A verdict is of the graph as it is, not as it was a moment ago.
    view = view.up_to_date()
    about = [require_node(view, change.urn) for change in changes]
    columns = _columns_named(changes, about)
    down = read_downstream(
        view,
        [row["urn"] for row in about],
        seconds=min(seconds, WALK_SECONDS_MAX),
        ever=include_stale,
    )
    unseen = hidden(view, down.rows)
    places = [
        Table(urn, str(row.get("name")), tuple(row.get("columns") or ()) or None)
        for urn, row in down.rows.items()
        if urn not in unseen
    ]
    codes = read_files(
        files or {}, dialect=dialect, columns=columns_in(places), seconds=seconds / 2
    )
    edges = ColumnEdges(view)
    scene = gather(edges, down, columns, codes, unseen)
    writing = writers(scene, down, codes, unseen)
    assets = Assets(view, down.rows, scene)
    for change, row in zip(changes, about, strict=True):
        starts = _starts(view, change, row, down, scene)
        found = propagate(scene, starts, deadline)
        if isinstance(change, ColumnRename | ColumnDrop | ColumnTypeChange | ColumnAdd):
            _meet_writers(starts[0], writing.get(row["urn"], []), found, scene.place(row["urn"]))
        assets.take(found)
        _take_answers(view, assets, found)
    notes = [
        note for change, row in zip(changes, about, strict=True) for note in _notes(change, row)
    ]
    return assets.report(truncated=down.truncated or ("" if edges.whole else "edges"), notes=notes)


def _columns_named(changes: Sequence[Change], about: list[Row]) -> dict[str, list[str]]:
    """The columns that changes are about, by dataset."""
    found: dict[str, list[str]] = defaultdict(list)
    for change, row in zip(changes, about, strict=True):
        if (
            isinstance(change, ColumnRename | ColumnDrop | ColumnTypeChange | SemanticsChange)
            and change.column
        ):
            found[row["urn"]].append(_spelled(row, change.column))
    return found


def _spelled(row: Row, name: str) -> str:
    return next(
        (one for one in row.get("columns") or () if fold_case(one) == fold_case(name)), name
    )


def _starts(
    view: GraphView, change: Change, row: Row, down: DownstreamGraph, scene: DependencyModel
) -> list[PropagatedChange]:
    """What a change does where it is made."""
    urn = row["urn"]
    if isinstance(change, JobDelete):
        beyond = [*down.outputs.get(urn, {}), *([urn] if urn in down.reads else [])]
        return [PropagatedChange(place, ALL, "stale", False, 0, (place,)) for place in beyond]
    if isinstance(change, TableDrop | TableRename):
        return [PropagatedChange(urn, ALL, "gone", path=(urn,))]
    column = _spelled(row, change.column) if change.column else ALL
    path = (urn,) if column == ALL else (scene.place(urn).column_urn(column),)
    return [PropagatedChange(urn, column, _kind(view, change, path[0]), path=path)]


def _kind(view: GraphView, change: Change, column: str) -> Kind:
    if isinstance(change, ColumnRename):
        return "renamed"
    if isinstance(change, ColumnDrop):
        return "gone"
    if isinstance(change, ColumnAdd):
        return "added" if change.nullable else "added_required"
    if isinstance(change, ColumnTypeChange):
        before = change.before or read_nodes(view, [column]).get(column, {}).get("type")
        return "narrowed" if is_narrowing(before, change.to) else "widened"
    return "meaning"


def _meet_writers(
    trouble: PropagatedChange, listed: list[Consumer], found: ImpactResult, place: Table
) -> None:
    for reader in listed:
        found.hit(reader, trouble, classify_writer(reader, trouble, place), 0)


def _take_answers(view: GraphView, assets: Assets, found: ImpactResult) -> None:
    """Answers that cite a column in trouble are as badly off as any reference; those that cite a version of a dataset
    in trouble may be, unless the dataset itself goes away."""
    worst: dict[str, PropagatedChange] = {}
    by_column: dict[str, PropagatedChange] = {}
    for trouble in found.troubles.values():
        if not trouble.place.startswith("dataset:") or trouble.kind in ("added", "added_required"):
            continue
        if trouble.column != ALL and trouble.path:
            by_column[assets.scene.place(trouble.place).column_urn(trouble.column)] = trouble
        before = worst.get(trouble.place)
        if before is None or (trouble.column == ALL, trouble.rank) > (
            before.column == ALL,
            before.rank,
        ):
            worst[trouble.place] = trouble
    cited = citing_answers(view, worst, by_column)
    for place, answers in cited.items():
        trouble = by_column.get(place) or worst[place]
        is_shown = place in by_column or (trouble.column == ALL and trouble.is_start)
        severity = trouble.severity if is_shown else "warning"
        for answer in sorted(answers):
            cites = Evidence("READS_ONLY", (place, answer))
            evidence = (
                Evidence.column_path((*trouble.path, answer)) if place in by_column else cites
            )
            assets.answer(answer, severity, evidence, trouble)


def _notes(change: Change, row: Row) -> list[str]:
    """What is odd about a change."""
    known = [fold_case(one) for one in row.get("columns") or ()]
    column = getattr(change, "column", None)
    if not known or column is None:
        return []
    if isinstance(change, ColumnAdd):
        return (
            [f"{row['name']} has a column {column!r} already"] if fold_case(column) in known else []
        )
    found = (
        []
        if fold_case(column) in known
        else [f"{row['name']} has no column {column!r}, as far as the graph knows"]
    )
    if isinstance(change, ColumnRename) and fold_case(change.to) in known:
        found.append(f"{row['name']} has a column {change.to!r} already")
    return found
