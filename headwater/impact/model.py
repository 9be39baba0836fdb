"""The dependency model of an assessment: tables, their consumers, and the changes between them.

The model consists of values only, so that the rules of severity can be tested without a graph or
files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Literal

from headwater.code_analysis.model import ALL, References, TableName
from headwater.code_analysis.names import fold_case, may_be_table, name_parts
from headwater.code_analysis.suffix_index import SuffixIndex
from headwater.lineage.questions.downstream import ColumnEdge
from headwater.schema.urns import column_urn, parse_urn

# The effect on a column: dropped or made from a dropped one, renamed, its type narrowed or
# widened, its meaning changed, added (with or without NOT NULL), no longer refreshed, or changed
# by code that is not known.
Effect = Literal[
    "gone",
    "renamed",
    "narrowed",
    "widened",
    "redefined",
    "added",
    "added_required",
    "stale",
    "unassessed",
]
_RANK: dict[Effect, int] = {
    "added": 0,
    "stale": 1,
    "unassessed": 2,
    "redefined": 3,
    "widened": 4,
    "added_required": 5,
    "narrowed": 6,
    "renamed": 7,
    "gone": 8,
}
_BREAKING: tuple[Effect, ...] = ("gone", "renamed", "narrowed")
Severity = Literal["breaking", "unknown", "warning"]
_SEVERITIES: tuple[Severity, ...] = ("warning", "unknown", "breaking")
# The most changes of one assessment. One of more is cut short.
CHANGES_MAX = 50_000
# Returns the column edges that leave each of many columns, by urn.
ColumnEdgeReader = Callable[[Iterable[str]], Mapping[str, list[ColumnEdge]]]


def worse(first: Severity, second: Severity) -> Severity:
    """Return the worse of two severities: breaking, then unknown, then warning."""
    return max(first, second, key=_SEVERITIES.index)


def _no_code() -> None:
    """Return None: the code is not known."""


@dataclass(frozen=True)
class Table:
    """A dataset, or a table that only code names. `columns` is None if they are not known.

    other_name: a name that code may use as well: the place of a registered table."""

    urn: str
    name: str
    columns: tuple[str, ...] | None = None
    other_name: str = ""

    def may_be(self, written: TableName) -> bool:
        """Return True if code may mean this table by a name."""
        return any(may_be_table(written, name) for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that code may use."""
        return (self.name, self.other_name) if self.other_name else (self.name,)

    def spelling_of(self, column: str) -> str:
        """Return a column name as the table spells it."""
        return self._spellings.get(fold_case(column), column)

    def column_urn(self, column: str) -> str:
        """Return the urn of a column. For a table that only code names, it ends with the name."""
        urn = self._column_urns.get(column)
        if urn is None:
            urn = f"{self.urn}:{column}"
            if self.urn.startswith("dataset:"):
                namespace, name = parse_urn(self.urn).parts
                urn = column_urn(namespace, name, self.spelling_of(column))
            self._column_urns[column] = urn
        return urn

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return {fold_case(column): column for column in self.columns or ()}

    @cached_property
    def _column_urns(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True)
class Consumer:
    """A job, a dataset made by an unknown job, or a file.

    outputs: the tables it makes, each with the tables it is known to come from, or None for any.
    load_code: reads the references of its code, when they are first needed.
    path: the file of its code, "" for code that a producer sent.
    covered: its column lineage is complete, so that a missing edge rules a reference out."""

    urn: str
    kind: Literal["JOB", "DATASET", "FILE"] = "JOB"
    outputs: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    load_code: Callable[[], References | None] = _no_code
    path: str = ""
    covered: bool = False
    is_hidden: bool = False

    @cached_property
    def code(self) -> References | None:
        """Return the references of its code; None if the code is not known."""
        return self.load_code()

    def outputs_from(self, table: str) -> list[str]:
        """Return the outputs that may come from a table."""
        return [
            output
            for output, sources in self.outputs.items()
            if sources is None or table in sources
        ]


