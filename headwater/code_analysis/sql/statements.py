"""The columns that one parsed statement of SQL reads and writes."""

from __future__ import annotations

from sqlglot import exp

from headwater.code_analysis.model import (
    ALL,
    ColumnFlow,
    ColumnLookup,
    Insert,
    References,
    TableName,
)
from headwater.code_analysis.names import fold_case
from headwater.code_analysis.sql.queries import QueryReader
from headwater.code_analysis.sql.scope import Output, SelectScope, count_columns
from headwater.code_analysis.sql.sqlglot_helpers import (
    as_list,
    children_of,
    is_assignment,
    is_insert_target,
    name_of_table,
)
from headwater.code_analysis.steps import Steps

# Statements that refer to no columns.
_SESSION_STATEMENTS = (
    exp.Set,
    exp.Use,
    exp.Transaction,
    exp.Commit,
    exp.Rollback,
    exp.Grant,
    exp.Comment,
    exp.Pragma,
)
_SESSION_COMMANDS = (
    "OPTIMIZE",
    "VACUUM",
    "ANALYZE",
    "REFRESH",
    "SHOW",
    "DESCRIBE",
    "CACHE",
    "UNCACHE",
    "MSCK",
    "REVOKE",
)


def references_in_statement(
    statement: exp.Expr, lines: list[str], columns: ColumnLookup, steps: Steps
) -> References:
    """Return the references of a statement. Raises UnreadableError past a bound."""
    reader = _StatementReader(lines, columns, steps)
    reader.read(statement)
    return reader.found.to_references()


class _StatementReader(QueryReader):
    """Reads one statement; the queries in it are read by the base class."""

    def read(self, node: exp.Expr) -> None:
        """Add the references of a statement to `found`."""
        if isinstance(node, exp.Query):
            outputs = self.query(node, None, {})
            self._set_outputs(outputs)
            self._add_flows((), outputs)
        elif isinstance(node, exp.Create | exp.Insert):
            self._read_create_or_insert(node)
        elif isinstance(node, exp.Merge | exp.Update | exp.Delete):
            self._read_change(node)
        elif isinstance(node, exp.Alter | exp.Drop | exp.TruncateTable):
            self.found.targets.update(name_of_table(table) for table in node.find_all(exp.Table))
        elif not isinstance(node, _SESSION_STATEMENTS):
            self._read_command(node)

    def _read_command(self, node: exp.Expr) -> None:
        word = str(node.this).upper()
        if word not in _SESSION_COMMANDS:
            name = word if isinstance(node, exp.Command) else node.key.upper()
            self.found.unknown[f"{name} cannot be read"] = None

    def _read_create_or_insert(self, node: exp.Create | exp.Insert) -> None:
        """Read CREATE TABLE or VIEW ... AS, and INSERT INTO."""
        columns = node.this.expressions if isinstance(node.this, exp.Schema) else []
        names = tuple(fold_case(column.name) for column in columns)
        table = name_of_table(node.this)
        if not table:
            self.found.unknown["the written table is not named"] = None
        self.found.targets.add(table)
        if isinstance(node, exp.Insert):
            self.found.inserts[Insert(table, names, *self.line_of(node))] = None
            for column in columns:
                self.add_written(table, column.name, column)
        query = node.expression
        if isinstance(query, exp.Query):
            self._read_written_query(node, query, table, names)
        elif query is not None and not isinstance(query, exp.Values | exp.Tuple):
            self.found.unknown["the written rows cannot be read"] = None

    def _read_written_query(
        self,
        node: exp.Create | exp.Insert,
        query: exp.Query,
        table: TableName,
        names: tuple[str, ...],
    ) -> None:
        outputs = self.query(query, None, self.named_queries(node, None, {}))
        self._set_outputs(outputs, names)
        if not isinstance(node, exp.Insert) or node.args.get("by_name"):
            self._add_flows(table, outputs, names)
            return
        columns = tuple(fold_case(column) for column in self._columns(table) or ())
        self._add_flows(table, outputs, names or columns)
        self.mark_stars_by_position(query)

    def _read_change(self, node: exp.Merge | exp.Update | exp.Delete) -> None:
        """Read MERGE, UPDATE or DELETE; the statement is a scope of its own."""
        scope = SelectScope(None, self.named_queries(node, None, {}))
        for part in ("this", "using", "from_", "joins"):
            for source in as_list(node.args.get(part)):
                self.add_source(scope, source)
        table = name_of_table(node.this)
        self.found.targets.add(table)
        for inner, clause in self.walk_scope(children_of(node, "with_"), scope):
            if isinstance(inner, exp.Column):
                self._read_changed_column(inner, clause, table, scope)
            elif isinstance(inner, exp.Star) and isinstance(inner.parent, exp.Update | exp.Insert):
                # MERGE ... UPDATE SET *, INSERT *.
                self._add_flows(table, self.expand_star(inner, scope.without_table(table)))
        if isinstance(node, exp.Merge):
            for insert in node.find_all(exp.Insert):
                self._read_merge_insert(insert, table, scope)

    def _read_changed_column(
        self, column: exp.Column, clause: str, table: TableName, scope: SelectScope
    ) -> None:
        parent = column.parent
        if parent is not None and is_assignment(parent) and parent.this is column:
            self.add_written(table, column.name, column)
            value = parent.expression
            self._add_flows(table, [self.output(fold_case(column.name), value, scope)])
        elif not is_insert_target(column):
            self.refer(column, scope, indirect=clause not in ("expressions", "whens"))

    def _read_merge_insert(self, insert: exp.Insert, table: TableName, scope: SelectScope) -> None:
        """Read WHEN NOT MATCHED THEN INSERT (...) VALUES (...)."""
        columns = insert.this.expressions if isinstance(insert.this, exp.Tuple) else []
        values = insert.expression.expressions if isinstance(insert.expression, exp.Tuple) else []
        names = tuple(fold_case(column.name) for column in columns)
        self.found.inserts[Insert(table, names, *self.line_of(insert))] = None
        for column, value in zip(columns, values, strict=False):
            self.add_written(table, column.name, column)
            self._add_flows(table, [self.output(fold_case(column.name), value, scope)])

    def _set_outputs(self, outputs: list[Output], names: tuple[str, ...] = ()) -> None:
        """Set the columns of a written query, if all of them are known."""
        found = names or tuple(output.name for output in outputs)
        is_known = all(found) and not any(output.name == ALL for output in outputs)
        self.found.outputs = found if is_known else ()

    def _add_flows(
        self, target: TableName, outputs: list[Output], names: tuple[str, ...] = ()
    ) -> None:
        """Add a flow for each source column of a written query.

        `names` are its targets by position."""
        self.steps.take(count_columns(outputs))
        has_star = any(output.name == ALL for output in outputs)
        for number, output in enumerate(outputs):
            is_named = number < len(names) and not has_star
            name = names[number] if is_named else output.name
            for table, column in output.columns:
                flow = ColumnFlow(target, name, table, column, output.sure, output.without)
                self.found.flows[flow] = None
