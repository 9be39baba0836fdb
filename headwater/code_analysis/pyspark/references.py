"""What Python refers to: tables that PySpark and pandas read, columns of the frames made of them, SQL in strings.

Nothing is run. A frame is followed through assignments and chains of methods from what it was read from. A name of a
column that is no literal, a table named by a variable, SQL put together at run time: all of that is *unknown*. `words`
are all the words in the code in which a column could still be named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from headwater.code_analysis.dbt.jinja import UNKNOWN
from headwater.code_analysis.model import (
    ALL,
    REFERENCES_MAX,
    ColumnFlow,
    Reference,
    ReferenceCollector,
    References,
    TableName,
    fold_case,
    line_of,
    nothing_known,
)
from headwater.code_analysis.sql.parse import (
    TEXT_BYTES_MAX,
    Columns,
    references_in_sql,
    unknown_columns,
)

_WORD = re.compile(r"\w+")
_READERS = re.compile(
    r"(load|parquet|csv|json|orc|text|delta|table|avro|jdbc|read_\w+|scan_\w+|forName|forPath)"
)
_SQL = {"sql", "read_sql", "read_sql_query", "read_database", "execute"}
_WRITERS = re.compile(
    r"(saveAsTable|insertInto|save|to_(csv|parquet|sql|json|excel|feather|delta|gbq)|writeTo|write_\w+)"
)
_FILES = {"parquet", "csv", "json", "orc", "text", "delta", "avro", "jdbc"}
_NAMES = {
    "select", "groupBy", "groupby", "group_by", "orderBy", "sort", "sort_values", "drop", "dropDuplicates", "cube",
    "drop_duplicates", "withColumnRenamed", "partitionBy", "rollup", "agg", "dropna", "fillna", "set_index", "rename",
    "repartition", "sortWithinPartitions", "pivot", "join", "merge", "isin_column", "nunique", "value_counts", "col",
}  # fmt: skip
_KEYWORDS = {
    "by",
    "on",
    "left_on",
    "right_on",
    "subset",
    "cols",
    "columns",
    "usecols",
    "index",
    "values",
    "partitionBy",
}
_EXPRESSIONS = {"filter", "where", "expr", "selectExpr", "query", "eval"}
_FUNCTIONS = {"F", "f", "fn", "sf", "functions", "pl"}
_NO_COLUMN = {"lit", "expr", "current_date", "current_timestamp", "when", "udf"}
_JOINING = {
    "join",
    "merge",
    "union",
    "unionByName",
    "unionAll",
    "crossJoin",
    "intersect",
    "subtract",
    "append",
}
_MADE = {"withColumn": 0, "withColumnRenamed": 1, "alias": 0}


@dataclass(frozen=True)
class Frame:
    """What a value of the script comes from: tables, or the outputs of a query; `made` are columns it was given."""

    tables: frozenset[TableName] = frozenset()
    query: References | None = None
    made: frozenset[str] = frozenset()

    def beside(self, other: Frame) -> Frame:
        return Frame(self.tables | other.tables, self.query or other.query, self.made | other.made)


def references_in_python(
    text: str, *, dialect: str = "", columns: Columns = unknown_columns
) -> References:
    """What a script refers to."""
    if len(text) > TEXT_BYTES_MAX:
        return nothing_known(f"the Python is longer than {TEXT_BYTES_MAX} characters")
    try:
        script = _Script(
            text.splitlines(),
            lambda sql: references_in_sql(sql, dialect=dialect or "spark", columns=columns),
        )
        script.read(ast.parse(text))
    except (SyntaxError, ValueError) as error:
        return nothing_known(
            f"the Python cannot be read: {getattr(error, 'msg', 'no text')} at line {getattr(error, 'lineno', 0)}"
        )
    except (RecursionError, MemoryError):
        return nothing_known("the Python is nested too deeply")
    return script.found.done()


class _Script:
    def __init__(self, lines: list[str], sql: Callable[[str], References]) -> None:
        self.lines = lines
        self.sql = sql
        self.found = ReferenceCollector()
        self.frames: dict[str, Frame] = {}
        self.texts: dict[str, list[str]] = {}
        # Columns named where it cannot be told of which frame.
        self.loose: list[tuple[str, int]] = []
        self.made: set[str] = set()

    def read(self, module: ast.Module) -> None:
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.found.words.update(map(fold_case, _WORD.findall(node.value)))
            elif isinstance(node, ast.Attribute):
                self.found.words.add(fold_case(node.attr))
            elif isinstance(node, ast.keyword) and node.arg:
                self.found.words.add(fold_case(node.arg))
        self.block(module.body)
        if len(self.loose) * len(self.found.tables) > REFERENCES_MAX:
            self.note("too many columns are named", 0)
            self.loose = []
        for name, line in self.loose:
            for table in self.found.tables:
                is_sure = len(self.found.tables) == 1 and name not in self.made
                self.refer(table, name, line, sure=is_sure)

    def block(self, statements: Iterable[ast.AST]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Assign):
                self.assign(statement)
                continue
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    self.value(child, None)
                else:
                    self.block([child])

    def assign(self, node: ast.Assign) -> None:
        frame = self.value(node.value, None)
        texts = self.literal(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.frames.pop(target.id, None)
                self.texts.pop(target.id, None)
                if frame is not None:
                    self.frames[target.id] = frame
                if texts is not None:
                    self.texts[target.id] = texts
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                self.give(target)
            else:
                self.value(target, None)

    def give(self, target: ast.Subscript) -> None:
        """`df["x"] = ...`: the frame is given a column."""
        assert isinstance(target.value, ast.Name)
        frame = self.frames.get(target.value.id)
        if frame is not None:
            names = frozenset(map(fold_case, self.literal(target.slice) or ()))
            self.frames[target.value.id] = replace(frame, made=frame.made | names)

    def value(self, node: ast.AST, around: Frame | None) -> Frame | None:
        """The frame that an expression makes, if it does; what it refers to is noted. `around` is the frame that names
        without a frame of their own belong to."""
        if isinstance(node, ast.Name):
            return self.frames.get(node.id)
        if isinstance(node, ast.Call):
            return self.call(node, around)
        if isinstance(node, ast.Attribute):
            frame = self.value(node.value, around)
            if frame is not None and node.attr not in (
                "write",
                "writeStream",
                "str",
                "dt",
                "loc",
                "iloc",
                "columns",
            ):
                self.column(node.attr, node.lineno, frame)
            return frame
        if isinstance(node, ast.Subscript):
            return self.subscript(node, around)
        found = None
        for child in ast.iter_child_nodes(node):
            frame = self.value(child, around)
            found = found or frame
        return found if isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp | ast.Await) else None

    def subscript(self, node: ast.Subscript, around: Frame | None) -> Frame | None:
        frame = self.value(node.value, around)
        names = self.literal(node.slice)
        if frame is None or names is None:
            self.value(node.slice, frame or around)
            is_named = isinstance(node.slice, ast.Name) and node.slice.id not in self.frames
            if frame is not None and (is_named or isinstance(node.slice, ast.JoinedStr)):
                self.note("a column is named by a variable", node.lineno)
            return frame
        for name in names:
            self.column(name, node.lineno, frame)
        return frame

    def call(self, node: ast.Call, around: Frame | None) -> Frame | None:
        method = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if owner is not None and not isinstance(owner, ast.Name):
            base = self.value(owner, around)
        else:
            base = self.frames.get(owner.id) if owner is not None else None
        is_writing = "write" in _chain(owner)
        if is_writing or _WRITERS.fullmatch(method):
            return self.write(node, method, base, is_writing)
        if base is None and method in _SQL and node.args:
            return self.query(node.args[0], node.lineno)
        if (
            base is None
            and _READERS.fullmatch(method)
            and ("read" in _chain(owner) or method not in _FILES)
        ):
            self.arguments(node, method, None)
            return self.reading(node, method)
        is_function = method in ("col", "column") or (
            isinstance(owner, ast.Name) and owner.id in _FUNCTIONS
        )
        others = self.arguments(
            node, "col" if is_function and method not in _NO_COLUMN else method, base or around
        )
        return base if base is None else self.onward(node, method, base, others)

    def onward(self, node: ast.Call, method: str, base: Frame, others: list[Frame]) -> Frame:
        """The frame that a method of a frame makes."""
        place = _MADE.get(method)
        if place is not None and len(node.args) > place:
            names = frozenset(map(fold_case, self.literal(node.args[place]) or ()))
            self.made |= names
            base = replace(base, made=base.made | names)
        if method in _JOINING:
            for other in others:
                base = base.beside(other)
        return base

    def arguments(self, node: ast.Call, method: str, frame: Frame | None) -> list[Frame]:
        """Note what the arguments of a call refer to; the frames among them."""
        found = []
        if method == "alias":
            self.made.update(map(fold_case, self.literal(node.args[0]) or () if node.args else ()))
            return []
        first = node.args[:1] if method in ("col", "withColumnRenamed") else node.args
        for argument in first if method in _NAMES else ():
            self.named(argument, frame)
        for keyword in node.keywords:
            if keyword.arg in _KEYWORDS:
                self.named(keyword.value, frame)
            self.value(keyword.value, frame)
        for argument in node.args:
            if method in _EXPRESSIONS:
                for text in self.literal(argument) or ():
                    self.expression(text, argument.lineno, frame)
            found.append(self.value(argument, frame))
        return [one for one in found if one is not None]

    def named(self, argument: ast.AST, frame: Frame | None) -> None:
        """An argument that names columns, if it is text."""
        if isinstance(argument, ast.Starred):
            argument = argument.value
        if isinstance(argument, ast.Dict):
            keys = [key for key in argument.keys if key is not None]
            argument = ast.copy_location(ast.List(elts=keys, ctx=ast.Load()), argument)
        names = self.literal(argument)
        line = getattr(argument, "lineno", 1)
        for name in names or ():
            self.column(name, line, frame)
        is_variable = isinstance(argument, ast.Name) and argument.id not in self.frames
        if names is None and (is_variable or isinstance(argument, ast.JoinedStr | ast.ListComp)):
            self.note("a column is named by a variable", line)

    def column(self, name: str, line: int, frame: Frame | None) -> None:
        name = (
            fold_case(name.partition(".")[2] or name)
            if frame is None or not frame.tables
            else fold_case(name)
        )
        if name == ALL:
            return
        if frame is None:
            self.loose.append((name, line))
        elif frame.query is not None:
            self.of_query(name, line, frame)
        for table in frame.tables if frame is not None else ():
            is_sure = (
                len(frame.tables) == 1 and frame.query is None and name not in frame.made
                if frame
                else False
            )
            self.refer(table, name, line, sure=is_sure)

    def of_query(self, name: str, line: int, frame: Frame) -> None:
        for flow in frame.query.flows if frame.query is not None else ():
            if flow.column in (name, ALL):
                column = name if flow.source_column == ALL else flow.source_column
                self.refer(flow.source, column, line, sure=flow.sure and name not in frame.made)

    def refer(self, table: TableName, name: str, line: int, *, sure: bool) -> None:
        self.found.read[Reference(table, name, line, line_of(self.lines, line), sure)] = None

    def expression(self, text: str, line: int, frame: Frame | None) -> None:
        """SQL in `filter`, `expr`, `selectExpr`."""
        inside = self.sql(f"select {text} from {UNKNOWN}")
        for reason in inside.unknown:
            self.note(reason, line)
        for reference in inside.read:
            self.column(reference.column, line, frame)

    def query(self, argument: ast.AST, line: int) -> Frame:
        texts = self.literal(argument)
        if isinstance(argument, ast.JoinedStr):
            texts = [self.filled(argument)]
        inside = (
            self.sql(texts[0])
            if texts
            else References(unknown=("SQL is put together at run time",))
        )
        moved = [
            replace(
                one, line=argument.lineno + one.line - 1, text=one.text or line_of(self.lines, line)
            )
            for one in inside.read
            if isinstance(argument, ast.expr)
        ]
        self.found.take(
            replace(
                inside, read=tuple(moved), flows=tuple(one for one in inside.flows if one.target)
            )
        )
        return Frame(query=inside)

    def filled(self, node: ast.JoinedStr) -> str:
        """An f-string with what is known filled in."""
        pieces = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                known = self.literal(part.value)
                if known is None or len(known) != 1:
                    self.note("SQL is put together at run time", node.lineno)
                pieces.append(known[0] if known and len(known) == 1 else UNKNOWN)
            else:
                pieces.append(str(getattr(part, "value", "")))
        return "".join(pieces)

    def reading(self, node: ast.Call, method: str) -> Frame | None:
        place = 1 if method in ("forName", "forPath") else 0
        argument = node.args[place] if len(node.args) > place else None
        names = self.literal(argument) if argument is not None else None
        if not names:
            if method != "load" or argument is not None:
                self.note("a table is named by a variable", node.lineno)
            return None
        tables = frozenset(_table(name) for name in names)
        self.found.tables |= tables
        return Frame(tables)

    def write(
        self, node: ast.Call, method: str, base: Frame | None, is_writing: bool
    ) -> Frame | None:
        """A frame is written: all its columns, as far as one can tell."""
        self.arguments(node, "", base)
        names = self.literal(node.args[0]) if node.args else None
        if names and (_WRITERS.fullmatch(method) or (is_writing and method in _FILES)):
            for name in names:
                target = _table(name)
                self.found.targets.add(target)
                sources = (
                    base.tables | (base.query.tables if base.query else frozenset())
                    if base
                    else frozenset()
                )
                for source in sources or self.found.tables:
                    self.found.flows[ColumnFlow(target, ALL, source, ALL, sure=False)] = None
        return base

    def literal(self, node: ast.AST | None) -> list[str] | None:
        """The texts that an expression is, when it can be told without running it."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.texts.get(node.id)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            found = [self.literal(one) for one in node.elts]
            return (
                [text for one in found if one for text in one]
                if any(found) and all(one is not None for one in found)
                else None
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.literal(node.left), self.literal(node.right)
            return [left[0] + right[0]] if left and right and len(left) == len(right) == 1 else None
        return None

    def note(self, reason: str, line: int) -> None:
        self.found.unknown[f"{reason} at line {line}"] = None


def _chain(node: ast.AST | None) -> list[str]:
    """The names that a chain of attributes and calls is made of."""
    names = []
    while node is not None:
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            names.append(getattr(node, "id", ""))
            node = None
    return names


def _table(name: str) -> TableName:
    return (name,) if "/" in name else tuple(name.replace("`", "").split("."))