@dataclass(frozen=True)
class PropagatedChange:
    """A change that reaches a column of a table, or, with the column ALL, the whole table.

    sure: False if it only may reach it.
    distance: the number of consumers on the way.
    path: the urns of the columns or tables on the way.
    of_table: the column is affected because its whole table is."""

    table: str
    column: str
    effect: Effect
    sure: bool = True
    distance: int = 0
    path: tuple[str, ...] = ()
    of_table: bool = False

    @property
    def rank(self) -> tuple[bool, int]:
        """Return a value that is higher for a worse change."""
        return self.sure, _RANK[self.effect]

    @property
    def is_start(self) -> bool:
        """Return True for the planned change itself."""
        return len(self.path) <= 1

    @property
    def is_addition(self) -> bool:
        return self.effect in ("added", "added_required")

    @property
    def severity(self) -> Severity:
        """Return the severity for a consumer that refers to the column."""
        if self.effect == "unassessed":
            return "unknown"
        return "breaking" if self.sure and self.effect in _BREAKING else "warning"

    def through(
        self,
        consumer: Consumer,
        table: str,
        column: str,
        step: str,
        *,
        same: bool,
        sure: bool = True,
    ) -> PropagatedChange:
        """Return the change of an output column of a consumer.

        step: the urn that joins the path.
        same: the values are handed on unchanged; otherwise new values are made of them."""
        effect: Effect = self.effect
        if not same and effect not in ("gone", "stale", "unassessed"):
            effect = "gone" if effect == "renamed" else "redefined"
        return replace(
            self,
            table=table,
            column=column,
            effect=effect,
            sure=self.sure and sure,
            distance=self.distance + (0 if consumer.is_hidden else 1),
            path=(*self.path, step),
            of_table=False,
        )

    def as_stale(self, consumer: Consumer, table: str) -> PropagatedChange:
        """Return the doubt about an output table: an unknown part of it may be old or wrong."""
        change = self.through(consumer, table, ALL, table, same=False, sure=False)
        return replace(change, effect="stale")

    def as_unassessed(self, consumer: Consumer, table: str) -> PropagatedChange:
        """Return the change of an output table by code that is not known: it may be any."""
        return replace(self.as_stale(consumer, table), effect="unassessed")


@dataclass(frozen=True)
class DependencyModel:
    """Tables by urn, the consumers of each table, and the column edges between them.

    writers: the jobs that make each changed dataset."""

    tables: Mapping[str, Table]
    consumers: Mapping[str, list[Consumer]]
    column_edges: ColumnEdgeReader
    writers: Mapping[str, list[Consumer]] = field(default_factory=dict)

    def table(self, urn: str) -> Table:
        """Return a table; one that is not in the model has the end of its urn as name."""
        return self.tables.get(urn) or Table(urn, urn.rpartition(":")[2])

    def is_other_input(self, written: TableName, consumer: Consumer, table: str) -> bool:
        """Return True if a name in the code of a consumer may mean a table that it reads beside
        this one."""
        matching = self._tables_read.matching(name_parts(".".join(written)))
        urns = chain.from_iterable(found.values() for found in matching)
        return any(urn != table and consumer.urn in self._readers(urn) for urn in urns)

    @cached_property
    def _tables_read(self) -> SuffixIndex[str]:
        """Return the tables that have consumers, by their names."""
        tables: SuffixIndex[str] = SuffixIndex()
        for urn in self.consumers:
            for name in self.table(urn).names:
                tables.add(name_parts(name), urn)
        return tables

    def _readers(self, table: str) -> frozenset[str]:
        """Return the urns of the consumers of a table."""
        readers = self._known_readers.get(table)
        if readers is None:
            readers = frozenset(consumer.urn for consumer in self.consumers[table])
            self._known_readers[table] = readers
        return readers

    @cached_property
    def _known_readers(self) -> dict[str, frozenset[str]]:
        return {}

    def column_changes(self, change: PropagatedChange) -> list[PropagatedChange]:
        """Return a sure change of a whole table as changes of its known columns."""
        if change.column != ALL or not change.sure:
            return []
        table = self.table(change.table)
        changes = []
        for column in table.columns or ():
            path = (*change.path, table.column_urn(column))
            changes.append(replace(change, column=column, path=path, of_table=True))
        return changes
