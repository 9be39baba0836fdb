"""Alembic migrations: the changes that the `op` calls of `upgrade` make to tables.

A call whose table or column is only known at run time makes the file unreadable, so that the gate
blocks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from headwater.code_analysis.model import TABLE, FileContents, TableChange, UnreadableError
from headwater.code_analysis.sql.ddl import read_statements

_HARMLESS = {
    *("create_table", "create_index", "drop_index", "create_foreign_key", "create_primary_key"),
    *("create_unique_constraint", "create_check_constraint", "create_exclude_constraint"),
    *("drop_constraint", "create_table_comment", "drop_table_comment", "bulk_insert"),
    *("get_bind", "get_context", "f"),
}


def is_migration(tree: ast.Module) -> bool:
    """Return True if a module imports from alembic and has an `upgrade`."""
    imports = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    return "alembic" in imports and _upgrade(tree) is not None


def read_migration(tree: ast.Module, contents: FileContents, path: str, dialect: str) -> None:
    """Add the changes of the upgrade of a migration. Raises UnreadableError."""
    upgrade = _upgrade(tree)
    for node in ast.walk(upgrade) if upgrade is not None else ():
        if isinstance(node, ast.Call) and _is_op_call(node.func):
            _read_op_call(node, contents, path, dialect)


def _is_op_call(function: ast.expr) -> bool:
    if not isinstance(function, ast.Attribute):
        return False
    return isinstance(function.value, ast.Name) and function.value.id == "op"


def _read_op_call(call: ast.Call, contents: FileContents, path: str, dialect: str) -> None:
    assert isinstance(call.func, ast.Attribute)
    name = call.func.attr
    if name == "execute":
        _read_execute(call, contents, path, dialect)
    elif name in _CALLS:
        table, changes = _CALLS[name](_Arguments(call))
        for change in changes:
            contents.changes.append(TableChange(table, TABLE, change, path, call.lineno))
    elif name not in _HARMLESS:
        raise UnreadableError(f"line {call.lineno}: the effect of op.{name}() is not known")


def _upgrade(tree: ast.Module) -> ast.FunctionDef | None:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return next((function for function in functions if function.name == "upgrade"), None)


def _read_execute(call: ast.Call, contents: FileContents, path: str, dialect: str) -> None:
    argument = call.args[0] if call.args else None
    if isinstance(argument, ast.Call) and len(argument.args) == 1:
        # sa.text("...")
        argument = argument.args[0]
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        raise UnreadableError(f"line {call.lineno}: the SQL is put together when it runs")
    read_statements(argument.value, contents, path, dialect, call.lineno)


class _Arguments:
    """The arguments of one call, by position or name."""

    def __init__(self, call: ast.Call) -> None:
        self._call = call
        self._named = {word.arg: word.value for word in call.keywords if word.arg}

    def text(self, position: int | None, name: str) -> str:
        """Return an argument that must be a text literal."""
        node = self._node(position, name)
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            raise UnreadableError(
                f"line {self._call.lineno}: its {name} is only known when it runs"
            )
        return node.value

    @property
    def table(self) -> str:
        """Return the table, with its schema if one is given."""
        schema = self._named.get("schema")
        has_schema = isinstance(schema, ast.Constant) and schema.value
        prefix = f"{self.text(None, 'schema')}." if has_schema else ""
        return prefix + self.text(0, "table_name")

    def code(self, name: str) -> str | None:
        """Return a named argument as written, without the module.

        `sa.String(10)` is `String(10)`."""
        node = self._named.get(name)
        if node is None:
            return None
        return ast.unparse(node).partition("sa.")[2] or ast.unparse(node)

    def column(self) -> tuple[str, bool]:
        """Return the column of add_column, and whether it may be null."""
        node = self._node(1, "column")
        definition = _Arguments(node) if isinstance(node, ast.Call) else self
        return definition.text(0, "name"), definition.code("nullable") != "False"

    def _node(self, position: int | None, name: str) -> ast.expr | None:
        if position is not None and position < len(self._call.args):
            return self._call.args[position]
        return self._named.get(name)


Changes = tuple[str, list[dict[str, Any]]]


def _add_column(call: _Arguments) -> Changes:
    name, nullable = call.column()
    return call.table, [{"type": "column_add", "column": name, "nullable": nullable}]


def _drop_column(call: _Arguments) -> Changes:
    return call.table, [{"type": "column_drop", "column": call.text(1, "column_name")}]


def _alter_column(call: _Arguments) -> Changes:
    column = call.text(1, "column_name")
    changes: list[dict[str, Any]] = []
    if call.code("type_") is not None:
        change = {"type": "column_type_change", "column": column, "to": call.code("type_")}
        before = call.code("existing_type")
        changes.append(change | ({"from": before} if before else {}))
    if call.code("new_column_name") is not None:
        new_name = call.text(None, "new_column_name")
        changes.append({"type": "column_rename", "from": column, "to": new_name})
    return call.table, changes


def _drop_table(call: _Arguments) -> Changes:
    return call.table, [{"type": "table_drop"}]


def _rename_table(call: _Arguments) -> Changes:
    new_name = call.text(1, "new_table_name")
    return call.text(0, "old_table_name"), [{"type": "table_rename", "to": new_name}]


_CALLS: dict[str, Callable[[_Arguments], Changes]] = {
    "add_column": _add_column,
    "drop_column": _drop_column,
    "alter_column": _alter_column,
    "drop_table": _drop_table,
    "rename_table": _rename_table,
}
