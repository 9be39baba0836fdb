"""How bad one trouble is for one reader, on the evidence there is, and what the reader passes on of it.

| what is known | severity | passed on |
|---|---|---|
| a column edge of the reader leads from the column, or its code names it | as bad as the trouble | what is made of it |
| the code takes it along in a `*` only | warning | the column, under its name |
| a `*` whose columns are matched by position (UNION, INSERT) | breaking when columns go or come | the column |
| the code is read whole and does not name it, or column lineage is whole and does not touch it | none | nothing |
| anything else | warning | a doubt about all it makes |

An edge of a filter, join or grouping counts like any other; then all that the reader makes is in trouble.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from headwater.code_analysis.model import (
    ALL,
    ColumnFlow,
    Reference,
    References,
    TableName,
    fold_case,
    name_parts,
    same_table,
)
from headwater.impact.model import Consumer, DependencyModel, PropagatedChange, Severity, Table
from headwater.impact.report import Evidence
from headwater.lineage.questions.downstream import ColumnEdge


@dataclass
class Classification:
    """None as a severity: the reader does not mind. `shown`: it refers to the column."""

    severity: Severity | None = None
    evidence: list[Evidence] = field(default_factory=list)
    passed: list[PropagatedChange] = field(default_factory=list)
    shown: bool = False


@dataclass
class _ColumnUsage:
    """What a reader's code says of one column. `known`: it says all, and the table is among those it reads."""

    known: bool = False
    sure: list[Reference] = field(default_factory=list)
    maybe: list[Reference] = field(default_factory=list)
    star: list[Reference] = field(default_factory=list)
    flows: list[ColumnFlow] = field(default_factory=list)


def judge(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange, edges: Iterable[ColumnEdge]
) -> Classification:
    """One reader of the place that is in trouble. `edges` lead from the column, whichever reader made them."""
    found = _judged(scene, reader, trouble, edges)
    if found.severity is not None and reader.urn in reader.outputs and reader.kind == "JOB":
        # What it hands to another job by no known way is in doubt.
        found.passed.append(trouble.stale(reader.urn, reader))
    return found


def _judged(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange, edges: Iterable[ColumnEdge]
) -> Classification:
    if trouble.column == ALL:
        return _of_whole(scene, reader, trouble)
    mine = [edge for edge in edges if _is_of(edge, reader)]
    said = _said(scene, reader, trouble)
    if trouble.kind in ("added", "added_required"):
        return _of_added(scene, reader, trouble, said)
    if said.sure or (mine and not (said.known and said.star)):
        return _shown(scene, reader, trouble, mine, said)
    if said.star and said.known:
        return _taken_along(scene, reader, trouble, said)
    if reader.covered:
        return Classification()
    if said.known and not said.maybe:
        return Classification(passed=_carried(scene, reader, trouble, said))
    return _doubted(scene, reader, trouble, said)


def _shown(
    scene: DependencyModel,
    reader: Consumer,
    trouble: PropagatedChange,
    mine: list[ColumnEdge],
    said: _ColumnUsage,
) -> Classification:
    evidence = [Evidence.column_path((*trouble.path, edge.target)) for edge in mine]
    evidence += [Evidence.line_of(reader, one, trouble.path) for one in said.sure]
    passed = [
        trouble.passed(edge.dataset, edge.column or ALL, edge.target, reader, same=edge.is_identity)
        for edge in mine
    ]
    passed += _carried(scene, reader, trouble, said)
    if not passed or (not mine and any(one.indirect for one in said.sure)):
        # It decides over rows, or nobody knows what becomes of it: then it is in all that is made.
        passed += [
            trouble.passed(output, ALL, output, reader, same=False)
            for output in reader.outputs_from(trouble.place)
        ]
    return Classification(trouble.severity, evidence, passed, shown=True)


def _taken_along(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange, said: _ColumnUsage
) -> Classification:
    passed = _carried(scene, reader, trouble, said)
    by_position = [one for one in said.star if one.by_position]
    is_broken = trouble.sure and trouble.kind == "gone" and trouble.is_start and bool(by_position)
    evidence = [Evidence.line_of(reader, one, trouble.path) for one in by_position or said.star]
    if is_broken:
        return Classification("breaking", evidence, passed)
    return Classification("warning" if said.flows else None, evidence, passed)


def _doubted(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange, said: _ColumnUsage
) -> Classification:
    evidence = [Evidence.line_of(reader, one, trouble.path) for one in said.maybe] or [
        Evidence.reads_only((trouble.place, reader.urn), reader)
    ]
    passed = _carried(scene, reader, trouble, said)
    for output in reader.outputs_from(trouble.place):
        passed.append(trouble.stale(output, reader))
        place = scene.place(output)
        name = place.column(trouble.column)
        if name in (place.columns or ()):
            passed.append(
                trouble.passed(output, name, place.column_urn(name), reader, same=True, sure=False)
            )
    return Classification("warning", evidence, passed)


