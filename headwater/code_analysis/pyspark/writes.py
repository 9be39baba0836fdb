"""The tables that PySpark writes, with their columns as far as the code shows them.

Nothing is executed. From each write the chain of calls is followed back, through names, to a list
of columns such as `select("a", "b")`. Where the start of the chain is not known, renamed, dropped
and added columns are still recorded. The text of the whole script stands for all its other logic.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from headwater.code_analysis.alembic import is_migration, read_migration
from headwater.code_analysis.model import (
    CODE,
    ColumnDefinition,
    FileContents,
    TableDefinition,
    UnreadableError,
)
from headwater.code_analysis.pyspark.python_ast import called_name, text_of
from headwater.code_analysis.sql.ddl import read_statements
from headwater.code_analysis.steps import Steps

_WRITE_CALLS = {
    *("saveAsTable", "insertInto", "writeTo", "toTable"),
    *("save", "parquet", "orc", "json", "csv", "text", "jdbc", "start"),
}
_WRITERS = {"write", "writeStream", "writeTo"}
_TARGET_KEYWORDS = {"path", "name", "tableName", "table"}
# Methods that leave the columns of a frame as they are.
_SAME_COLUMNS = {
    *("filter", "where", "orderBy", "sort", "distinct", "dropDuplicates", "limit", "sample"),
    *("repartition", "coalesce", "cache", "persist", "dropna", "fillna", "alias", "checkpoint"),
    *("hint", "write", "writeStream", "mode", "format", "option", "options", "partitionBy"),
    *("bucketBy", "sortBy", "outputMode", "trigger", "queryName", "tableProperty", "using"),
    *("partitionedBy", "createOrReplace", "create", "append", "overwrite", "overwritePartitions"),
}
_CALLS_FOLLOWED_MAX = 300
_CHANGING_WORDS = re.compile(
    r"\b(insert|create|drop|alter|merge|update|delete|replace)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class _Frame:
    """The columns of a data frame.

    is_open: there may be more columns.
    removed: columns removed from an open frame, each with its new name if it was renamed."""

    columns: dict[str, ColumnDefinition] = field(default_factory=dict)
    is_open: bool = True
    removed: dict[str, str | None] = field(default_factory=dict)


def read_script(text: str, path: str, dialect: str = "") -> FileContents:
    """Return the tables that a script writes, or the changes that an Alembic migration makes.

    Raises UnreadableError if it is not Python, or if a written table is only known at run time."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"it cannot be parsed as Python: {error}") from error
    contents = FileContents()
    try:
        if is_migration(tree):
            read_migration(tree, contents, path, dialect)
        else:
            _WriteReader(tree, contents, path).read()
    except RecursionError as error:
        raise UnreadableError("its expressions are nested too deep") from error
    return contents


class _WriteReader:
    """Adds the writes of one script to the contents of its file.

    Each column of a frame that is written, or that a method passes on, is a step."""

    def __init__(self, tree: ast.Module, contents: FileContents, path: str) -> None:
        self._tree = tree
        self._contents = contents
        self._path = path
        self._steps = Steps()
        self._calls_followed = 0
        self._assignments = _plain_assignments(tree)
        # Magics of a notebook are `pass` here; they are not logic.
        rows = ast.unparse(tree).splitlines()
        self._code = "\n".join(row for row in rows if row.strip() != "pass")

    def read(self) -> None:
        """Add all writes. Raises UnreadableError."""
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "sql" and node.args:
                self._read_sql(node)
            elif node.func.attr in _WRITE_CALLS and _has_writer(node):
                self._read_write(node)

    def _read_sql(self, call: ast.Call) -> None:
        argument = call.args[0]
        text = text_of(argument)
        if text is not None:
            read_statements(text, self._contents, self._path, "spark", call.lineno)
        elif isinstance(argument, ast.JoinedStr) and _has_changing_words(argument):
            raise UnreadableError(f"line {call.lineno}: the SQL is put together when it runs")

    def _read_write(self, call: ast.Call) -> None:
        target = _target(call)
        if target is None:
            name = called_name(call)
            raise UnreadableError(
                f"line {call.lineno}: the target of {name}() is only known when it runs"
            )
        self._calls_followed = 0
        frame = self._frame_of(call.func, call.lineno)
        table = self._contents.tables.get(target.lower())
        if table is not None:
            self._steps.take(len(table.columns) + len(table.removed))
            frame = _Frame(
                {**table.columns, **frame.columns},
                table.is_open or frame.is_open,
                {**table.removed, **frame.removed},
            )
        self._contents.tables[target.lower()] = TableDefinition(
            target,
            CODE,
            frame.columns,
            frame.is_open,
            self._code,
            self._path,
            call.lineno,
            removed=frame.removed,
        )

    def _frame_of(self, node: ast.expr, line: int) -> _Frame:
        """Return the columns of the frame that an expression is."""
        self._calls_followed += 1
        if self._calls_followed > _CALLS_FOLLOWED_MAX:
            return _Frame()
        if isinstance(node, ast.Attribute):
            return self._frame_of(node.value, line)
        if isinstance(node, ast.Name):
            assignment = self._last_assignment(node.id, line)
            if assignment is None:
                return _Frame()
            return self._frame_of(assignment.value, assignment.lineno)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return _Frame()
        method = node.func.attr
        if method == "select":
            return self._counted(_selected_frame(node))
        before = self._frame_of(node.func.value, line)
        if method in _COLUMN_STEPS:
            return self._counted(_COLUMN_STEPS[method](before, node))
        return before if method in _SAME_COLUMNS else _Frame()

    def _counted(self, frame: _Frame) -> _Frame:
        """Return a frame whose columns are counted as steps."""
        self._steps.take(1 + len(frame.columns) + len(frame.removed))
        return frame

    def _last_assignment(self, name: str, line: int) -> ast.Assign | None:
        """Return the last plain assignment to a name before a line."""
        assignments = self._assignments.get(name, [])
        count = bisect_left(assignments, line, key=lambda node: node.lineno)
        return assignments[count - 1] if count else None


