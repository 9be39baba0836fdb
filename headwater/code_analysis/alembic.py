"""Migrations of Alembic: what their `upgrade` does to tables, by the calls of `op` that stand in it.

A call whose table or column is only known when it runs makes the file unreadable, so that the gate blocks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from headwater.code_analysis.sql.ddl import parse, read_statement
from headwater.code_analysis.tables import TABLE, FileContents, TableChange, UnreadableError

_HARMLESS = {
    *(
        "create_index",
        "drop_index",
        "create_foreign_key",
        "create_primary_key",
        "create_unique_constraint",
    ),
    *(
        "create_check_constraint",
        "drop_constraint",
        "create_table",
        "create_table_comment",
        "drop_table_comment",
    ),
    *("get_bind", "get_context", "f", "bulk_insert", "create_exclude_constraint"),
}


def is_migration(tree: ast.Module) -> bool:
    """Whether a module is one: it takes `op` from alembic and has an `upgrade`."""
    takes = any(isinstance(node, ast.ImportFrom) and node.module == "alembic" for node in tree.body)
    return takes and _upgrade(tree) is not None


def read_migration(tree: ast.Module, contents: FileContents, path: str, dialect: str) -> None:
    """Add what the upgrade of a migration does. Raises UnreadableError."""
    upgrade = _upgrade(tree)
    for call in ast.walk(upgrade) if upgrade is not None else ():
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if not isinstance(call.func.value, ast.Name) or call.func.value.id != "op":
            continue
        name = call.func.attr
        if name == "execute":
            _execute(call, contents, path, dialect)
        elif name in _CALLS:
            table, changes = _CALLS[name](_Arguments(call))
            contents.deltas += [
                TableChange(table, TABLE, change, path, call.lineno) for change in changes
            ]
        elif name not in _HARMLESS:
            raise UnreadableError(
                f"line {call.lineno}: what op.{name}() does to a table cannot be made out"
            )


def _upgrade(tree: ast.Module) -> ast.FunctionDef | None:
    return next(
        (
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == "upgrade"
        ),
        None,
    )


def _execute(call: ast.Call, contents: FileContents, path: str, dialect: str) -> None:
    given = call.args[0] if call.args else None
    if isinstance(given, ast.Call) and len(given.args) == 1:
        # sa.text("...")
        given = given.args[0]
    if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
        raise UnreadableError(f"line {call.lineno}: the SQL is put together when it runs")
    for statement in parse(given.value, dialect):
        read_statement(statement, contents, path, dialect, call.lineno)


class _Arguments:
    """The arguments of one call."""

    def __init__(self, call: ast.Call) -> None:
        self._call = call
        self._named = {word.arg: word.value for word in call.keywords if word.arg}

    def text(self, place: int, name: str) -> str:
        """An argument that has to be a text."""
        node = self._node(place, name)
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            raise UnreadableError(
                f"line {self._call.lineno}: its {name} is only known when it runs"
            )
        return node.value

    @property
    def table(self) -> str:
        """The table, with its schema where that is told."""
        schema = self._named.get("schema")
        prefix = (
            f"{self.text(99, 'schema')}."
            if isinstance(schema, ast.Constant) and schema.value
            else ""
        )
        return prefix + self.text(0, "table_name")

    def code(self, name: str) -> str | None:
        """A named argument as it is written, but for the module it is from: `sa.String(10)` is `String(10)`."""
        node = self._named.get(name)
        return None if node is None else ast.unparse(node).partition("sa.")[2] or ast.unparse(node)

    def column(self) -> tuple[str, bool]:
        """The column that add_column is given, and whether it may be null."""
        node = self._node(1, "column")
        given = _Arguments(node) if isinstance(node, ast.Call) else self
        return given.text(0, "name"), given.code("nullable") != "False"

    def _node(self, place: int, name: str) -> ast.expr | None:
        return self._call.args[place] if place < len(self._call.args) else self._named.get(name)


Changes = tuple[str, list[dict[str, Any]]]


def _add_column(given: _Arguments) -> Changes:
    name, nullable = given.column()
    return given.table, [{"type": "column_add", "column": name, "nullable": nullable}]


def _drop_column(given: _Arguments) -> Changes:
    return given.table, [{"type": "column_drop", "column": given.text(1, "column_name")}]


def _alter_column(given: _Arguments) -> Changes:
    return given.table, list(_altered(given))


def _altered(given: _Arguments) -> Iterator[dict[str, Any]]:
    column = given.text(1, "column_name")
    if given.code("type_") is not None:
        change = {"type": "column_type_change", "column": column, "to": given.code("type_")}
        before = given.code("existing_type")
        yield change | ({"from": before} if before else {})
    if given.code("new_column_name") is not None:
        yield {"type": "column_rename", "from": column, "to": given.text(99, "new_column_name")}


def _drop_table(given: _Arguments) -> Changes:
    return given.table, [{"type": "table_drop"}]


def _rename_table(given: _Arguments) -> Changes:
    return given.text(0, "old_table_name"), [
        {"type": "table_rename", "to": given.text(1, "new_table_name")}
    ]


_CALLS: dict[str, Callable[[_Arguments], Changes]] = {
    "add_column": _add_column,
    "drop_column": _drop_column,
    "alter_column": _alter_column,
    "drop_table": _drop_table,
    "rename_table": _rename_table,
}