def _of_whole(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange
) -> Classification:
    """All of a place is in trouble. Where the place itself goes, the map alone shows a reference; where its rows depend
    on what is gone, any column that is named does."""
    name = scene.place(trouble.place).name
    read = reader.code.read if trouble.sure and reader.code is not None else ()
    lines = [one for one in read if one.sure and one.column != ALL and same_table(one.table, name)]
    evidence = [Evidence.reads_only((trouble.place, reader.urn), reader)]
    evidence += [Evidence.line_of(reader, one, trouble.path) for one in lines[:1]]
    passed = [trouble.stale(output, reader) for output in reader.outputs_from(trouble.place)]
    return Classification(
        trouble.severity if trouble.is_start or lines else "warning", evidence, passed
    )


def _of_added(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange, said: _ColumnUsage
) -> Classification:
    """A new column can only meet those who take whatever columns there are."""
    evidence = [Evidence.line_of(reader, one, trouble.path) for one in said.star]
    passed = _carried(scene, reader, trouble, said)
    if trouble.is_start and any(one.by_position for one in said.star):
        return Classification("breaking", evidence, passed)
    if trouble.kind == "added" or (said.known and not said.star):
        return Classification(passed=passed)
    return Classification(
        "warning", evidence or [Evidence.reads_only((trouble.place, reader.urn), reader)], passed
    )


def _carried(
    scene: DependencyModel, reader: Consumer, trouble: PropagatedChange, said: _ColumnUsage
) -> list[PropagatedChange]:
    """What the flows of the code make of the column."""
    passed = []
    for flow in said.flows:
        for output in reader.outputs_from(trouble.place):
            place = scene.place(output)
            if flow.target and not same_table(flow.target, place.name):
                continue
            name = place.column(trouble.column if flow.column == ALL else flow.column)
            same = flow.column in (ALL, fold_case(trouble.column))
            step = place.column_urn(name)
            passed.append(trouble.passed(output, name, step, reader, same=same, sure=flow.sure))
    return passed


def _said(scene: DependencyModel, reader: Consumer, trouble: PropagatedChange) -> _ColumnUsage:
    code = reader.code
    if code is None:
        return _ColumnUsage()
    place = scene.place(trouble.place)
    others = scene.beside(reader, trouble.place)
    tables = {
        table: _is_only(table, place, others)
        for table in code.tables
        if same_table(table, place.name)
    }
    name = fold_case(trouble.column)
    said = _ColumnUsage(known=bool(tables) and not code.unknown and name not in code.words)
    for one in code.read:
        if one.table in tables and one.column == ALL:
            said.star.append(one)
        elif one.table in tables and one.column == name:
            (said.sure if one.sure and tables[one.table] else said.maybe).append(one)
    said.flows = [flow for flow in code.flows if flow.source in tables and _takes(flow, name)]
    return said


def _takes(flow: ColumnFlow, name: str) -> bool:
    return flow.source_column == name or (flow.source_column == ALL and name not in flow.without)


def _is_only(table: TableName, place: Table, others: list[Table]) -> bool:
    """Whether a table as the code writes it can be no other place that the reader reads."""
    if name_parts(".".join(table)) == name_parts(place.name):
        return True
    return not any(same_table(table, other.name) for other in others)


def _is_of(edge: ColumnEdge, reader: Consumer) -> bool:
    if reader.kind == "DATASET":
        return not edge.job and edge.dataset == reader.urn
    return edge.job == reader.urn and edge.dataset in reader.outputs


def classify_writer(reader: Consumer, trouble: PropagatedChange, place: Table) -> Classification:
    """A reader that writes into the place that changes: by its INSERTs, and by the columns that it names there."""
    code = reader.code or References(unknown=("its code is not known",))
    inserts = [one for one in code.inserts if same_table(one.table, place.name)]
    written = [
        one
        for one in code.written
        if same_table(one.table, place.name) and one.column == fold_case(trouble.column)
    ]
    blind = [one for one in inserts if not one.columns]
    if trouble.kind in ("added", "added_required"):
        is_required = trouble.kind == "added_required"
        if blind:
            return Classification(
                "breaking" if is_required else "warning",
                [Evidence.line_of(reader, one, trouble.path) for one in blind],
            )
        if is_required and (inserts or code.unknown):
            lines = [Evidence.line_of(reader, one, trouble.path) for one in inserts]
            return Classification(
                "warning", lines or [Evidence.reads_only((reader.urn, place.urn), reader)]
            )
        return Classification()
    found = [*written, *(blind if trouble.kind == "gone" and not written else ())]
    return (
        Classification(
            trouble.severity, [Evidence.line_of(reader, one, trouble.path) for one in found]
        )
        if found
        else Classification()
    )
