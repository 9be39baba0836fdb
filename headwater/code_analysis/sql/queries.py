"""Reading queries: each SELECT is read once, from the inside out, into outputs and references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from sqlglot import exp

from headwater.code_analysis.model import (
    ALL,
    REFERENCES_MAX,
    ColumnLookup,
    Reference,
    ReferenceCollector,
    TableName,
    UnreadableError,
    line_text,
)
from headwater.code_analysis.names import fold_case
from headwater.code_analysis.sql.scope import (
    NamedQueries,
    Output,
    SelectScope,
    Source,
    TableColumn,
    count_columns,
    distinct_stars,
    rename_outputs,
    union_outputs,
)
from headwater.code_analysis.sql.sqlglot_helpers import (
    alias_columns,
    as_list,
    children_of,
    excluded_columns,
    is_parenthesised_join,
    name_of_table,
    star_of,
)
from headwater.code_analysis.steps import REFERENCE_STEPS, Steps

# The number of source columns of all outputs of a statement together.
SOURCE_COLUMNS_MAX = 200_000
# The clauses that decide over rows, not over values.
_ROW_CLAUSES = (
    "where",
    "group",
    "having",
    "order",
    "sort",
    "cluster",
    "distribute",
    "qualify",
    "joins",
    "connect",
)
# The clauses that see the aliases of the SELECT list first.
_ALIAS_CLAUSES = ("order", "group", "having", "qualify")


class QueryReader:
    """Reads the queries of one statement into `found`, and returns their outputs."""

    def __init__(self, lines: list[str], columns: ColumnLookup, steps: Steps) -> None:
        self.found = ReferenceCollector()
        self.steps = steps
        self._lines = lines
        self._columns = columns
        self._line = 1
        self._source_columns = 0
        self._outputs: dict[int, list[Output]] = {}

    def query(
        self, node: exp.Expr, outer: SelectScope | None, queries: NamedQueries
    ) -> list[Output]:
        """Return the outputs of a query.

        Its references are added once, however often it is used."""
        if id(node) not in self._outputs:
            # A recursive query meets itself, before its outputs are known.
            self._outputs[id(node)] = []
            named = self.named_queries(node, outer, queries)
            outputs = distinct_stars(self._read_query(node, outer, named))
            self.steps.take(1 + len(outputs))
            self._outputs[id(node)] = outputs
        return self._outputs[id(node)]

    def named_queries(
        self, node: exp.Expr, outer: SelectScope | None, queries: NamedQueries
    ) -> NamedQueries:
        """Return `queries` and those that the WITH of a node names."""
        named = dict(queries)
        for common_table in node.args["with_"].expressions if node.args.get("with_") else ():
            name = fold_case(common_table.alias)
            # A recursive query reads itself; that adds no source column that it does not have
            # already.
            named[name] = []
            named[name] = rename_outputs(self.query(common_table.this, outer, named), common_table)
        return named

    def _read_query(
        self, node: exp.Expr, outer: SelectScope | None, queries: NamedQueries
    ) -> list[Output]:
        if isinstance(node, exp.Subquery):
            return rename_outputs(self.query(node.this, outer, queries), node)
        if isinstance(node, exp.SetOperation):
            outputs = self._read_set_operation(node, outer, queries)
            if not node.args.get("by_name"):
                self.mark_stars_by_position(node)
            return outputs
        if isinstance(node, exp.Select):
            return self._read_select(node, outer, queries)
        return []

    def _read_set_operation(
        self, node: exp.SetOperation, outer: SelectScope | None, queries: NamedQueries
    ) -> list[Output]:
        """Return the outputs of a UNION.

        A long chain leans to the left: it is walked without recursion."""
        rights = []
        left: exp.Expr = node
        while isinstance(left, exp.SetOperation) and (left is node or not left.args.get("with_")):
            rights.append(left.expression)
            left = left.this
        sides = [self.query(side, outer, queries) for side in (left, *reversed(rights))]
        for side in sides:
            self.steps.take(count_columns(side))
        return union_outputs(sides)

    def _read_select(
        self, node: exp.Select, outer: SelectScope | None, queries: NamedQueries
    ) -> list[Output]:
        scope = SelectScope(outer, queries)
        for part in ("from_", "joins", "laterals"):
            for source in as_list(node.args.get(part)):
                self.add_source(scope, source)
        outputs = []
        for projection in node.expressions:
            if star_of(projection) is not None:
                outputs += self.expand_star(projection, scope)
                self._refer_within([projection], scope)
                continue
            output = self.output(fold_case(projection.alias_or_name), projection, scope)
            outputs.append(output)
            self._refer_within([projection], scope)
            # Later projections can use the alias.
            scope.aliases.setdefault(output.name, output)
        self._refer_within(children_of(node, "expressions", "with_"), scope)
        return outputs

    def _refer_within(self, nodes: Iterable[exp.Expr], scope: SelectScope) -> None:
        """Add a reference for each column that parts of a SELECT name."""
        for node, clause in self.walk_scope(nodes, scope):
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                self.refer(node, scope, indirect=clause in _ROW_CLAUSES, clause=clause)
            elif isinstance(node, exp.Join):
                self._refer_using(node, scope)

    def walk_scope(
        self, nodes: Iterable[exp.Expr], scope: SelectScope
    ) -> Iterator[tuple[exp.Expr, str]]:
        """Yield the nodes of a scope, each with its clause; nested queries are read on the way."""
        waiting = [(node, node.arg_key or "") for node in nodes]
        while waiting:
            node, clause = waiting.pop()
            if isinstance(node, exp.Query) and not is_parenthesised_join(node):
                self.query(node, scope, scope.queries)
                continue
            yield node, clause
            waiting.extend((child, clause) for child in node.iter_expressions())

    def add_source(self, scope: SelectScope, node: exp.Expr) -> None:
        """Add a part of FROM or JOIN, and the joins that hang on it, to a scope."""
        name = fold_case(node.alias_or_name)
        joins: list[exp.Expr] = []
        if isinstance(node, exp.From | exp.Join) or is_parenthesised_join(node):
            self.add_source(scope, node.this)
            joins = as_list(node.this.args.get("joins"))
        elif isinstance(node, exp.Table):
            joins = as_list(node.args.get("joins"))
            scope.add_source(name, self._table_source(node, scope))
        elif isinstance(node, exp.Query):
            joins = as_list(node.args.get("joins")) if isinstance(node, exp.Subquery) else []
            outputs = self.query(node, scope.outer, scope.queries)
            scope.add_source(name, Source(None, outputs))
        else:
            alias = fold_case(node.alias)
            scope.add_source(alias, self._function_source(node, scope))
        for join in joins:
            self.add_source(scope, join)

    def _table_source(self, node: exp.Table, scope: SelectScope) -> Source:
        name = fold_case(node.name)
        if not node.db and name in scope.queries:
            outputs = scope.queries[name]
            self.steps.take(len(outputs))
            return Source(None, rename_outputs(outputs, node), is_open=not outputs)
        table = name_of_table(node)
        if not table:
            self.found.unknown["a table is made by a function"] = None
            return Source(None, is_open=True)
        self.found.tables.add(table)
        is_pivoted = bool(node.args.get("pivots"))
        if is_pivoted:
            self.found.unknown["a table is pivoted"] = None
        columns = self._columns(table)
        if columns is None or is_pivoted:
            return Source(table, [Output(ALL, frozenset({(table, ALL)}))], is_open=True)
        self.steps.take(len(columns))
        names = [fold_case(column) for column in columns]
        return Source(table, [Output(name, frozenset({(table, name)})) for name in names])

    def _function_source(self, node: exp.Expr, scope: SelectScope) -> Source:
        """Return the source that LATERAL, UNNEST or VALUES makes."""
        inner = node.this if isinstance(node, exp.Lateral) else None
        if isinstance(inner, exp.Subquery):
            return Source(None, rename_outputs(self.query(inner, scope, scope.queries), node))
        result = self.output("", node, scope)
        names = [fold_case(name) for name in alias_columns(node)]
        return Source(None, [replace(result, name=name) for name in names], is_open=not names)

    def expand_star(self, projection: exp.Expr, scope: SelectScope) -> list[Output]:
        """Return the outputs of `*` or `t.*`."""
        qualifier = fold_case(projection.table) if isinstance(projection, exp.Column) else ""
        if qualifier and qualifier not in scope.sources:
            # A field of a struct column.
            columns, sure = scope.resolve(qualifier)
            for table, name in columns:
                self.add_reference(table, name, projection, sure=sure)
            return [Output("", frozenset(columns), sure)]
        star = star_of(projection)
        without = (
            frozenset(fold_case(name) for name in excluded_columns(star)) if star else frozenset()
        )
        outputs: list[Output] = []
        for name, source in scope.sources.items():
            if qualifier in ("", name):
                self.steps.take(len(source.outputs))
                outputs += _without(source.outputs, without)
                is_only = len(scope.sources) == 1
                self._refer_to_star(source, without, projection, is_only=is_only)
        for replacement in as_list(star.args.get("replace") if star else None):
            self.steps.take(len(outputs))
            replaced = self.output(fold_case(replacement.alias), replacement, scope)
            outputs = [replaced if output.name == replaced.name else output for output in outputs]
        return outputs

    def _refer_to_star(
        self, source: Source, without: frozenset[str], projection: exp.Expr, *, is_only: bool
    ) -> None:
        if without:
            self.steps.take(count_columns(source.outputs))
        for table in source.tables if without else ():
            self.steps.take(len(without))
            for name in without:
                self.add_reference(table, name, projection, sure=is_only)
        if source.table is not None:
            self.add_reference(source.table, ALL, projection)

    def output(self, name: str, node: exp.Expr, scope: SelectScope) -> Output:
        """Return an expression as an output: all table columns it comes from."""
        columns: set[TableColumn] = set()
        sure = True
        waiting = [node]
        while waiting:
            expression = waiting.pop()
            if isinstance(expression, exp.Query):
                outputs = self.query(expression, scope, scope.queries)
                self.steps.take(count_columns(outputs))
                columns = columns.union(*(output.columns for output in outputs))
            elif not isinstance(expression, exp.Column):
                waiting.extend(expression.iter_expressions())
            elif not isinstance(expression.this, exp.Star):
                origins, is_sure = self.resolve(expression, scope, "expressions")
                columns |= origins
                sure = sure and is_sure
        self._source_columns += len(columns)
        if self._source_columns > SOURCE_COLUMNS_MAX:
            raise UnreadableError(
                f"the columns of this SQL come from more than {SOURCE_COLUMNS_MAX} source columns"
            )
        return Output(name, frozenset(columns), sure)

    def _refer_using(self, join: exp.Join, scope: SelectScope) -> None:
        for column in as_list(join.args.get("using")):
            self.steps.take(len(scope.sources))
            for source in scope.sources.values():
                if source.table is not None:
                    self.add_reference(source.table, column.name, column, indirect=True)

    def refer(
        self, column: exp.Column, scope: SelectScope, *, indirect: bool, clause: str = ""
    ) -> None:
        """Add a reference for each table column that a name may stand for."""
        columns, sure = self.resolve(column, scope, clause)
        for table, name in columns:
            self.add_reference(table, name, column, sure=sure, indirect=indirect)

    def resolve(
        self, column: exp.Column, scope: SelectScope, clause: str
    ) -> tuple[AbstractSet[TableColumn], bool]:
        """Return the table columns that a name stands for, and whether that is sure."""
        columns, sure = self._resolve(column, scope, clause)
        self.steps.take(len(columns))
        return columns, sure

    def _resolve(
        self, column: exp.Column, scope: SelectScope, clause: str
    ) -> tuple[AbstractSet[TableColumn], bool]:
        qualifier, name = fold_case(column.table), fold_case(column.name)
        if qualifier:
            source = scope.qualified(qualifier)
            if source is not None:
                return source.resolve(name)
            # The qualifier is no source: it is a struct column, and the name one of its fields.
            name = fold_case(column.parts[0].name)
        alias = scope.aliases.get(name)
        if alias is not None and clause in _ALIAS_CLAUSES:
            return alias.columns, alias.sure
        self.steps.take(sum(len(each.sources) for each in scope.scopes()))
        columns, sure = scope.resolve(name)
        if alias is not None and alias.columns != columns:
            has_unknown_columns = any(source.is_open for source in scope.sources.values())
            if has_unknown_columns:
                return columns | alias.columns, False
        return columns, sure

    def mark_stars_by_position(self, node: exp.Expr) -> None:
        """Mark the references of stars in a query whose columns are matched by position."""
        waiting, lines = [node], set[int]()
        while waiting:
            query = waiting.pop()
            if isinstance(query, exp.SetOperation):
                waiting += [query.this, query.expression]
            elif isinstance(query, exp.Subquery):
                waiting.append(query.this)
            elif isinstance(query, exp.Select):
                stars = [item for item in query.expressions if star_of(item) is not None]
                lines.update(self.line_of(star)[0] for star in stars)
        self._mark_lines(lines)

    def _mark_lines(self, lines: set[int]) -> None:
        """Mark the references of stars in these lines. Raises UnreadableError past the bound on
        steps."""
        if not lines:
            return
        self.steps.take(len(self.found.read))
        for reference in list(self.found.read):
            if reference.column == ALL and reference.line in lines and not reference.by_position:
                del self.found.read[reference]
                self.found.read[replace(reference, by_position=True)] = None

    def add_reference(
        self,
        table: TableName,
        column: str,
        node: exp.Expr,
        *,
        sure: bool = True,
        indirect: bool = False,
    ) -> None:
        """Add one reference. Raises UnreadableError past `REFERENCES_MAX`."""
        self.steps.take(max(REFERENCE_STEPS, len(table)))
        reference = self.reference(table, column, node, sure=sure, indirect=indirect)
        _add_bounded(self.found.read, reference)

    def add_written(self, table: TableName, column: str, node: exp.Expr) -> None:
        """Add one column that the statement writes.

        Raises UnreadableError past `REFERENCES_MAX`."""
        _add_bounded(self.found.written, self.reference(table, column, node))

    def reference(
        self,
        table: TableName,
        column: str,
        node: exp.Expr,
        *,
        sure: bool = True,
        indirect: bool = False,
    ) -> Reference:
        """Return a reference at the line of a node."""
        line, text = self.line_of(node)
        return Reference(table, fold_case(column), line, text, sure, indirect)

    def line_of(self, node: exp.Expr) -> tuple[int, str]:
        """Return the line of the first name in a node, and its text.

        Without one it is the line before."""
        for part in node.find_all(exp.Identifier, exp.Star):
            line = part.meta.get("line")
            if isinstance(line, int):
                self._line = line
                break
        return self._line, line_text(self._lines, self._line)


def _without(outputs: list[Output], names: frozenset[str]) -> list[Output]:
    """Return outputs without some columns."""
    remaining = [output for output in outputs if output.name not in names]
    if not names:
        return remaining
    return [
        replace(output, without=output.without | names) if output.name == ALL else output
        for output in remaining
    ]


def _add_bounded(references: dict[Reference, None], reference: Reference) -> None:
    if len(references) >= REFERENCES_MAX:
        raise UnreadableError(f"the SQL refers to more than {REFERENCES_MAX} columns")
    references[reference] = None
