"""The severity of one change for one consumer, by the evidence, and the changes of its outputs.

| evidence | severity | passed on |
|---|---|---|
| a column edge leaves the column, or the code names it | that of the change | its outputs |
| the code takes it along in a `*` only | warning | the column, under its name |
| a `*` matched by position (UNION, INSERT) | breaking if columns go or come | the column |
| code or column lineage is complete without it | none | nothing |
| the code names it, maybe of another table, or as an option | warning | a doubt about all outputs |
| the code is not known, or not read completely | unknown | an unassessed change of all outputs |

A change that could break nothing is a warning instead of unknown.

An edge of a filter, join or grouping counts like any other; it affects all outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from headwater.code_analysis.model import (
    ALL,
    ColumnFlow,
    Insert,
    Reference,
    References,
    TableName,
)
from headwater.code_analysis.names import fold_case, name_parts
from headwater.impact.model import (
    CHANGES_MAX,
    Consumer,
    DependencyModel,
    PropagatedChange,
    Severity,
    Table,
)
from headwater.impact.report import Evidence, first_distinct
from headwater.lineage.questions.downstream import ColumnEdge


@dataclass
class Classification:
    """The severity of a change for a consumer, or None, with the evidence.

    passed: the changes of its outputs.
    is_reference: the consumer is shown to refer to the column."""

    severity: Severity | None = None
    evidence: list[Evidence] = field(default_factory=list)
    passed: list[PropagatedChange] = field(default_factory=list)
    is_reference: bool = False


@dataclass
class _ColumnUsage:
    """The use of one column in the code of a consumer.

    is_read: the code is read completely, and the table is among those it reads.
    is_complete: the code is read, and names the column only where references show it."""

    is_read: bool = False
    is_complete: bool = False
    sure: list[Reference] = field(default_factory=list)
    unsure: list[Reference] = field(default_factory=list)
    stars: list[Reference] = field(default_factory=list)
    flows: list[ColumnFlow] = field(default_factory=list)


def classify(
    model: DependencyModel,
    consumer: Consumer,
    change: PropagatedChange,
    edges: Iterable[ColumnEdge],
) -> Classification:
    """Classify a change for a consumer of the changed table.

    `edges` leave the column, whichever job made them."""
    classification = _Classifier(model, consumer, change).classify(edges)
    is_own_output = consumer.urn in consumer.outputs and consumer.kind == "JOB"
    if classification.severity is not None and is_own_output:
        # The job hands data to another job by an unknown way.
        classification.passed.append(change.as_stale(consumer, consumer.urn))
    return classification


class _Classifier:
    """Classifies one change for one consumer."""

    def __init__(
        self, model: DependencyModel, consumer: Consumer, change: PropagatedChange
    ) -> None:
        self._model = model
        self._consumer = consumer
        self._change = change
        self._usage = _ColumnUsage()

    def classify(self, edges: Iterable[ColumnEdge]) -> Classification:
        """Return the first classification that the evidence allows."""
        if self._change.column == ALL:
            return self._of_table()
        own_edges = [edge for edge in edges if _is_edge_of(edge, self._consumer)]
        usage = self._usage = self._column_usage()
        is_star_only = usage.is_complete and bool(usage.stars)
        if self._change.is_addition:
            return self._of_addition()
        if usage.sure or (own_edges and not is_star_only):
            return self._of_reference(own_edges)
        if is_star_only:
            return self._of_star()
        if self._consumer.covered:
            return Classification()
        if usage.is_complete and not usage.unsure:
            return Classification(passed=self._flow_changes())
        return self._of_doubt()

    def _of_reference(self, edges: list[ColumnEdge]) -> Classification:
        """Classify a consumer that refers to the column."""
        change, usage = self._change, self._usage
        paths = (Evidence.column_path((*change.path, edge.target)) for edge in edges)
        evidence = first_distinct(paths)
        evidence += self._lines(usage.sure)
        passed = []
        for edge in edges:
            column = edge.column or ALL
            passed.append(
                change.through(
                    self._consumer, edge.dataset, column, edge.target, same=edge.is_identity
                )
            )
        passed += self._flow_changes()
        decides_rows = not edges and any(reference.indirect for reference in usage.sure)
        if not passed or decides_rows:
            # It decides over rows, or its use is not known: all outputs change.
            for output in self._outputs():
                passed.append(change.through(self._consumer, output, ALL, output, same=False))
        return Classification(change.severity, evidence, passed, is_reference=True)

    def _of_star(self) -> Classification:
        """Classify a consumer that takes the column along in a `*`."""
        change, usage = self._change, self._usage
        by_position = [reference for reference in usage.stars if reference.by_position]
        evidence = self._lines(by_position or usage.stars)
        passed = self._flow_changes()
        if by_position and change.sure and change.effect == "gone" and change.is_start:
            return Classification("breaking", evidence, passed)
        return Classification("warning" if usage.flows else None, evidence, passed)

    def _of_doubt(self) -> Classification:
        """Classify a consumer whose reference can be neither shown nor ruled out."""
        change = self._change
        # A reader of a dropped table breaks as a whole; its outputs are stale, and not unknown.
        is_dropped_table = change.of_table and change.distance == 0
        may_break = change.severity == "breaking" and not is_dropped_table
        is_unknown = may_break and not self._usage.is_read
        evidence = self._lines(self._usage.unsure)
        if is_unknown or not evidence:
            evidence.append(self._reads_only())
        passed = self._flow_changes()
        for output in self._outputs():
            to_output = change.as_unassessed if is_unknown else change.as_stale
            passed.append(to_output(self._consumer, output))
            table = self._model.table(output)
            name = table.spelling_of(change.column)
            if name in (table.columns or ()):
                step = table.column_urn(name)
                passed.append(
                    change.through(self._consumer, output, name, step, same=True, sure=False)
                )
        return Classification("unknown" if is_unknown else "warning", evidence, passed)

    def _of_table(self) -> Classification:
        """Classify a change of a whole table.

        If the table itself goes, reading it is a reference. If its rows depend on a removed
        column, any column that the code names is one."""
        change, consumer = self._change, self._consumer
        table = self._model.table(change.table)
        read = consumer.code.read if change.sure and consumer.code is not None else ()
        named = [reference for reference in read if reference.sure and reference.column != ALL]
        lines = [reference for reference in named if table.may_be(reference.table)][:1]
        evidence = [self._reads_only(), *self._lines(lines)]
        is_unassessed = change.effect == "unassessed"
        to_output = change.as_unassessed if is_unassessed else change.as_stale
        passed = [to_output(consumer, output) for output in self._outputs()]
        is_known = change.is_start or bool(lines) or is_unassessed
        return Classification(change.severity if is_known else "warning", evidence, passed)

    def _of_addition(self) -> Classification:
        """Classify a new column, which only affects code that takes all columns."""
        change, usage = self._change, self._usage
        evidence = self._lines(usage.stars)
        passed = self._flow_changes()
        if change.is_start and any(reference.by_position for reference in usage.stars):
            return Classification("breaking", evidence, passed)
        if change.effect == "added" or (usage.is_complete and not usage.stars):
            return Classification(passed=passed)
        return Classification("warning", evidence or [self._reads_only()], passed)

    def _flow_changes(self) -> list[PropagatedChange]:
        """Return the changes of the outputs into which the code lets the column flow.

        Beyond the most changes of an assessment the others are left out, and it is cut short."""
        return list(islice(self._changes_of_flows(), CHANGES_MAX + 1))

    def _changes_of_flows(self) -> Iterator[PropagatedChange]:
        change = self._change
        for flow in self._usage.flows:
            for output in self._outputs():
                table = self._model.table(output)
                if flow.target and not table.may_be(flow.target):
                    continue
                column = change.column if flow.column == ALL else flow.column
                name = table.spelling_of(column)
                yield change.through(
                    self._consumer,
                    output,
                    name,
                    table.column_urn(name),
                    same=flow.column in (ALL, fold_case(change.column)),
                    sure=flow.sure,
                )

    def _column_usage(self) -> _ColumnUsage:
        """Return the use of the changed column in the code of the consumer."""
        code = self._consumer.code
        if code is None:
            return _ColumnUsage()
        table = self._model.table(self._change.table)
        # The names under which the code reads the table, and whether each can mean no other one.
        names = {name: self._is_only(name, table) for name in code.tables if table.may_be(name)}
        column = fold_case(self._change.column)
        is_read = bool(names) and not code.unknown
        usage = _ColumnUsage(is_read, is_complete=is_read and column not in code.words)
        for reference in code.read:
            if reference.table not in names:
                continue
            if reference.column == ALL:
                usage.stars.append(reference)
            elif reference.column == column:
                is_sure = reference.sure and names[reference.table]
                (usage.sure if is_sure else usage.unsure).append(reference)
        for flow in code.flows:
            if flow.source in names and _carries(flow, column):
                usage.flows.append(flow)
        return usage

    def _is_only(self, written: TableName, table: Table) -> bool:
        """Return True if a table name in code can mean no other table that the consumer reads."""
        if name_parts(".".join(written)) in map(name_parts, table.names):
            return True
        return not self._model.is_other_input(written, self._consumer, table.urn)

    def _outputs(self) -> list[str]:
        return self._consumer.outputs_from(self._change.table)

    def _lines(self, references: Iterable[Reference]) -> list[Evidence]:
        return _lines_of(self._consumer, references, self._change)

    def _reads_only(self) -> Evidence:
        return Evidence.reads_only((self._change.table, self._consumer.urn), self._consumer)


def classify_writer(writer: Consumer, change: PropagatedChange, table: Table) -> Classification:
    """Classify a change for a writer of the table, by its INSERTs and the columns it names."""
    code = writer.code or References(unknown=("its code is not known",))
    inserts = [insert for insert in code.inserts if table.may_be(insert.table)]
    without_columns = [insert for insert in inserts if not insert.columns]
    if change.is_addition:
        is_required = change.effect == "added_required"
        if without_columns:
            lines = _lines_of(writer, without_columns, change)
            return Classification("breaking" if is_required else "warning", lines)
        if is_required and (inserts or code.unknown):
            lines = _lines_of(writer, inserts, change)
            reads_only = Evidence.reads_only((writer.urn, table.urn), writer)
            return Classification("warning", lines or [reads_only])
        return Classification()
    column = fold_case(change.column)
    written = [reference for reference in code.written if reference.column == column]
    own = (reference for reference in written if table.may_be(reference.table))
    evidence = _lines_of(writer, own, change)
    if not evidence and change.effect == "gone":
        evidence = _lines_of(writer, without_columns, change)
    return Classification(change.severity, evidence) if evidence else Classification()


def _lines_of(
    consumer: Consumer, lines: Iterable[Reference | Insert], change: PropagatedChange
) -> list[Evidence]:
    return first_distinct(Evidence.line_of(consumer, line, change.path) for line in lines)


def _carries(flow: ColumnFlow, column: str) -> bool:
    if flow.source_column == ALL:
        return column not in flow.without
    return flow.source_column == column


def _is_edge_of(edge: ColumnEdge, consumer: Consumer) -> bool:
    if consumer.kind == "DATASET":
        return not edge.job and edge.dataset == consumer.urn
    return edge.job == consumer.urn and edge.dataset in consumer.outputs
