"""The sources of one SELECT, and the table columns that a name in it stands for.

A name without a qualifier belongs to the source that is known to have the column. If none is, it
belongs to the only source, or to each source with unknown columns; then the reference is not
sure.

`outputs` uses sqlglot's own scopes. They do not fit here: they leave out the targets of UPDATE,
DELETE and MERGE and the right side of a semi join, and match the names of WITH by case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from headwater.code_analysis.model import ALL, TableName
from headwater.code_analysis.names import fold_case
from headwater.code_analysis.sql.sqlglot_helpers import alias_columns

TableColumn = tuple[TableName, str]


@dataclass(frozen=True)
class Output:
    """A column that a query puts out and the table columns it comes from.

    With the name ALL it stands for all columns of a table whose columns are not known, except
    `without`."""

    name: str
    columns: frozenset[TableColumn]
    sure: bool = True
    without: frozenset[str] = frozenset()


@dataclass
class Source:
    """A table or a query in FROM. `is_open`: it may have more columns than its outputs."""

    table: TableName | None = None
    outputs: list[Output] = field(default_factory=list)
    is_open: bool = False
    _resolved: dict[str, tuple[frozenset[TableColumn], bool]] = field(
        default_factory=dict, init=False, compare=False
    )

    @cached_property
    def by_name(self) -> dict[str, list[Output]]:
        """Return the outputs by name."""
        outputs: dict[str, list[Output]] = defaultdict(list)
        for output in self.outputs:
            outputs[output.name].append(output)
        return outputs

    @property
    def tables(self) -> set[TableName]:
        """Return the tables that its outputs come from."""
        return _tables_of(self.outputs)

    def resolve(self, name: str) -> tuple[frozenset[TableColumn], bool]:
        """Return the table columns of one of its columns, and whether that is sure."""
        if name not in self._resolved:
            self._resolved[name] = self._resolve(name)
        return self._resolved[name]

    def _resolve(self, name: str) -> tuple[frozenset[TableColumn], bool]:
        named = self.by_name.get(name)
        if named:
            columns = frozenset[TableColumn]().union(*(output.columns for output in named))
            return columns, all(output.sure for output in named)
        stars = [output for output in self.by_name.get(ALL, ()) if name not in output.without]
        if stars:
            tables = _tables_of(stars)
            return frozenset((table, name) for table in tables), len(stars) == 1
        return frozenset([(self.table, name)] if self.table is not None else ()), True

    def may_have(self, name: str) -> bool:
        """Return True if it is not known to lack the column."""
        return self.is_open or ALL in self.by_name or name in self.by_name


# The outputs of the queries that WITH names.
NamedQueries = dict[str, list[Output]]


@dataclass
class SelectScope:
    """The names that one SELECT, or a statement that changes a table, can use.

    outer: the scope around a correlated subquery.
    aliases: the outputs that the SELECT has named so far."""

    outer: SelectScope | None
    queries: NamedQueries
    sources: dict[str, Source] = field(default_factory=dict)
    aliases: dict[str, Output] = field(default_factory=dict)

    def add_source(self, name: str, source: Source) -> None:
        """Add a source under its name or, if it has none, under its number."""
        self.sources[name or f"#{len(self.sources)}"] = source

    def qualified(self, qualifier: str) -> Source | None:
        """Return the source of this name, here or in a scope around."""
        for scope in self.scopes():
            if qualifier in scope.sources:
                return scope.sources[qualifier]
        return None

    def scopes(self) -> Iterator[SelectScope]:
        """Yield this scope and those around it, from the inside out."""
        scope: SelectScope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def resolve(self, name: str) -> tuple[set[TableColumn], bool]:
        """Return the table columns that an unqualified name may mean, and whether that is sure."""
        columns: set[TableColumn] = set()
        sure = True
        for scope in self.scopes():
            sources = list(scope.sources.values())
            having = [source for source in sources if name in source.by_name]
            candidates = having or [source for source in sources if source.may_have(name)]
            sure = sure and len(candidates) <= 1 and not (columns and candidates)
            for source in candidates:
                origins, is_sure = source.resolve(name)
                columns |= origins
                sure = sure and is_sure
            if having:
                break
        tables = [source.table for source in self.sources.values() if source.table is not None]
        if columns or not tables:
            return columns, sure
        # The known columns are out of date, or the name is an alias.
        return {(table, name) for table in tables}, len(tables) == 1

    def without_table(self, table: TableName) -> SelectScope:
        """Return the scope without the table that the statement changes."""
        others = {name: source for name, source in self.sources.items() if source.table != table}
        return replace(self, sources=others)


def _tables_of(outputs: list[Output]) -> set[TableName]:
    tables: set[TableName] = set()
    for output in outputs:
        tables.update(table for table, _ in output.columns)
    return tables


def rename_outputs(outputs: list[Output], node: exp.Expr) -> list[Output]:
    """Return outputs under the names that an alias gives them: `AS t (a, b)`."""
    names = [fold_case(name) for name in alias_columns(node)]
    if not names or any(output.name == ALL for output in outputs):
        return outputs
    renamed = [replace(output, name=name) for output, name in zip(outputs, names, strict=False)]
    return renamed + outputs[len(names) :]


def union_outputs(sides: Iterable[list[Output]]) -> list[Output]:
    """Return the outputs of a UNION: by position, under the names of the first side."""
    positions: list[list[Output]] = []
    for side in sides:
        if len(side) == len(positions):
            for position, output in zip(positions, side, strict=True):
                position.append(output)
        else:
            positions += [[output] for output in side]
    return [_merge(position) for position in positions]


def _merge(outputs: list[Output]) -> Output:
    columns = frozenset[TableColumn]().union(*(output.columns for output in outputs))
    return replace(outputs[0], columns=columns, sure=all(output.sure for output in outputs))


def distinct_stars(outputs: list[Output]) -> list[Output]:
    """Return outputs with each star once; the position of a column beside a star has no use."""
    stars: set[Output] = set()
    distinct = []
    for output in outputs:
        if output.name != ALL:
            distinct.append(output)
        elif output not in stars:
            stars.add(output)
            distinct.append(output)
    return distinct


def count_columns(outputs: Iterable[Output]) -> int:
    """Return the number of outputs and of the table columns that they come from."""
    return sum(1 + len(output.columns) for output in outputs)
