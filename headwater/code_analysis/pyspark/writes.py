"""PySpark scripts and notebooks: which tables they write, with which columns, as far as the code shows it.

Read from the syntax tree, never run. From each write the chain of calls is followed back, through names, to where its
columns are spelled out (`select("a", "b")`); renames, drops and added columns on the way are kept where the beginning
is not known. Whatever else the code does is known by its text: when that changes, what it writes may mean something
else.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.code_analysis.alembic import is_migration, read_migration
from headwater.code_analysis.sql.ddl import parse, read_statement
from headwater.code_analysis.tables import (
    CODE,
    Column,
    FileContents,
    TableDefinition,
    UnreadableError,
)

_TABLE_WRITES = {"saveAsTable", "insertInto", "writeTo", "toTable"}
_PATH_WRITES = {"save", "parquet", "orc", "json", "csv", "text", "jdbc", "start"}
_WRITERS = {"write", "writeStream", "writeTo"}
_SAME_COLUMNS = {
    *(
        "filter",
        "where",
        "orderBy",
        "sort",
        "distinct",
        "dropDuplicates",
        "limit",
        "repartition",
        "coalesce",
        "cache",
    ),
    *(
        "persist",
        "sample",
        "dropna",
        "fillna",
        "alias",
        "checkpoint",
        "hint",
        "write",
        "writeStream",
        "mode",
        "format",
    ),
    *(
        "option",
        "options",
        "partitionBy",
        "bucketBy",
        "sortBy",
        "outputMode",
        "trigger",
        "queryName",
        "tableProperty",
    ),
    *(
        "using",
        "partitionedBy",
        "createOrReplace",
        "create",
        "append",
        "overwrite",
        "overwritePartitions",
    ),
}
_STEPS_MAX = 300
# A whole cell: %%sql in Jupyter, %sql where it stands alone; and one line of it.
_CELL_MAGIC = re.compile(
    r"\s*%%?(\w*sql|md|sh|bash|scala|r|html|javascript|writefile|script)\b", re.IGNORECASE
)
_LINE_MAGIC = re.compile(r"(?m)^([ \t]*)[%!].*$")
_OTHER_LANGUAGES = {"scala", "r", "sh", "bash", "script"}


@dataclass(frozen=True)
class _Frame:
    """The columns of a data frame: those that are known; where others may be (`open`), those that are `gone`, each
    with what it is called since, if it was renamed."""

    columns: dict[str, Column] = field(default_factory=dict)
    open: bool = True
    gone: dict[str, str | None] = field(default_factory=dict)


def read_python(text: str, path: str, dialect: str = "") -> FileContents:
    """What a script writes, or a migration of Alembic does. Raises UnreadableError when it is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"it cannot be parsed as Python: {error}") from error
    contents = FileContents()
    try:
        if is_migration(tree):
            read_migration(tree, contents, path, dialect)
            return contents
        # What a notebook's magic left behind says nothing.
        code = "\n".join(row for row in ast.unparse(tree).splitlines() if row.strip() != "pass")
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            _read_call(call, tree, code, contents, path)
    except RecursionError as error:
        raise UnreadableError("its expressions are nested too deep") from error
    return contents


