"""The statements of one session, in order, as writes to datasets.

A temporary table is no dataset. What is read from it is traced to the tables that filled it. What
is written between BEGIN and ROLLBACK is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headwater.code_analysis.model import ALL, References, TableName
from headwater.code_analysis.names import fold_case
from headwater.code_analysis.sql.script import Kind, Statement
from headwater.importers.events import DatasetName, Field
from headwater.importers.sql.names import NameRules


@dataclass(frozen=True)
class Write:
    """A statement that changes a dataset, or reads only (`target` is None).

    inputs: the datasets that it reads.
    direct: the columns that each written column comes from.
    indirect: the columns that decide which rows are written.
    columns: all columns of the target, as far as the script shows them, with types or "".
    lifecycle: a change of the dataset as OpenLineage names it, or "".
    previous: the former name after a RENAME.
    unknown: reasons why it may read more."""

    statement: Statement
    target: DatasetName | None
    inputs: frozenset[DatasetName] = frozenset()
    direct: dict[str, set[Field]] = field(default_factory=dict)
    indirect: frozenset[Field] = frozenset()
    columns: tuple[tuple[str, str], ...] = ()
    lifecycle: str = ""
    previous: DatasetName | None = None
    unknown: tuple[str, ...] = ()


@dataclass
class _Temporary:
    """A temporary table: the datasets and the columns that filled it."""

    inputs: set[DatasetName] = field(default_factory=set)
    direct: dict[str, set[Field]] = field(default_factory=dict)
    indirect: set[Field] = field(default_factory=set)
    columns: tuple[str, ...] = ()


# Columns of datasets that CREATE statements define, with their types; sessions share them.
KnownColumns = dict[DatasetName, tuple[tuple[str, str], ...]]


class Session:
    """Turns statements into writes. It keeps the database in use and the temporary tables.

    `known` has the columns of tables; statements that define tables add to it."""

    def __init__(self, rules: NameRules, known: KnownColumns) -> None:
        self.rules = rules
        self._known = known
        self._temporary: dict[str, _Temporary] = {}
        # The writes since BEGIN; None outside of a transaction.
        self._waiting: list[Write] | None = None

    def run(self, statement: Statement) -> Iterator[Write]:
        """Yield the writes that a statement makes final: its own, or those that it commits."""
        kind = statement.kind
        if kind is Kind.BEGIN:
            yield from self.end()
            self._waiting = []
        elif kind is Kind.COMMIT:
            yield from self.end()
        elif kind is Kind.ROLLBACK:
            self._waiting = None
        elif kind is Kind.USE:
            self.rules = self.rules.use(*statement.target)
        else:
            write = self._write(statement)
            if write is not None and self._waiting is not None:
                self._waiting.append(write)
            elif write is not None:
                yield write

    def end(self) -> Iterator[Write]:
        """Yield the writes of a transaction that has no end yet."""
        yield from self._waiting or ()
        self._waiting = None

    def _write(self, statement: Statement) -> Write | None:
        """Return the write of a statement; None for one that changes no dataset."""
        if statement.kind in (Kind.QUERY, Kind.WRITE):
            return self._read(statement)
        temporary = self._temporary_of(statement.target)
        if statement.kind is Kind.DEFINE:
            return self._define(statement)
        if temporary is not None:
            self._change_temporary(statement)
            return None
        if statement.kind is Kind.EMPTY:
            return self._lifecycle(statement, "TRUNCATE")
        if statement.kind is Kind.DROP:
            dataset = self.rules.dataset(statement.target)
            is_known = self._known.pop(dataset, None) is not None
            # A DROP IF EXISTS of an unknown table may name nothing.
            is_real = is_known or not statement.is_conditional
            return self._lifecycle(statement, "DROP") if is_real else None
        if statement.kind is Kind.RENAME:
            return self._rename(statement)
        return None

    def _lifecycle(self, statement: Statement, change: str) -> Write:
        return Write(statement, self.rules.dataset(statement.target), lifecycle=change)

    def _rename(self, statement: Statement) -> Write:
        old = self.rules.dataset(statement.target)
        new = self.rules.dataset(statement.renamed_to)
        if old in self._known:
            self._known[new] = self._known.pop(old)
        return Write(statement, new, lifecycle="RENAME", previous=old)

    def _define(self, statement: Statement) -> Write | None:
        if statement.is_temporary:
            columns = tuple(name for name, _ in statement.columns)
            self._temporary[_temporary_key(statement.target)] = _Temporary(columns=columns)
            return None
        dataset = self.rules.dataset(statement.target)
        if statement.columns:
            self._known[dataset] = statement.columns
        return Write(statement, dataset, columns=statement.columns, lifecycle="CREATE")

    def _change_temporary(self, statement: Statement) -> None:
        key = _temporary_key(statement.target)
        if statement.kind is Kind.RENAME:
            self._temporary[_temporary_key(statement.renamed_to)] = self._temporary.pop(key)
        elif statement.kind is Kind.DROP:
            del self._temporary[key]
        else:
            self._temporary[key] = _Temporary(columns=self._temporary[key].columns)

    def _read(self, statement: Statement) -> Write | None:
        """Return the write of a statement that reads tables; one of a temporary table is kept."""
        references = statement.references(self._columns_of)
        filled = self._filled(statement, references)
        if statement.kind is Kind.QUERY:
            inputs = frozenset(filled.inputs)
            return Write(statement, None, inputs, unknown=references.unknown)
        if statement.is_temporary or self._temporary_of(statement.target) is not None:
            self._fill_temporary(statement, filled)
            return None
        target = self.rules.dataset(statement.target)
        columns: tuple[tuple[str, str], ...] = ()
        if statement.replaces and filled.columns:
            columns = tuple((name, "") for name in filled.columns)
            self._known[target] = columns
        return Write(
            statement,
            target,
            frozenset(filled.inputs),
            filled.direct,
            frozenset(filled.indirect),
            columns,
            unknown=references.unknown,
        )

    def _fill_temporary(self, statement: Statement, filled: _Temporary) -> None:
        key = _temporary_key(statement.target)
        before = self._temporary.get(key)
        if before is not None and not statement.replaces:
            filled.inputs |= before.inputs
            filled.indirect |= before.indirect
            for column, sources in before.direct.items():
                filled.direct.setdefault(column, set()).update(sources)
            filled.columns = before.columns or filled.columns
        self._temporary[key] = filled

    def _filled(self, statement: Statement, references: References) -> _Temporary:
        """Return the inputs and columns of a statement, traced through temporary tables."""
        filled = _Temporary()
        # The names behind a `*` are not in the statement.
        known = [name for table in references.tables for name in self._columns_of(table) or ()]
        spellings = {**statement.spellings, **{fold_case(name): name for name in known}}
        filled.columns = tuple(spellings.get(name, name) for name in references.outputs)
        # A statement that changes rows names its own table without reading other rows of it.
        own = {statement.target} if statement.verb in ("update", "delete", "merge") else set()
        for table in references.tables - own:
            if not all(part.strip() for part in table):
                continue
            temporary = self._temporary_of(table)
            filled.inputs |= temporary.inputs if temporary else {self.rules.dataset(table)}
            filled.indirect |= temporary.indirect if temporary else set()
        for flow in references.flows:
            is_star = ALL in (flow.column, flow.source_column)
            if flow.sure and not is_star and flow.source not in own:
                column = spellings.get(flow.column, flow.column)
                sources = self._origins(flow.source, flow.source_column, spellings)
                filled.direct.setdefault(column, set()).update(sources)
        for read in references.read:
            if read.indirect and read.sure and read.column != ALL and read.table not in own:
                filled.indirect |= self._origins(read.table, read.column, spellings)
        return filled

    def _origins(self, table: TableName, column: str, spellings: Mapping[str, str]) -> set[Field]:
        """Return the columns of datasets that a column of a table comes from."""
        name = spellings.get(column, column)
        temporary = self._temporary_of(table)
        if temporary is not None:
            return temporary.direct.get(name, set())
        return {(self.rules.dataset(table), name)}

    def _columns_of(self, table: TableName) -> list[str] | None:
        """Return the columns of a table, if a statement before showed them."""
        temporary = self._temporary_of(table)
        if temporary is not None:
            return list(temporary.columns) or None
        known = self._known.get(self.rules.dataset(table))
        return [name for name, _ in known] if known else None

    def _temporary_of(self, table: TableName) -> _Temporary | None:
        """Return the temporary table of a name. It hides a table of the same name."""
        is_local = len(table) == 1 or (len(table) == 2 and table[0].startswith("pg_temp"))
        return self._temporary.get(_temporary_key(table)) if is_local else None


def _temporary_key(table: TableName) -> str:
    return table[-1].casefold() if table else ""