def _plain_assignments(tree: ast.Module) -> dict[str, list[ast.Assign]]:
    """Return the assignments to each name, by line."""
    found: dict[str, list[ast.Assign]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id].append(node)
    for assignments in found.values():
        assignments.sort(key=lambda node: node.lineno)
    return found


def _has_changing_words(text: ast.JoinedStr) -> bool:
    parts = [str(part.value) for part in text.values if isinstance(part, ast.Constant)]
    return _CHANGING_WORDS.search("".join(parts)) is not None


def _has_writer(call: ast.Call) -> bool:
    """Return True if the chain of this call goes through a writer of Spark."""
    nodes = ast.walk(call.func)
    return any(isinstance(node, ast.Attribute) and node.attr in _WRITERS for node in nodes)


def _target(call: ast.Call) -> str | None:
    """Return the written table or path, or None if only a run of the code shows it."""
    if called_name(call) == "jdbc" and len(call.args) > 1:
        return text_of(call.args[1])
    for keyword in call.keywords:
        if keyword.arg in _TARGET_KEYWORDS:
            return text_of(keyword.value)
    if call.args:
        return text_of(call.args[0])
    # save() and start() after option("path", ...).
    for node in ast.walk(call.func):
        if not isinstance(node, ast.Call) or called_name(node) != "option":
            continue
        if len(node.args) == 2 and text_of(node.args[0]) in {"path", "topic"}:
            return text_of(node.args[1])
    return None


def _selected_frame(call: ast.Call) -> _Frame:
    items: list[ast.expr] = []
    for argument in call.args:
        items += argument.elts if isinstance(argument, ast.List) else [argument]
    columns = [_selected_column(item) for item in items]
    named = [column for column in columns if column is not None and column.name != "*"]
    is_open = len(named) < len(columns)
    return _Frame({column.name.lower(): column for column in named}, is_open)


def _selected_column(node: ast.expr) -> ColumnDefinition | None:
    """Return a selected column: its name, and the code that makes it."""
    name = text_of(node)
    if name is not None:
        name = name.rpartition(".")[2]
        return ColumnDefinition(name, f"column {name}", line=node.lineno)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ColumnDefinition(node.attr, f"column {node.attr}", line=node.lineno)
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "alias" and node.args:
        alias = text_of(node.args[0])
        expression = _expression(node.func.value)
        return ColumnDefinition(alias, expression, line=node.lineno) if alias else None
    name = _col_name(node)
    if not name:
        return None
    return ColumnDefinition(name, _expression(node), line=node.lineno)


def _col_name(node: ast.expr) -> str | None:
    """Return the column of `col("a")`, without the name of its frame."""
    if not isinstance(node, ast.Call) or len(node.args) != 1:
        return None
    if called_name(node) not in {"col", "column"}:
        return None
    text = text_of(node.args[0])
    return text.rpartition(".")[2] if text else None


def _expression(node: ast.expr) -> str:
    """Return the normalised source of a column."""
    name = _col_name(node)
    if name:
        return f"column {name}"
    column = _selected_column(node) if not isinstance(node, ast.Call) else None
    return column.expression if column and column.expression else ast.unparse(node)


def _with_column(before: _Frame, call: ast.Call) -> _Frame:
    name = text_of(call.args[0]) if len(call.args) == 2 else None
    if name is None:
        return replace(before, is_open=True)
    column = ColumnDefinition(name, _expression(call.args[1]), line=call.lineno)
    return replace(before, columns={**before.columns, name.lower(): column})


def _with_column_renamed(before: _Frame, call: ast.Call) -> _Frame:
    names = [text_of(argument) for argument in call.args]
    if len(names) != 2 or names[0] is None or names[1] is None:
        return replace(before, is_open=True)
    key = names[0].lower()
    if not before.is_open and key not in before.columns:
        return before
    columns, removed = dict(before.columns), dict(before.removed)
    if key not in columns:
        removed[key] = names[1]
    old = columns.pop(key, ColumnDefinition(names[0], f"column {names[0]}"))
    columns[names[1].lower()] = replace(old, name=names[1], line=call.lineno)
    return replace(before, columns=columns, removed=removed)


def _drop(before: _Frame, call: ast.Call) -> _Frame:
    names = {(text_of(argument) or "").lower() for argument in call.args}
    columns = {key: column for key, column in before.columns.items() if key not in names}
    unlisted = names - before.columns.keys() - {""}
    removed = dict.fromkeys(unlisted) if before.is_open else {}
    return replace(before, columns=columns, removed={**before.removed, **removed})


_COLUMN_STEPS: dict[str, Callable[[_Frame, ast.Call], _Frame]] = {
    "withColumn": _with_column,
    "withColumnRenamed": _with_column_renamed,
    "drop": _drop,
}
