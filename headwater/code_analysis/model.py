"""The values that readers of code return: columns read, and tables defined or changed.

`References` is the view of impact: which columns a source reads, and which outputs they flow
into. `FileContents` is the view of the gate: which tables a file defines, and which changes it
makes to others. Column names are case-folded. Table names stay as written, outermost part first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Stands for every column of a table, as in SELECT *.
ALL = "*"
# Stands where a name is only known when the code runs.
UNKNOWN_NAME = "headwater_unknown"
LINE_CHARACTERS_MAX = 200
# More than people write; the references of a source with more are unknown.
REFERENCES_MAX = 50_000

TableName = tuple[str, ...]
# Returns the columns of a table, or None if they are not known.
ColumnLookup = Callable[[TableName], list[str] | None]

# The kinds of a table definition: a dbt model, a seed, a CREATE TABLE or VIEW, an INSERT that
# fills a table, code, and a source that dbt describes.
MODEL, SEED, TABLE, VIEW = "model", "seed", "table", "view"
FILLED, CODE, SOURCE = "filled", "code", "source"


class UnreadableError(Exception):
    """A file that cannot be analysed; the message gives the reason."""


@dataclass(frozen=True)
class Reference:
    """One column of one table, at a line of code.

    sure: False if the column may belong to another table.
    indirect: the code filters, joins, groups or sorts rows by it.
    by_position: the columns of this `*` are matched by position (UNION, INSERT)."""

    table: TableName
    column: str
    line: int
    text: str
    sure: bool = True
    indirect: bool = False
    by_position: bool = False


@dataclass(frozen=True)
class ColumnFlow:
    """The source of a written column.

    `target` is () if the code does not name the table it writes. A flow from ALL to ALL passes
    every column on under its own name, except those in `without`."""

    target: TableName
    column: str
    source: TableName
    source_column: str
    sure: bool = True
    without: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Insert:
    """Rows put into an existing table; `columns` is () if the statement has no list of columns."""

    table: TableName
    columns: tuple[str, ...]
    line: int
    text: str


@dataclass(frozen=True)
class References:
    """All references of one source.

    tables, targets: the tables that the code reads and writes.
    outputs: the columns of the last query that the code writes or puts out, in order; () if they
    are not all known.
    unknown: reasons why a column may be used although it is not in `read`.
    words: all words of code that is not SQL; a column that is not among them is not named there."""

    read: tuple[Reference, ...] = ()
    written: tuple[Reference, ...] = ()
    flows: tuple[ColumnFlow, ...] = ()
    inserts: tuple[Insert, ...] = ()
    tables: frozenset[TableName] = frozenset()
    targets: frozenset[TableName] = frozenset()
    outputs: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


@dataclass
class ReferenceCollector:
    """References while a reader collects them; dicts keep their order and drop duplicates."""

    read: dict[Reference, None] = field(default_factory=dict)
    written: dict[Reference, None] = field(default_factory=dict)
    flows: dict[ColumnFlow, None] = field(default_factory=dict)
    inserts: dict[Insert, None] = field(default_factory=dict)
    tables: set[TableName] = field(default_factory=set)
    targets: set[TableName] = field(default_factory=set)
    outputs: tuple[str, ...] = ()
    unknown: dict[str, None] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)

    def to_references(self) -> References:
        """Return the collected references as a value."""
        return References(
            tuple(self.read),
            tuple(self.written),
            tuple(self.flows),
            tuple(self.inserts),
            frozenset(self.tables),
            frozenset(self.targets),
            self.outputs,
            tuple(self.unknown),
            frozenset(self.words),
        )

    def add(self, other: References) -> None:
        """Add all references of another piece of the same source."""
        self.read.update(dict.fromkeys(other.read))
        self.written.update(dict.fromkeys(other.written))
        self.flows.update(dict.fromkeys(other.flows))
        self.inserts.update(dict.fromkeys(other.inserts))
        self.tables |= other.tables
        self.targets |= other.targets
        self.outputs = other.outputs or self.outputs
        self.unknown.update(dict.fromkeys(other.unknown))
        self.words |= other.words


def merge_references(pieces: Iterable[References]) -> References:
    """Return the references of a source from those of its pieces."""
    collector = ReferenceCollector()
    for piece in pieces:
        collector.add(piece)
    return collector.to_references()


def unknown_references(reason: str) -> References:
    """Return the references of a source that cannot be read."""
    return References(unknown=(reason,))


def no_columns(_table: TableName) -> None:
    """Return None: a ColumnLookup for code whose tables have no known columns."""


def line_text(lines: list[str], number: int) -> str:
    """Return a line, numbered from 1, as evidence shows it."""
    return lines[number - 1].strip()[:LINE_CHARACTERS_MAX] if 0 < number <= len(lines) else ""


@dataclass(frozen=True)
class ColumnDefinition:
    """A column of a table that a file defines.

    expression: the normalised source of its values, if known.
    type: the declared type, or the type it is cast to.
    cast: the expression that is cast and its type, if the whole expression is a cast."""

    name: str
    expression: str | None = None
    type: str | None = None
    nullable: bool = True
    cast: tuple[str, str] | None = None
    line: int = 1


@dataclass(frozen=True)
class TableDefinition:
    """A table, view or model as one file defines it.

    columns: by lower-case name, in order.
    is_open: there may be more columns, because a `*` could not be resolved.
    row_logic: the text of everything else that decides its rows: sources, joins, conditions.
    replaces: the statement replaces an existing table; the graph knows the columns before.
    is_enforced: its columns are a contract, not only a description (dbt).
    removed: columns removed from a table with unknown columns, each with its new name if it was
    renamed."""

    name: str
    kind: str
    columns: Mapping[str, ColumnDefinition] = field(default_factory=dict)
    is_open: bool = False
    row_logic: str = ""
    file: str = ""
    line: int = 1
    replaces: bool = False
    is_enforced: bool = True
    removed: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class TableChange:
    """One change to a table, as the API takes it but without the urn, and its place in the code.

    columns: all columns that the table has after the change; the graph knows those before.
    is_new: the same branch creates the table, so that it need not be in the graph."""

    table: str
    kind: str
    change: Mapping[str, Any]
    file: str
    line: int = 1
    columns: tuple[str, ...] = ()
    is_new: bool = False


@dataclass
class FileContents:
    """The tables that a file defines, by lower-case name, and its changes (ALTER, DROP)."""

    tables: dict[str, TableDefinition] = field(default_factory=dict)
    changes: list[TableChange] = field(default_factory=list)
