"""SQL files that are no dbt models: what their statements define, fill, change and drop.

A file that defines tables (CREATE TABLE, CREATE VIEW) is compared with what it was. A statement that changes what is
there (ALTER, DROP, RENAME), as migrations have, is a change by itself, and counts when it is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from headwater.code_analysis.sql.outputs import read_outputs
from headwater.code_analysis.sql.parse import parse_statements
from headwater.code_analysis.tables import (
    FILLED,
    TABLE,
    VIEW,
    Column,
    FileContents,
    TableChange,
    TableDefinition,
    UnreadableError,
)

# Statements that sqlglot keeps as text, and that cannot concern the shape of a table.
_HARMLESS = re.compile(
    r"(SET|GRANT|REVOKE|USE|ANALYZE|VACUUM|OPTIMIZE|COMMENT|BEGIN|COMMIT|ROLLBACK|START|END|CALL|EXPLAIN|SHOW|DESCRIBE|PRAGMA"
    r"|REFRESH|MSCK|CACHE|UNCACHE|LOCK|UNLOCK|DELIMITER|GO|EXEC|EXECUTE|DO)\b",
    re.IGNORECASE,
)
_OTHER_KINDS = (
    "INDEX",
    "SCHEMA",
    "DATABASE",
    "SEQUENCE",
    "FUNCTION",
    "PROCEDURE",
    "TRIGGER",
    "TYPE",
    "EXTENSION",
    "ROLE",
)


def parse(text: str, dialect: str) -> list[exp.Expr]:
    """The statements of a text. Raises UnreadableError."""
    found = parse_statements(text, dialect)
    if isinstance(found, str):
        raise UnreadableError(found)
    return [one for one in found if not isinstance(one, exp.Semicolon)]


def read_statements(text: str, path: str, dialect: str) -> FileContents:
    """What a file of SQL says. Raises UnreadableError."""
    contents = FileContents()
    for statement in parse(text, dialect):
        read_statement(statement, contents, path, dialect)
    return contents


def read_statement(
    statement: exp.Expr, contents: FileContents, path: str, dialect: str, line: int = 0
) -> None:
    """Add what one statement says. `line` is where it stands, when that is not its own."""
    line = line or _line(statement)
    if isinstance(statement, exp.Create):
        _create(statement, contents, path, dialect, line)
    elif isinstance(statement, exp.Drop):
        _drop(statement, contents, path, line)
    elif isinstance(statement, exp.Alter):
        contents.deltas += list(_alter(statement, path, line))
    elif isinstance(
        statement, exp.Insert | exp.Merge | exp.Update | exp.Delete | exp.TruncateTable
    ):
        _fill(statement, contents, path, dialect, line)
    elif isinstance(statement, exp.Command):
        said = f"{statement.this} {statement.expression or ''}".strip()
        if not _HARMLESS.match(said):
            raise UnreadableError(
                f"line {line}: what {said.split(chr(10))[0][:80]!r} does cannot be made out"
            )


def table_name(node: Any) -> str:
    """The name of a table, with what it is qualified by."""
    table = (
        node
        if isinstance(node, exp.Table)
        else node.find(exp.Table)
        if isinstance(node, exp.Expr)
        else None
    )
    return ".".join(part.name for part in table.parts) if table is not None else ""


def _create(
    statement: exp.Create, contents: FileContents, path: str, dialect: str, line: int
) -> None:
    kind = str(statement.args.get("kind") or "").upper()
    if kind not in {"TABLE", "VIEW"}:
        return
    name = table_name(statement.this)
    columns: dict[str, Column] = {}
    is_open, rest = False, ""
    query = statement.expression
    if isinstance(query, exp.Query):
        read = read_outputs(query, dialect)
        columns, is_open, rest = read.columns, read.open, read.rest
    elif isinstance(statement.this, exp.Schema):
        columns = {
            one.key: one.column for one in map(_Definition, statement.this.find_all(exp.ColumnDef))
        }
    made_by = VIEW if kind == "VIEW" else TABLE
    relation = TableDefinition(
        name,
        made_by,
        columns,
        is_open or not columns,
        rest,
        path,
        line,
        _replaces(statement, contents),
    )
    contents.relations[relation.key] = relation


def _replaces(statement: exp.Create, contents: FileContents) -> bool:
    """Whether it takes the place of what is there; a DROP before it in the file is part of that, and no change."""
    key = table_name(statement.this).lower()
    dropped = [
        delta
        for delta in contents.deltas
        if delta.relation.lower() == key and delta.change["type"] == "table_drop"
    ]
    contents.deltas = [delta for delta in contents.deltas if delta not in dropped]
    return bool(statement.args.get("replace")) or bool(dropped)


class _Definition:
    """A column as CREATE TABLE or ALTER TABLE defines it."""

    def __init__(self, node: exp.ColumnDef) -> None:
        type = node.args.get("kind")
        required = any(
            isinstance(one.kind, exp.PrimaryKeyColumnConstraint)
            or (
                isinstance(one.kind, exp.NotNullColumnConstraint)
                and not one.kind.args.get("allow_null")
            )
            for one in node.args.get("constraints") or ()
        )
        self.column = Column(
            node.name,
            type=type.sql().lower() if type else None,
            nullable=not required,
            line=_line(node),
        )
        self.key = node.name.lower()


def _drop(statement: exp.Drop, contents: FileContents, path: str, line: int) -> None:
    kind = str(statement.args.get("kind") or "").upper()
    if kind not in {"TABLE", "VIEW"}:
        if kind not in _OTHER_KINDS:
            raise UnreadableError(f"line {line}: what is dropped by DROP {kind} cannot be made out")
        return
    for table in statement.args.get("tables") or ():
        name = table_name(table)
        contents.relations.pop(name.lower(), None)
        contents.deltas.append(TableChange(name, kind.lower(), {"type": "table_drop"}, path, line))


def _alter(statement: exp.Alter, path: str, line: int) -> Iterator[TableChange]:
    if str(statement.args.get("kind") or "TABLE").upper() not in {"TABLE", "VIEW"}:
        return
    name = table_name(statement.this)
    options = [
        one for one in statement.args.get("options") or () if isinstance(one, exp.ToTableProperty)
    ]
    for action in statement.args.get("actions") or ():
        # RENAME a TO b, without COLUMN, is half understood.
        change = None if options else _action(action)
        if change is None:
            said = action.sql()[:80]
            raise UnreadableError(
                f"line {line}: what ALTER TABLE ... {said!r} does cannot be made out"
            )
        for one in change:
            yield TableChange(name, TABLE, one, path, line)


def _action(action: exp.Expr) -> list[dict[str, Any]] | None:
    """The changes of one action of ALTER TABLE; none for one that cannot concern a reader, None for an unknown one."""
    for kind, read in _ACTIONS:
        if isinstance(action, kind):
            return read(action)
    return None


def _added(action: Any) -> list[dict[str, Any]]:
    definitions = (
        [action] if isinstance(action, exp.ColumnDef) else list(action.find_all(exp.ColumnDef))
    )
    found = []
    for column in (_Definition(one).column for one in definitions):
        change = {"type": "column_add", "column": column.name, "nullable": column.nullable}
        found.append(change | ({"data_type": column.type} if column.type else {}))
    return found


def _dropped(action: Any) -> list[dict[str, Any]] | None:
    kind = str(action.args.get("kind") or "").upper()
    if kind == "COLUMN":
        return [
            {"type": "column_drop", "column": one.name} for one in action.args.get("tables") or ()
        ]
    return [] if kind in {"CONSTRAINT", "INDEX", "KEY", "PRIMARY KEY", "FOREIGN KEY"} else None


def _renamed_column(action: Any) -> list[dict[str, Any]]:
    return [{"type": "column_rename", "from": action.this.name, "to": action.args["to"].name}]


def _renamed_table(action: Any) -> list[dict[str, Any]]:
    return [{"type": "table_rename", "to": table_name(action.this)}]


def _altered_column(action: Any) -> list[dict[str, Any]]:
    name, type = action.this.name, action.args.get("dtype")
    found: list[dict[str, Any]] = []
    if action.args.get("rename_to") is not None:
        found.append({"type": "column_rename", "from": name, "to": action.args["rename_to"].name})
    if type is not None:
        found.append({"type": "column_type_change", "column": name, "to": type.sql().lower()})
    return found


def _nothing(_action: Any) -> list[dict[str, Any]]:
    return []


_ACTIONS: tuple[tuple[Any, Callable[[Any], list[dict[str, Any]] | None]], ...] = (
    (exp.AlterColumn, _altered_column),
    (exp.RenameColumn, _renamed_column),
    (exp.AlterRename, _renamed_table),
    (exp.Drop, _dropped),
    (exp.ColumnDef, _added),
    (exp.Schema, _added),
    (exp.AddConstraint, _nothing),
    (exp.AlterSet, _nothing),
)


def _fill(statement: exp.Expr, contents: FileContents, path: str, dialect: str, line: int) -> None:
    """INSERT, MERGE, UPDATE, DELETE: what is in the table changes when they do, but not its columns."""
    name = table_name(
        statement.expressions[0] if isinstance(statement, exp.TruncateTable) else statement.this
    )
    if not name:
        return
    query = statement.expression if isinstance(statement, exp.Insert) else None
    if isinstance(query, exp.Query) and not isinstance(query, exp.Values):
        read = read_outputs(query, dialect)
        said = f"{read.rest} {[(key, one.expression) for key, one in read.columns.items()]} {read.open}"
    else:
        said = statement.sql(comments=False, normalize=True)
    known = contents.relations.get(name.lower())
    if known is not None and known.made_by != FILLED:
        return
    rest = "\n".join(part for part in (known.rest if known else "", said) if part)
    contents.relations[name.lower()] = TableDefinition(
        name, FILLED, {}, True, rest, path, known.line if known else line
    )


def _line(node: exp.Expr) -> int:
    return int(next((one.meta["line"] for one in node.walk() if "line" in one.meta), 1))
