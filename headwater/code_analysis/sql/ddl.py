"""The tables that SQL defines, fills, changes and drops.

CREATE TABLE and CREATE VIEW define a table; the gate compares two versions of the definition.
ALTER, DROP and RENAME, as in migrations, are changes by themselves, and count if the statement is
new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from headwater.code_analysis.model import (
    FILLED,
    TABLE,
    VIEW,
    ColumnDefinition,
    FileContents,
    TableChange,
    TableDefinition,
    UnreadableError,
)
from headwater.code_analysis.sql.outputs import read_outputs
from headwater.code_analysis.sql.parse import parse_sql
from headwater.code_analysis.sql.sqlglot_helpers import line_of_node

Change = dict[str, Any]

# Statements that sqlglot keeps as text, and that cannot change the columns of a table.
_HARMLESS_COMMANDS = re.compile(
    r"(SET|GRANT|REVOKE|USE|ANALYZE|VACUUM|OPTIMIZE|COMMENT|BEGIN|COMMIT|ROLLBACK|START|END|CALL"
    r"|EXPLAIN|SHOW|DESCRIBE|PRAGMA|REFRESH|MSCK|CACHE|UNCACHE|LOCK|UNLOCK|DELIMITER|GO|EXEC"
    r"|EXECUTE|DO)\b",
    re.IGNORECASE,
)
_TABLE_KINDS = ("TABLE", "VIEW")
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
_HARMLESS_DROPS = ("CONSTRAINT", "INDEX", "KEY", "PRIMARY KEY", "FOREIGN KEY")


def read_statements(
    text: str, contents: FileContents, path: str, dialect: str, line: int = 0
) -> None:
    """Add the definitions and changes of all statements of a text. Raises UnreadableError.

    line: the line of the text in the file, if the statements have no lines of their own."""
    for statement in parse_sql(text, dialect):
        _StatementReader(contents, path, dialect, line or line_of_node(statement)).read(statement)


def _written_name(node: Any) -> str:
    """Return the full name of the first table in a node, or ""."""
    table = node
    if not isinstance(node, exp.Table):
        table = node.find(exp.Table) if isinstance(node, exp.Expr) else None
    return ".".join(part.name for part in table.parts) if table is not None else ""


class _StatementReader:
    """Adds the definitions and changes of one statement to the contents of its file."""

    def __init__(self, contents: FileContents, path: str, dialect: str, line: int) -> None:
        self._contents = contents
        self._path = path
        self._dialect = dialect
        self._line = line

    def read(self, statement: exp.Expr) -> None:
        """Add one statement. Raises UnreadableError for a statement with an unknown effect."""
        if isinstance(statement, exp.Create):
            self._read_create(statement)
        elif isinstance(statement, exp.Drop):
            self._read_drop(statement)
        elif isinstance(statement, exp.Alter):
            self._contents.changes += list(self._read_alter(statement))
        elif isinstance(statement, exp.Insert | exp.Merge | exp.Update | exp.Delete):
            self._read_fill(statement, statement.this)
        elif isinstance(statement, exp.TruncateTable):
            self._read_fill(statement, statement.expressions[0])
        elif isinstance(statement, exp.Command):
            text = f"{statement.this} {statement.expression or ''}".strip()
            if not _HARMLESS_COMMANDS.match(text):
                raise self._unreadable(f"the effect of {text.splitlines()[0][:80]!r}")

    def _unreadable(self, subject: str) -> UnreadableError:
        return UnreadableError(f"line {self._line}: {subject} cannot be made out")

    def _read_create(self, statement: exp.Create) -> None:
        kind = str(statement.args.get("kind") or "").upper()
        if kind not in _TABLE_KINDS:
            return
        columns: dict[str, ColumnDefinition] = {}
        is_open, row_logic = False, ""
        query = statement.expression
        if isinstance(query, exp.Query):
            outputs = read_outputs(query, self._dialect)
            columns, is_open, row_logic = outputs.columns, outputs.is_open, outputs.row_logic
        elif isinstance(statement.this, exp.Schema):
            definitions = map(_column_definition, statement.this.find_all(exp.ColumnDef))
            columns = {column.name.lower(): column for column in definitions}
        name = _written_name(statement.this)
        is_replaced = self._take_earlier_drop(name)
        table = TableDefinition(
            name,
            VIEW if kind == "VIEW" else TABLE,
            columns,
            is_open or not columns,
            row_logic,
            self._path,
            self._line,
            bool(statement.args.get("replace")) or is_replaced,
        )
        self._contents.tables[table.key] = table

    def _take_earlier_drop(self, name: str) -> bool:
        """Remove an earlier DROP of the same table: DROP and CREATE together replace it."""
        changes = self._contents.changes
        remaining = [change for change in changes if not _drops(change, name)]
        self._contents.changes = remaining
        return len(remaining) < len(changes)

    def _read_drop(self, statement: exp.Drop) -> None:
        kind = str(statement.args.get("kind") or "").upper()
        if kind in _OTHER_KINDS:
            return
        if kind not in _TABLE_KINDS:
            raise self._unreadable(f"the effect of DROP {kind}")
        for table in statement.args.get("tables") or ():
            name = _written_name(table)
            self._contents.tables.pop(name.lower(), None)
            change = {"type": "table_drop"}
            self._contents.changes.append(
                TableChange(name, kind.lower(), change, self._path, self._line)
            )

    def _read_alter(self, statement: exp.Alter) -> Iterator[TableChange]:
        if str(statement.args.get("kind") or "TABLE").upper() not in _TABLE_KINDS:
            return
        name = _written_name(statement.this)
        options = statement.args.get("options") or ()
        # sqlglot parses `RENAME a TO b`, without COLUMN, only in part: `a` becomes an option.
        is_partial = any(isinstance(option, exp.ToTableProperty) for option in options)
        for action in statement.args.get("actions") or ():
            changes = None if is_partial else _alter_action(action)
            if changes is None:
                raise self._unreadable(f"the effect of ALTER TABLE ... {action.sql()[:80]!r}")
            for change in changes:
                yield TableChange(name, TABLE, change, self._path, self._line)

    def _read_fill(self, statement: exp.Expr, target: Any) -> None:
        """Read a statement that changes the rows of a table: INSERT, MERGE, UPDATE, DELETE."""
        name = _written_name(target)
        earlier = self._contents.tables.get(name.lower())
        if not name or (earlier is not None and earlier.kind != FILLED):
            return
        before, line = (earlier.row_logic, earlier.line) if earlier else ("", self._line)
        row_logic = "\n".join(part for part in (before, self._fill_logic(statement)) if part)
        table = TableDefinition(name, FILLED, {}, True, row_logic, self._path, line)
        self._contents.tables[name.lower()] = table

    def _fill_logic(self, statement: exp.Expr) -> str:
        query = statement.expression if isinstance(statement, exp.Insert) else None
        if not isinstance(query, exp.Query) or isinstance(query, exp.Values):
            return str(statement.sql(comments=False, normalize=True))
        outputs = read_outputs(query, self._dialect)
        expressions = [(key, column.expression) for key, column in outputs.columns.items()]
        return f"{outputs.row_logic} {expressions} {outputs.is_open}"


def _drops(change: TableChange, name: str) -> bool:
    return change.table.lower() == name.lower() and change.change["type"] == "table_drop"


def _column_definition(node: exp.ColumnDef) -> ColumnDefinition:
    """Return a column of CREATE TABLE or ALTER TABLE."""
    type = node.args.get("kind")
    constraints = node.args.get("constraints") or ()
    return ColumnDefinition(
        node.name,
        type=type.sql().lower() if type else None,
        nullable=not any(_forbids_null(constraint.kind) for constraint in constraints),
        line=line_of_node(node),
    )


def _forbids_null(constraint: Any) -> bool:
    if isinstance(constraint, exp.NotNullColumnConstraint):
        return not constraint.args.get("allow_null")
    return isinstance(constraint, exp.PrimaryKeyColumnConstraint)


def _alter_action(action: exp.Expr) -> list[Change] | None:
    """Return the changes of one action of ALTER TABLE.

    An action that affects no reader has none. An unknown action returns None."""
    for kind, read in _ALTER_ACTIONS:
        if isinstance(action, kind):
            return read(action)
    return None


def _add_columns(action: Any) -> list[Change]:
    is_one = isinstance(action, exp.ColumnDef)
    nodes = [action] if is_one else list(action.find_all(exp.ColumnDef))
    return [column_add(_column_definition(node)) for node in nodes]


def column_add(column: ColumnDefinition) -> Change:
    """Return the change that adds a column."""
    change: Change = {"type": "column_add", "column": column.name, "nullable": column.nullable}
    return change | ({"data_type": column.type} if column.type else {})


def _drop_columns(action: Any) -> list[Change] | None:
    kind = str(action.args.get("kind") or "").upper()
    if kind == "COLUMN":
        names = [table.name for table in action.args.get("tables") or ()]
        return [{"type": "column_drop", "column": name} for name in names]
    return [] if kind in _HARMLESS_DROPS else None


def _rename_column(action: Any) -> list[Change]:
    return [{"type": "column_rename", "from": action.this.name, "to": action.args["to"].name}]


def _rename_table(action: Any) -> list[Change]:
    return [{"type": "table_rename", "to": _written_name(action.this)}]


def _alter_column(action: Any) -> list[Change]:
    name, type, new_name = action.this.name, action.args.get("dtype"), action.args.get("rename_to")
    changes: list[Change] = []
    if new_name is not None:
        changes.append({"type": "column_rename", "from": name, "to": new_name.name})
    if type is not None:
        change = {"type": "column_type_change", "column": name, "to": type.sql().lower()}
        changes.append(change)
    return changes


def _no_changes(_action: Any) -> list[Change]:
    return []


_ALTER_ACTIONS: tuple[tuple[Any, Callable[[Any], list[Change] | None]], ...] = (
    (exp.AlterColumn, _alter_column),
    (exp.RenameColumn, _rename_column),
    (exp.AlterRename, _rename_table),
    (exp.Drop, _drop_columns),
    (exp.ColumnDef, _add_columns),
    (exp.Schema, _add_columns),
    (exp.AddConstraint, _no_changes),
    (exp.AlterSet, _no_changes),
)
