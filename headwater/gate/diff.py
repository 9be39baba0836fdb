"""The difference between the tables that files define before and after.

All changed files are compared together, so that a definition that moves to another file does not
change. A removed and an added column are one renamed column if no other pair has the same
expression.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from headwater.code_analysis.model import (
    CODE,
    FILLED,
    MODEL,
    SEED,
    TABLE,
    ColumnDefinition,
    FileContents,
    TableChange,
    TableDefinition,
)
from headwater.code_analysis.sql.ddl import column_add

_REMOVAL: dict[str, dict[str, Any]] = {
    MODEL: {"type": "job_delete"},
    FILLED: {"type": "semantics_change", "description": "the statement that filled it is gone"},
    CODE: {"type": "semantics_change", "description": "the code that wrote it is gone"},
}
Columns = dict[str, ColumnDefinition]


def diff(before: FileContents, after: FileContents, moved: Mapping[str, str]) -> list[TableChange]:
    """Return all changes, those of one table together.

    `moved`: new table names by old lower-case name."""
    created = after.tables.keys() - before.tables.keys()
    # A statement of a migration counts once, when it is new.
    applied = [(change.table, change.change) for change in before.changes]
    changes = [
        replace(change, is_new=change.table.lower() in created)
        for change in after.changes
        if (change.table, change.change) not in applied
    ]
    old, new = dict(before.tables), dict(after.tables)
    for key, name in sorted(moved.items()):
        target = name.lower()
        if key in old and key not in new and target in new and target not in old:
            changes += _renamed_table(old.pop(key), new.pop(target))
    for key in sorted(old.keys() | new.keys()):
        if key not in new:
            changes += _removed_table(old[key], after)
        elif key not in old:
            changes += _added_table(new[key])
        else:
            changes += _changed_table(old[key], new[key])
    return changes


def diff_documented(
    before: FileContents, after: FileContents, defined: set[str]
) -> list[TableChange]:
    """Return the changes of schema files, except for tables that changed code defines."""
    keys = sorted((before.tables.keys() & after.tables.keys()) - defined)
    changes: list[TableChange] = []
    for key in keys:
        changes += _changed_table(before.tables[key], after.tables[key])
    return changes


def merge(files: Mapping[str, FileContents]) -> FileContents:
    """Return the contents of all files together.

    A definition of a table comes before statements that fill it."""
    merged = FileContents()
    for _, contents in sorted(files.items()):
        for key, table in contents.tables.items():
            existing = merged.tables.get(key)
            if existing is None or (_is_fill(existing) and not _is_fill(table)):
                merged.tables[key] = table
            elif existing.kind == table.kind and existing.kind in {FILLED, CODE, MODEL, SEED}:
                merged.tables[key] = _merged_table(existing, table)
        merged.changes += contents.changes
    return merged


def _is_fill(table: TableDefinition) -> bool:
    return table.kind in {FILLED, CODE}


def _merged_table(first: TableDefinition, second: TableDefinition) -> TableDefinition:
    row_logic = "\n".join(part for part in (first.row_logic, second.row_logic) if part)
    return TableDefinition(
        first.name,
        first.kind,
        {**first.columns, **second.columns},
        first.is_open or second.is_open,
        row_logic,
        first.file,
        first.line,
    )


def _renamed_table(old: TableDefinition, new: TableDefinition) -> Iterator[TableChange]:
    rename = {"type": "table_rename", "to": new.name}
    yield TableChange(old.name, old.kind, rename, new.file, new.line)
    yield from _changed_table(old, new)


def _removed_table(table: TableDefinition, after: FileContents) -> Iterator[TableChange]:
    is_changed = any(change.table.lower() == table.key for change in after.changes)
    if not is_changed and table.is_enforced:
        change = _REMOVAL.get(table.kind, {"type": "table_drop"})
        yield TableChange(table.name, table.kind, change, table.file)


def _added_table(table: TableDefinition) -> Iterator[TableChange]:
    """Yield the change of a new definition: none, unless it replaces a known table."""
    if not table.replaces:
        return
    change = {"type": "semantics_change", "description": "another definition replaces it"}
    names = () if table.is_open else tuple(column.name for column in table.columns.values())
    yield TableChange(table.name, table.kind, change, table.file, table.line, names, is_new=True)


def _changed_table(old: TableDefinition, new: TableDefinition) -> Iterator[TableChange]:
    """Yield the changes between two definitions of one table."""
    comparison = _Comparison(old, new)
    yield from comparison.listing_changes()
    yield from comparison.untracked_removals()
    yield from comparison.column_changes()
    if old.row_logic != new.row_logic:
        is_code = CODE in (old.kind, new.kind)
        reason = (
            "the code that writes it changed" if is_code else "its sources or conditions changed"
        )
        yield comparison.change({"type": "semantics_change", "description": reason})


@dataclass
class _Comparison:
    """Two definitions of one table, with the columns that only one of them has."""

    old: TableDefinition
    new: TableDefinition

    def __post_init__(self) -> None:
        old, new = self.old, self.new
        self.removed: Columns = {}
        self.added: Columns = {}
        if new.is_enforced and not (new.is_open and not old.is_open):
            self.removed = {
                key: column for key, column in old.columns.items() if key not in new.columns
            }
        if new.is_enforced and not (old.is_open and not new.is_open):
            self.added = {
                key: column for key, column in new.columns.items() if key not in old.columns
            }

    def change(
        self, change: dict[str, Any], line: int = 0, columns: tuple[str, ...] = ()
    ) -> TableChange:
        """Return a change of the table."""
        new = self.new
        return TableChange(self.old.name, new.kind, change, new.file, line or new.line, columns)

    def listing_changes(self) -> Iterator[TableChange]:
        """Yield the change from a `*` to a list of columns, or back."""
        old, new = self.old, self.new
        change = {"type": "semantics_change"}
        if old.is_open and not new.is_open and new.kind != FILLED:
            # The graph knows the columns that the star stood for.
            change["description"] = "its columns are now listed one by one"
            names = tuple(column.name for column in new.columns.values())
            yield self.change(change, columns=names)
        elif new.is_open and not old.is_open:
            change["description"] = "its columns are no longer listed one by one"
            yield self.change(change)

    def untracked_removals(self) -> Iterator[TableChange]:
        """Yield columns that code removes or renames in a table whose columns are not all known."""
        old, new = self.old, self.new
        for key in sorted(new.removed.keys() - old.removed.keys() - old.columns.keys()):
            name = new.removed[key]
            if name:
                self.added.pop(name.lower(), None)
                yield self.change({"type": "column_rename", "from": key, "to": name})
            else:
                yield self.change({"type": "column_drop", "column": key})

    def column_changes(self) -> Iterator[TableChange]:
        """Yield renamed, dropped, added and changed columns."""
        renamed = self._renamed_columns()
        for key, column in renamed.items():
            name = self.removed[key].name
            change = {"type": "column_rename", "from": name, "to": column.name}
            yield self.change(change, column.line)
        for key in sorted(self.removed.keys() - renamed.keys()):
            yield self.change({"type": "column_drop", "column": self.removed[key].name})
        new_names = {column.name.lower() for column in renamed.values()}
        for key in sorted(self.added.keys() - new_names):
            yield self.change(column_add(self.added[key]), self.added[key].line)
        for key in sorted(self.old.columns.keys() & self.new.columns.keys()):
            column = self.new.columns[key]
            for change in _changed_column(self.old.columns[key], column):
                yield self.change(change, column.line)

    def _renamed_columns(self) -> Columns:
        """Return the renamed columns by old name."""
        swapped = self._swapped_column()
        if swapped:
            return swapped
        old_keys: dict[str, list[str]] = defaultdict(list)
        new_columns: dict[str, list[ColumnDefinition]] = defaultdict(list)
        for key, column in self.removed.items():
            if column.expression is not None:
                old_keys[column.expression].append(key)
        for column in self.added.values():
            if column.expression is not None:
                new_columns[column.expression].append(column)
        return {
            keys[0]: new_columns[expression][0]
            for expression, keys in old_keys.items()
            if len(keys) == len(new_columns[expression]) == 1
        }

    def _swapped_column(self) -> Columns:
        """Return the one column of a CREATE TABLE that has a new name at the same position."""
        if not self.old.kind == self.new.kind == TABLE:
            return {}
        if not len(self.removed) == len(self.added) == 1:
            return {}
        (old_key, old), (new_key, new) = *self.removed.items(), *self.added.items()
        position = list(self.old.columns).index(old_key)
        is_same_position = position == list(self.new.columns).index(new_key)
        if old.expression is None and is_same_position and _is_same_type(old.type, new.type):
            return {old_key: new}
        return {}


def _changed_column(old: ColumnDefinition, new: ColumnDefinition) -> Iterator[dict[str, Any]]:
    """Yield the change of a column that keeps its name."""
    if old.expression is None and new.expression is None:
        if new.type and not _is_same_type(old.type, new.type):
            change = {"type": "column_type_change", "column": new.name, "to": new.type}
            yield change | ({"from": old.type} if old.type else {})
        return
    if old.expression == new.expression:
        return
    before, after = old.cast, new.cast
    is_recast = before is not None and after is not None and before[0] == after[0]
    if before and after and is_recast and not _is_same_type(old.type, new.type):
        change = {"type": "column_type_change", "column": new.name}
        yield change | {"from": before[1], "to": after[1]}
    else:
        change = {"type": "semantics_change", "column": new.name}
        yield change | {"description": "its expression changed"}


def _is_same_type(first: str | None, second: str | None) -> bool:
    return _normalise_type(first) == _normalise_type(second)


def _normalise_type(type: str | None) -> str:
    return re.sub(r"\s+", "", type or "").lower()
