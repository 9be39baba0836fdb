"""What of the tables changes, from what was there to what is there now.

All files that changed are compared together, so that what moves from one file to another does not change. A column that
is gone and one that is new are one renamed column when no other pair comes from the same expression.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headwater.code_analysis.tables import (
    CODE,
    FILLED,
    MODEL,
    SEED,
    TABLE,
    Column,
    FileContents,
    TableChange,
    TableDefinition,
)

_GONE: dict[str, dict[str, Any]] = {
    MODEL: {"type": "job_delete"},
    FILLED: {"type": "semantics_change", "description": "what filled it is gone"},
    CODE: {"type": "semantics_change", "description": "the code that wrote it is gone"},
}


def diff(before: FileContents, after: FileContents, moved: Mapping[str, str]) -> list[TableChange]:
    """Every change, those of one table together. `moved` are relations by name that are renamed, to what name."""
    created = after.relations.keys() - before.relations.keys()
    found = [
        replace(delta, is_new=delta.relation.lower() in created)
        for delta in after.deltas
        if not _is_known(delta, before)
    ]
    old, new = dict(before.relations), dict(after.relations)
    for key, target in sorted(moved.items()):
        if key in old and key not in new and target.lower() in new and target.lower() not in old:
            one, other = old.pop(key), new.pop(target.lower())
            rename = {"type": "table_rename", "to": other.name}
            found.append(TableChange(one.name, one.made_by, rename, other.file, other.line))
            found += _compared(one, other)
    for key in sorted(old.keys() | new.keys()):
        if key not in new:
            found += _gone(old[key], after)
        elif key not in old:
            found += _appeared(new[key])
        else:
            found += _compared(old[key], new[key])
    return found


def _is_known(delta: TableChange, before: FileContents) -> bool:
    """Whether the statement was there before: a migration counts once."""
    return any(
        (one.relation, one.change) == (delta.relation, delta.change) for one in before.deltas
    )


def _gone(relation: TableDefinition, after: FileContents) -> Iterator[TableChange]:
    dropped = any(delta.relation.lower() == relation.key for delta in after.deltas)
    if not dropped and relation.promised:
        yield TableChange(
            relation.name,
            relation.made_by,
            _GONE.get(relation.made_by, {"type": "table_drop"}),
            relation.file,
        )


def _appeared(relation: TableDefinition) -> Iterator[TableChange]:
    """What is new changes nothing, unless it takes the place of what the graph may know."""
    if relation.replaces:
        names = tuple(column.name for column in relation.columns.values())
        change = {"type": "semantics_change", "description": "it is replaced by another definition"}
        columns = () if relation.open else names
        yield TableChange(
            relation.name,
            relation.made_by,
            change,
            relation.file,
            relation.line,
            columns,
            is_new=True,
        )


def _compared(old: TableDefinition, new: TableDefinition) -> Iterator[TableChange]:
    def delta(change: dict[str, Any], line: int = 0, columns: tuple[str, ...] = ()) -> TableChange:
        return TableChange(old.name, new.made_by, change, new.file, line or new.line, columns)

    if old.open and not new.open and new.made_by != FILLED:
        # What the star stood for is what the graph knows.
        change = {
            "type": "semantics_change",
            "description": "its columns are now listed one by one",
        }
        yield delta(change, columns=tuple(column.name for column in new.columns.values()))
    elif new.open and not old.open:
        yield delta(
            {
                "type": "semantics_change",
                "description": "its columns are no longer listed one by one",
            }
        )
    gone = (
        {}
        if new.open and not old.open
        else {key: one for key, one in old.columns.items() if key not in new.columns}
    )
    fresh = (
        {}
        if old.open and not new.open
        else {k: one for k, one in new.columns.items() if k not in old.columns}
    )
    if not new.promised:
        gone, fresh = {}, {}
    for key in sorted(new.gone.keys() - old.gone.keys() - old.columns.keys()):
        target = new.gone[key]
        fresh.pop((target or "").lower(), None)
        yield delta(
            {"type": "column_rename", "from": key, "to": target}
            if target
            else {"type": "column_drop", "column": key}
        )
    renamed = _renamed(old, new, gone, fresh)
    for key, other in renamed.items():
        yield delta({"type": "column_rename", "from": gone[key].name, "to": other.name}, other.line)
    for key in sorted(gone.keys() - renamed.keys()):
        yield delta({"type": "column_drop", "column": gone[key].name})
    for key in sorted(fresh.keys() - {one.name.lower() for one in renamed.values()}):
        yield delta(_added(fresh[key]), fresh[key].line)
    for key in sorted(old.columns.keys() & new.columns.keys()):
        for change in _changed(old.columns[key], new.columns[key]):
            yield delta(change, new.columns[key].line)
    if old.rest != new.rest:
        yield delta({"type": "semantics_change", "description": _why(old, new)})


def _why(old: TableDefinition, new: TableDefinition) -> str:
    return (
        "the code that writes it changed"
        if CODE in (old.made_by, new.made_by)
        else "what it is selected from changed"
    )


def _added(column: Column) -> dict[str, Any]:
    change: dict[str, Any] = {
        "type": "column_add",
        "column": column.name,
        "nullable": column.nullable,
    }
    return change | ({"data_type": column.type} if column.type else {})


def _renamed(
    old: TableDefinition,
    new: TableDefinition,
    gone: Mapping[str, Column],
    fresh: Mapping[str, Column],
) -> dict[str, Column]:
    """Columns that are gone, by key, and what they are called now."""
    if old.made_by == new.made_by == TABLE and len(gone) == len(fresh) == 1:
        (key, one), (other_key, other) = next(iter(gone.items())), next(iter(fresh.items()))
        at_same_place = list(old.columns).index(key) == list(new.columns).index(other_key)
        if one.expression is None and at_same_place and _same_type(one.type, other.type):
            return {key: other}
    by_expression: dict[str, tuple[list[str], list[Column]]] = defaultdict(lambda: ([], []))
    for key, one in gone.items():
        if one.expression is not None:
            by_expression[one.expression][0].append(key)
    for one in fresh.values():
        if one.expression is not None:
            by_expression[one.expression][1].append(one)
    return {
        keys[0]: others[0]
        for keys, others in by_expression.values()
        if len(keys) == len(others) == 1
    }


def _same_type(one: str | None, other: str | None) -> bool:
    return _tidy(one) == _tidy(other)


def _tidy(type: str | None) -> str:
    return re.sub(r"\s+", "", type or "").lower()


def _changed(old: Column, new: Column) -> Iterator[dict[str, Any]]:
    if old.expression is None and new.expression is None:
        if new.type and not _same_type(old.type, new.type):
            change = {"type": "column_type_change", "column": new.name, "to": new.type}
            yield change | ({"from": old.type} if old.type else {})
    elif old.expression != new.expression:
        if (
            old.cast
            and new.cast
            and old.cast[0] == new.cast[0]
            and not _same_type(old.type, new.type)
        ):
            yield {
                "type": "column_type_change",
                "column": new.name,
                "from": old.cast[1],
                "to": new.cast[1],
            }
        else:
            yield {
                "type": "semantics_change",
                "column": new.name,
                "description": "it is computed otherwise",
            }


def diff_documented(
    before: FileContents, after: FileContents, told_by_code: set[str]
) -> list[TableChange]:
    """Changes of what schema files say of columns. Of a model whose SQL changes too, that tells."""
    both = sorted((before.relations.keys() & after.relations.keys()) - told_by_code)
    return [
        delta for key in both for delta in _compared(before.relations[key], after.relations[key])
    ]


def merge(files: Mapping[str, FileContents]) -> FileContents:
    """What all files say together; of a table that several make, what defines it comes before what fills it."""
    whole = FileContents()
    for _, contents in sorted(files.items()):
        for key, relation in contents.relations.items():
            known = whole.relations.get(key)
            if known is None or (
                known.made_by in {FILLED, CODE} and relation.made_by not in {FILLED, CODE}
            ):
                whole.relations[key] = relation
            elif known.made_by == relation.made_by and known.made_by in {FILLED, CODE, MODEL, SEED}:
                whole.relations[key] = _both(known, relation)
        whole.deltas += contents.deltas
        whole.notes += contents.notes
    return whole


def _both(one: TableDefinition, other: TableDefinition) -> TableDefinition:
    rest = "\n".join(part for part in (one.rest, other.rest) if part)
    return TableDefinition(
        one.name,
        one.made_by,
        {**one.columns, **other.columns},
        one.open or other.open,
        rest,
        one.file,
        one.line,
    )