def read_notebook(text: str, path: str) -> FileContents:
    """What the cells of a notebook write, in order."""
    try:
        cells = json.loads(text)["cells"]
        sources = [_source(cell) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError(f"it is no notebook: {error}") from error
    return _read_cells(sources, path)


def read_databricks(text: str, path: str) -> FileContents:
    """What a notebook writes that Databricks keeps as Python, its magic as remarks."""
    cells = re.split(r"^# COMMAND -+\s*$", text, flags=re.MULTILINE)
    return _read_cells([re.sub(r"(?m)^# MAGIC ?", "", cell).strip() for cell in cells], path)


def _read_cells(sources: list[str], path: str) -> FileContents:
    """Cells of Python are one script; those of SQL are read as SQL; of another language nothing is known."""
    script, sql = [], []
    for source in sources:
        magic = _CELL_MAGIC.match(source)
        if magic is None:
            script.append(_LINE_MAGIC.sub(r"\1pass", source))
        elif magic[1].lower().endswith("sql"):
            sql.append(source[magic.end() :])
        elif magic[1].lower() in _OTHER_LANGUAGES and re.search(
            r"\bwrite\b|insert|create|drop|alter", source, re.IGNORECASE
        ):
            raise UnreadableError(f"what a cell of {magic[1]} writes cannot be made out")
    contents = read_python("\n".join(script), path)
    for body in sql:
        for statement in parse(body, "spark"):
            read_statement(statement, contents, path, "spark")
    return contents


def _source(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _read_call(
    call: ast.Call, tree: ast.Module, code: str, contents: FileContents, path: str
) -> None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "sql" and call.args:
        text = _text(call.args[0])
        if text is not None:
            for statement in parse(text, "spark"):
                read_statement(statement, contents, path, "spark", call.lineno)
        elif isinstance(call.args[0], ast.JoinedStr) and _writes(call.args[0]):
            raise UnreadableError(f"line {call.lineno}: the SQL is put together when it runs")
        return
    if name not in _TABLE_WRITES | _PATH_WRITES or not _is_write(call):
        return
    target = _target(call)
    if target is None:
        raise UnreadableError(
            f"line {call.lineno}: what {name}() writes to is only known when it runs"
        )
    frame = _frame(call.func, tree, call.lineno, [0])
    known = contents.relations.get(target.lower())
    if known is not None:
        gone = {**known.gone, **frame.gone}
        frame = _Frame({**known.columns, **frame.columns}, known.open or frame.open, gone)
    contents.relations[target.lower()] = TableDefinition(
        target, CODE, frame.columns, frame.open, code, path, call.lineno, gone=frame.gone
    )


def _writes(text: ast.JoinedStr) -> bool:
    said = "".join(str(part.value) for part in text.values if isinstance(part, ast.Constant))
    return (
        re.search(
            r"\b(insert|create|drop|alter|merge|update|delete|replace)\b", said, re.IGNORECASE
        )
        is not None
    )


def _is_write(call: ast.Call) -> bool:
    """Whether the chain of this call goes through a writer of Spark's."""
    return any(
        isinstance(node, ast.Attribute) and node.attr in _WRITERS for node in ast.walk(call.func)
    )


def _target(call: ast.Call) -> str | None:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "jdbc" and len(call.args) > 1:
        return _text(call.args[1])
    for word in call.keywords:
        if word.arg in {"path", "name", "tableName", "table"}:
            return _text(word.value)
    if call.args:
        return _text(call.args[0])
    # save() and start() after option("path", ...).
    for node in ast.walk(call.func):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "option"
        ):
            texts = [_text(one) for one in node.args]
            if len(texts) == 2 and texts[0] in {"path", "topic"}:
                return texts[1]
    return None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _frame(node: ast.expr, tree: ast.Module, line: int, steps: list[int]) -> _Frame:
    """The columns of what an expression is."""
    steps[0] += 1
    if steps[0] > _STEPS_MAX:
        return _Frame()
    if isinstance(node, ast.Attribute):
        return _frame(node.value, tree, line, steps)
    if isinstance(node, ast.Name):
        found = _assigned(node.id, tree, line)
        return _frame(found.value, tree, found.lineno, steps) if found is not None else _Frame()
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return _Frame()
    name = node.func.attr
    if name == "select":
        return _selected(node)
    before = _frame(node.func.value, tree, line, steps)
    if name in _STEPS:
        return _STEPS[name](before, node)
    return before if name in _SAME_COLUMNS else _Frame()


def _assigned(name: str, tree: ast.Module, line: int) -> ast.Assign | None:
    """The last plain assignment to a name before a line."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and node.lineno < line
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _selected(call: ast.Call) -> _Frame:
    items = [
        one
        for argument in call.args
        for one in (argument.elts if isinstance(argument, ast.List) else [argument])
    ]
    columns = [_column(item) for item in items]
    known = {
        column.name.lower(): column
        for column in columns
        if column is not None and column.name != "*"
    }
    return _Frame(known, any(column is None or column.name == "*" for column in columns))


def _column(node: ast.expr) -> Column | None:
    """A column as it is selected: its name, and the code that makes it."""
    text = _text(node)
    if text is not None:
        return Column(
            text.rpartition(".")[2], f"column {text.rpartition('.')[2]}", line=node.lineno
        )
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "alias"
        and node.args
    ):
        alias = _text(node.args[0])
        return Column(alias, _made(node.func.value), line=node.lineno) if alias else None
    if isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) in {"col", "column"}:
        inner = _text(node.args[0])
        return Column(inner.rpartition(".")[2], _made(node), line=node.lineno) if inner else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return Column(node.attr, f"column {node.attr}", line=node.lineno)
    return None


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _made(node: ast.expr) -> str:
    column = _column(node) if not isinstance(node, ast.Call) else None
    if column is not None and column.expression:
        return column.expression
    if isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) in {"col", "column"}:
        return f"column {(_text(node.args[0]) or ast.unparse(node)).rpartition('.')[2]}"
    return ast.unparse(node)


def _with_column(before: _Frame, call: ast.Call) -> _Frame:
    name = _text(call.args[0]) if len(call.args) == 2 else None
    if name is None:
        return replace(before, open=True)
    column = Column(name, _made(call.args[1]), line=call.lineno)
    return replace(before, columns={**before.columns, name.lower(): column})


def _with_rename(before: _Frame, call: ast.Call) -> _Frame:
    names = [_text(one) for one in call.args]
    if len(names) != 2 or names[0] is None or names[1] is None:
        return replace(before, open=True)
    key = names[0].lower()
    if not before.open and key not in before.columns:
        return before
    columns, gone = dict(before.columns), dict(before.gone)
    if key not in columns:
        gone[key] = names[1]
    old = columns.pop(key, Column(names[0], f"column {names[0]}"))
    columns[names[1].lower()] = replace(old, name=names[1], line=call.lineno)
    return replace(before, columns=columns, gone=gone)


def _without(before: _Frame, call: ast.Call) -> _Frame:
    names = {(_text(one) or "").lower() for one in call.args}
    columns = {key: column for key, column in before.columns.items() if key not in names}
    gone = dict.fromkeys(names - before.columns.keys() - {""}) if before.open else {}
    return replace(before, columns=columns, gone={**before.gone, **gone})


_STEPS: dict[str, Callable[[_Frame, ast.Call], _Frame]] = {
    "withColumn": _with_column,
    "withColumnRenamed": _with_rename,
    "drop": _without,
}
