"""The columns that Python reads through PySpark and pandas, and through SQL in text literals.

Nothing is executed. A frame is followed through assignments and chains of methods, from the table
it was read from. A column named by a variable, a table named by a variable, and SQL built at run
time are unknown. A text that begins like a statement of SQL is read as SQL wherever it stands, as
in the operators of Airflow.

A column that the code looks for before it uses it (`if "total" in orders.columns`) is an option:
code without it does not fail, so references to it are not sure.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from headwater.code_analysis.dbt.references import references_in_model
from headwater.code_analysis.model import (
    ALL,
    REFERENCES_MAX,
    UNKNOWN_NAME,
    ColumnFlow,
    ColumnLookup,
    Reference,
    ReferenceCollector,
    References,
    TableName,
    UnreadableError,
    line_text,
    no_columns,
    unknown_references,
)
from headwater.code_analysis.names import fold_case
from headwater.code_analysis.pyspark.calls import (
    ADDED_COLUMN_POSITION,
    COLUMN_CALLS,
    COLUMN_KEYWORDS,
    EXPRESSION_CALLS,
    FILE_FORMATS,
    FIRST_ARGUMENT_CALLS,
    FRAME_ATTRIBUTES,
    JOIN_CALLS,
    SQL_CALLS,
    SQL_KEYWORD,
    SQL_TEXT,
    WORD,
    is_column_expression,
    is_read,
    is_write,
    names_column,
    table_name,
)
from headwater.code_analysis.pyspark.python_ast import called_name, names_in_chain
from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX
from headwater.code_analysis.steps import REFERENCE_STEPS, Steps


@dataclass(frozen=True)
class Frame:
    """The origin of a data frame: tables, or the query whose outputs it has.

    `added` are columns it was given."""

    tables: frozenset[TableName] = frozenset()
    query: References | None = None
    added: frozenset[str] = frozenset()

    def joined_with(self, other: Frame) -> Frame:
        """Return the frame of a join or union of two frames."""
        tables, added = self.tables | other.tables, self.added | other.added
        return Frame(tables, self.query or other.query, added)

    @property
    def all_tables(self) -> frozenset[TableName]:
        """Return its tables, those of its query included."""
        return self.tables | (self.query.tables if self.query else frozenset())


def references_in_python(
    text: str,
    *,
    dialect: str = "",
    columns: ColumnLookup = no_columns,
    steps: Steps | None = None,
) -> References:
    """Return the references of a script; a script that cannot be parsed is unknown.

    Several texts may share `steps`."""
    steps = steps or Steps()
    if len(text) > TEXT_LENGTH_MAX:
        return unknown_references(f"the Python is longer than {TEXT_LENGTH_MAX} characters")

    def read_sql(sql: str) -> References:
        return references_in_model(sql, dialect=dialect or "spark", columns=columns, steps=steps)

    try:
        reader = _ScriptReader(text.splitlines(), read_sql, steps)
        reader.read(ast.parse(text))
    except (SyntaxError, ValueError) as error:
        problem = getattr(error, "msg", "no text")
        line = getattr(error, "lineno", 0)
        return unknown_references(f"the Python cannot be read: {problem} at line {line}")
    except (RecursionError, MemoryError):
        return unknown_references("the Python is nested too deeply")
    except UnreadableError as error:
        return unknown_references(str(error))
    return reader.found.to_references()


class _ScriptReader:
    """Reads one script into `found`. Raises UnreadableError past the bound on steps."""

    def __init__(
        self, lines: list[str], read_sql: Callable[[str], References], steps: Steps
    ) -> None:
        self.found = ReferenceCollector()
        self._steps = steps
        self._lines = lines
        self._read_sql = read_sql
        self._frames: dict[str, Frame] = {}
        self._literals: dict[str, list[str]] = {}
        # Variables that hold an expression of columns, not the name of one.
        self._expressions: set[str] = set()
        # Columns of an unknown frame, with their lines.
        self._frameless: list[tuple[str, int]] = []
        self._added: set[str] = set()
        self._optional: set[str] = set()
        # The texts that were read as SQL, and the ids of their nodes.
        self._read_texts: set[str] = set()
        self._read_nodes: set[int] = set()

    def read(self, module: ast.Module) -> None:
        """Add the references of a module."""
        self._read_words(module)
        self._find_optional(module)
        self._read_block(module.body)
        self._read_sql_texts(module)
        if len(self._frameless) * len(self.found.tables) > REFERENCES_MAX:
            self._note("too many columns are named", 0)
            self._frameless = []
        for name, line in self._frameless:
            for table in self.found.tables:
                is_sure = len(self.found.tables) == 1 and name not in self._added
                self._refer(table, name, line, sure=is_sure)

    def _read_words(self, module: ast.Module) -> None:
        """Add all words of the code in which a column may be named."""
        for node in ast.walk(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.found.words.update(map(fold_case, WORD.findall(node.value)))
            elif isinstance(node, ast.Attribute):
                self.found.words.add(fold_case(node.attr))
            elif isinstance(node, ast.keyword) and node.arg:
                self.found.words.add(fold_case(node.arg))

    def _find_optional(self, module: ast.Module) -> None:
        """Find the columns that the code looks for among those of a frame."""
        for node in ast.walk(module):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
                listed = node.comparators[0]
                if isinstance(listed, ast.Attribute) and listed.attr == "columns":
                    self._optional.update(map(fold_case, self._literal(node.left) or ()))

    def _read_sql_texts(self, module: ast.Module) -> None:
        """Read the SQL in texts that no call has read; a docstring is not SQL."""
        skipped = self._read_nodes
        for node in ast.walk(module):
            if isinstance(node, ast.Expr):
                skipped.add(id(node.value))
            elif isinstance(node, ast.JoinedStr):
                skipped.update(map(id, node.values))
        for node in ast.walk(module):
            if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
                continue
            start = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
            text = start.value if isinstance(start, ast.Constant) else None
            is_unread = isinstance(text, str) and text not in self._read_texts
            if is_unread and SQL_TEXT.match(str(text)):
                self._read_query(node, node.lineno)

    def _read_block(self, statements: Iterable[ast.AST]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Assign):
                self._read_assignment(statement)
                continue
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    self._frame_of(child, None)
                else:
                    self._read_block([child])

    def _read_assignment(self, node: ast.Assign) -> None:
        frame = self._frame_of(node.value, None)
        texts = self._literal(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._assign(target.id, frame, texts)
                if frame is None and is_column_expression(node.value):
                    self._expressions.add(target.id)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                self._add_column(target.value.id, target.slice)
            else:
                self._frame_of(target, None)

    def _assign(self, name: str, frame: Frame | None, texts: list[str] | None) -> None:
        self._frames.pop(name, None)
        self._literals.pop(name, None)
        self._expressions.discard(name)
        if frame is not None:
            self._frames[name] = frame
        if texts is not None:
            self._literals[name] = texts

    def _add_column(self, name: str, column: ast.expr) -> None:
        """Add a column to a frame: `df["x"] = ...`."""
        frame = self._frames.get(name)
        if frame is not None:
            added = frozenset(map(fold_case, self._literal(column) or ()))
            self._frames[name] = self._with_columns(frame, added)

    def _with_columns(self, frame: Frame, added: frozenset[str]) -> Frame:
        self._steps.take(len(frame.added) + len(added))
        return replace(frame, added=frame.added | added)

    def _frame_of(self, node: ast.AST, around: Frame | None) -> Frame | None:
        """Return the frame that an expression makes, if any, and add its references.

        around: the frame of columns that name no frame of their own."""
        if isinstance(node, ast.Name):
            return self._frames.get(node.id)
        if isinstance(node, ast.Call):
            return self._read_call(node, around)
        if isinstance(node, ast.Attribute):
            frame = self._frame_of(node.value, around)
            if frame is not None and node.attr not in FRAME_ATTRIBUTES:
                self._refer_to_column(node.attr, node.lineno, frame)
            return frame
        if isinstance(node, ast.Subscript):
            return self._read_subscript(node, around)
        first = None
        for child in ast.iter_child_nodes(node):
            frame = self._frame_of(child, around)
            first = first or frame
        is_frame = isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp | ast.Await)
        return first if is_frame else None

    def _read_subscript(self, node: ast.Subscript, around: Frame | None) -> Frame | None:
        """Read `df["a"]`, `df[["a", "b"]]` or `df[condition]`."""
        frame = self._frame_of(node.value, around)
        names = self._literal(node.slice)
        if frame is None or names is None:
            self._frame_of(node.slice, frame or around)
            is_variable = isinstance(node.slice, ast.Name) and node.slice.id not in self._frames
            if frame is not None and (is_variable or isinstance(node.slice, ast.JoinedStr)):
                self._note("a column is named by a variable", node.lineno)
            return frame
        for name in names:
            self._refer_to_column(name, node.lineno, frame)
        return frame

    def _read_call(self, node: ast.Call, around: Frame | None) -> Frame | None:
        """Read a call: it writes a frame, runs SQL, reads a table, or is another method."""
        method = called_name(node)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        base = self._owner_frame(owner, around)
        chain = names_in_chain(owner)
        if "write" in chain or is_write(method):
            return self._read_write(node, method, base, is_writer="write" in chain)
        if base is None and method in SQL_CALLS and node.args:
            return self._read_query(node.args[0], node.lineno)
        if base is None and is_read(method, chain):
            self._read_arguments(node, method, None)
            return self._read_table(node, method)
        argument_kind = "col" if names_column(method, owner) else method
        others = self._read_arguments(node, argument_kind, base or around)
        return base if base is None else self._frame_after(node, method, base, others)

    def _owner_frame(self, owner: ast.expr | None, around: Frame | None) -> Frame | None:
        if isinstance(owner, ast.Name):
            return self._frames.get(owner.id)
        return self._frame_of(owner, around) if owner is not None else None

    def _frame_after(self, node: ast.Call, method: str, base: Frame, others: list[Frame]) -> Frame:
        """Return the frame that a method of a frame makes."""
        position = ADDED_COLUMN_POSITION.get(method)
        if position is not None and len(node.args) > position:
            names = frozenset(map(fold_case, self._literal(node.args[position]) or ()))
            self._added |= names
            base = self._with_columns(base, names)
        if method in JOIN_CALLS:
            for other in others:
                base = base.joined_with(other)
                self._steps.take(len(base.tables) + len(base.added))
        return base

    def _read_arguments(self, node: ast.Call, method: str, frame: Frame | None) -> list[Frame]:
        """Add the references of the arguments of a call. Return the frames among them."""
        if method == "alias":
            names = self._literal(node.args[0]) if node.args else None
            self._added.update(map(fold_case, names or ()))
            return []
        if method in COLUMN_CALLS:
            count = 1 if method in FIRST_ARGUMENT_CALLS else len(node.args)
            for argument in node.args[:count]:
                self._refer_to_argument(argument, frame)
        for keyword in node.keywords:
            if keyword.arg == SQL_KEYWORD:
                self._read_sql_keyword(keyword.value)
                continue
            if keyword.arg in COLUMN_KEYWORDS:
                self._refer_to_argument(keyword.value, frame)
            self._frame_of(keyword.value, frame)
        frames = []
        for argument in node.args:
            if method in EXPRESSION_CALLS:
                for text in self._literal(argument) or ():
                    self._read_expression(text, argument.lineno, frame)
            frames.append(self._frame_of(argument, frame))
        return [frame for frame in frames if frame is not None]

    def _refer_to_argument(self, argument: ast.AST, frame: Frame | None) -> None:
        """Add references for an argument that names columns, if it is text."""
        if isinstance(argument, ast.Starred):
            argument = argument.value
        if isinstance(argument, ast.Dict):
            keys = [key for key in argument.keys if key is not None]
            argument = ast.copy_location(ast.List(elts=keys, ctx=ast.Load()), argument)
        names = self._literal(argument)
        line = getattr(argument, "lineno", 1)
        for name in names or ():
            self._refer_to_column(name, line, frame)
        is_variable = isinstance(argument, ast.Name) and not self._is_known(argument.id)
        is_built = isinstance(argument, ast.JoinedStr | ast.ListComp)
        if names is None and (is_variable or is_built):
            self._note("a column is named by a variable", line)

    def _is_known(self, name: str) -> bool:
        """Return True for a variable that holds a frame or an expression of columns."""
        return name in self._frames or name in self._expressions

    def _refer_to_column(self, name: str, line: int, frame: Frame | None) -> None:
        tables = frame.tables if frame is not None else frozenset()
        # Without a table of its own, `o.total` is the column `total` of an alias.
        name = fold_case(name if tables else name.partition(".")[2] or name)
        if name == ALL:
            return
        if frame is None:
            self._frameless.append((name, line))
            return
        if frame.query is not None:
            self._refer_through_query(name, line, frame.query, frame.added)
        is_sure = len(tables) == 1 and frame.query is None and name not in frame.added
        for table in tables:
            self._refer(table, name, line, sure=is_sure)

    def _refer_through_query(
        self, name: str, line: int, query: References, added: frozenset[str]
    ) -> None:
        self._steps.take(len(query.flows))
        for flow in query.flows:
            if flow.column in (name, ALL):
                column = name if flow.source_column == ALL else flow.source_column
                self._refer(flow.source, column, line, sure=flow.sure and name not in added)

    def _refer(self, table: TableName, name: str, line: int, *, sure: bool) -> None:
        self._steps.take(max(REFERENCE_STEPS, len(table)))
        sure = sure and name not in self._optional
        reference = Reference(table, name, line, line_text(self._lines, line), sure)
        self.found.read[reference] = None

    def _read_expression(self, text: str, line: int, frame: Frame | None) -> None:
        """Read the SQL expression of `filter`, `expr` or `selectExpr`."""
        inside = self._read_sql(f"select {text} from {UNKNOWN_NAME}")
        for reason in inside.unknown:
            self._note(reason, line)
        for reference in inside.read:
            self._refer_to_column(reference.column, line, frame)

    def _read_sql_keyword(self, value: ast.expr) -> None:
        """Read the SQL that an operator runs: a text, a list of texts, or the name of a file."""
        statements = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        for one in statements:
            texts = self._literal(one) or []
            if any(text.rstrip().endswith(".sql") for text in texts):
                self._note("the SQL is in another file", one.lineno)
            else:
                self._read_query(one, one.lineno)

    def _read_query(self, argument: ast.expr, line: int) -> Frame:
        """Read a query in a text literal; its references move to their lines of the script."""
        self._read_nodes.add(id(argument))
        texts = self._literal(argument)
        if isinstance(argument, ast.JoinedStr):
            texts = [self._fill_in(argument)]
        inside = unknown_references("SQL is put together at run time")
        if texts:
            self._read_texts.update(texts)
            inside = self._read_sql(texts[0])
        default_text = line_text(self._lines, line)
        read = []
        for reference in inside.read:
            script_line = argument.lineno + reference.line - 1
            read.append(replace(reference, line=script_line, text=reference.text or default_text))
        flows = tuple(flow for flow in inside.flows if flow.target)
        self.found.add(replace(inside, read=tuple(read), flows=flows))
        return Frame(query=inside)

    def _fill_in(self, node: ast.JoinedStr) -> str:
        """Return an f-string with its known values filled in."""
        pieces = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                names = self._literal(part.value) or []
                if len(names) != 1:
                    self._note("SQL is put together at run time", node.lineno)
                pieces.append(names[0] if len(names) == 1 else UNKNOWN_NAME)
            else:
                pieces.append(str(getattr(part, "value", "")))
        self._steps.take(sum(map(len, pieces)))
        return "".join(pieces)

    def _read_table(self, node: ast.Call, method: str) -> Frame | None:
        """Return the frame of a call that reads a table or a file."""
        position = 1 if method in ("forName", "forPath") else 0
        argument = node.args[position] if len(node.args) > position else None
        names = self._literal(argument)
        if not names:
            if method != "load" or argument is not None:
                self._note("a table is named by a variable", node.lineno)
            return None
        tables = frozenset(table_name(name) for name in names)
        self.found.tables |= tables
        return Frame(tables)

    def _read_write(
        self, node: ast.Call, method: str, base: Frame | None, *, is_writer: bool
    ) -> Frame | None:
        """Add a flow of all columns into the written table: which columns these are is not sure."""
        self._read_arguments(node, "", base)
        names = self._literal(node.args[0]) if node.args else None
        if is_write(method) or (is_writer and method in FILE_FORMATS):
            for name in names or ():
                target = table_name(name)
                self.found.targets.add(target)
                sources = (base.all_tables if base else None) or self.found.tables
                self._steps.take(len(sources))
                for source in sources:
                    flow = ColumnFlow(target, ALL, source, ALL, sure=False)
                    self.found.flows[flow] = None
        return base

    def _literal(self, node: ast.AST | None) -> list[str] | None:
        """Return the texts of an expression, or None if they are only known at run time."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            texts = self._literals.get(node.id)
            self._steps.take(sum(1 + len(text) for text in texts or ()))
            return texts
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._literal_list(node.elts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._literal(node.left), self._literal(node.right)
            if left and right and len(left) == len(right) == 1:
                self._steps.take(len(left[0]) + len(right[0]))
                return [left[0] + right[0]]
        return None

    def _literal_list(self, items: Iterable[ast.expr]) -> list[str] | None:
        texts: list[str] = []
        for item in items:
            literal = self._literal(item)
            if literal is None:
                return None
            self._steps.take(len(literal))
            texts += literal
        return texts or None

    def _note(self, reason: str, line: int) -> None:
        self.found.unknown[f"{reason} at line {line}"] = None
