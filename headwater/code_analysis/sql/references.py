"""What one statement of SQL refers to, once it is parsed: every block of it is read once, from the inside out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from headwater.code_analysis.model import (
    ALL,
    REFERENCES_MAX,
    ColumnFlow,
    Insert,
    Reference,
    ReferenceCollector,
    References,
    TableName,
    fold_case,
    line_of,
)
from headwater.code_analysis.sql.scope import (
    Block,
    Leaf,
    Output,
    Queries,
    Source,
    anywhere,
    beside,
    in_source,
    renamed,
    united,
)
from headwater.code_analysis.sql.sqlglot_helpers import (
    assigns,
    children_of,
    is_inserted,
    is_joined,
    is_lateral,
    listed,
    star_of,
    table_of,
)

if TYPE_CHECKING:
    from headwater.code_analysis.sql.parse import Columns

# How many columns all outputs together may come from.
LEAVES_MAX = 200_000
_CLAUSES = (
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
_STAGE = (
    exp.Set,
    exp.Use,
    exp.Transaction,
    exp.Commit,
    exp.Rollback,
    exp.Grant,
    exp.Comment,
    exp.Pragma,
)
_STAGE_WORDS = (
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


def references_in_statement(statement: exp.Expr, lines: list[str], columns: Columns) -> References:
    """What a statement refers to."""
    reading = _Reading(lines, columns)
    reading.statement(statement)
    return reading.found.done()


class _Reading:
    def __init__(self, lines: list[str], columns: Columns) -> None:
        self.lines = lines
        self.columns = columns
        self.found = ReferenceCollector()
        self._line = 1
        self._leaves = 0
        self._read: dict[int, list[Output]] = {}

    def statement(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Query):
            self.flow((), self.query(node, None, {}), ())
        elif isinstance(node, exp.Create | exp.Insert):
            self.written(node)
        elif isinstance(node, exp.Merge | exp.Update | exp.Delete):
            self.changing(node)
        elif isinstance(node, exp.Alter | exp.Drop | exp.TruncateTable):
            self.found.targets.update(table_of(table) for table in node.find_all(exp.Table))
        elif not isinstance(node, _STAGE) and str(node.this).upper() not in _STAGE_WORDS:
            word = str(node.this).upper() if isinstance(node, exp.Command) else node.key.upper()
            self.found.unknown[f"{word} cannot be read"] = None

    def written(self, node: exp.Create | exp.Insert) -> None:
        """CREATE TABLE or VIEW ... AS, INSERT INTO."""
        named = node.this
        names = (
            tuple(fold_case(part.name) for part in named.expressions)
            if isinstance(named, exp.Schema)
            else ()
        )
        table = table_of(named.this if isinstance(named, exp.Schema) else named)
        query = node.expression
        if not table:
            self.found.unknown["what is written to is not named"] = None
        self.found.targets.add(table)
        if isinstance(node, exp.Insert):
            self.found.inserts.append(Insert(table, names, *self.place(node)))
            for part in named.expressions if isinstance(named, exp.Schema) else ():
                self.note(self.found.written, table, part.name, part)
        if isinstance(query, exp.Query):
            outputs = self.query(query, None, self.with_(node, None, {}))
            by_position = isinstance(node, exp.Insert) and not node.args.get("by_name")
            into = (
                names or tuple(map(fold_case, self.columns(table) or ())) if by_position else names
            )
            self.flow(table, outputs, into)
            if by_position:
                self.by_position(query)
        elif query is not None and not isinstance(query, exp.Values | exp.Tuple):
            self.found.unknown["what is written cannot be read"] = None

    def changing(self, node: exp.Merge | exp.Update | exp.Delete) -> None:
        """MERGE, UPDATE, DELETE: the statement is a block of its own."""
        block = Block(None, self.with_(node, None, {}))
        for part in ("this", "using", "from_", "joins"):
            for one in listed(node.args.get(part)):
                self.source(block, one)
        table = table_of(node.this)
        self.found.targets.add(table)
        for found, clause in self.inside(children_of(node, "with_"), block):
            assigned = found.parent
            if isinstance(found, exp.Column):
                is_target = (
                    isinstance(assigned, exp.EQ) and assigned.this is found and assigns(assigned)
                )
                if is_target and isinstance(assigned, exp.EQ):
                    self.note(self.found.written, table, found.name, found)
                    self.flow(
                        table, [self.output(fold_case(found.name), assigned.expression, block)], ()
                    )
                elif not is_inserted(found):
                    self.refer(found, block, indirect=clause not in ("expressions", "whens"))
            elif isinstance(found, exp.Star) and isinstance(assigned, exp.Update | exp.Insert):
                self.flow(table, self.expanded(found, beside(block, table)), ())
        for insert in node.find_all(exp.Insert) if isinstance(node, exp.Merge) else ():
            self.merged(insert, table, block)

    def merged(self, insert: exp.Insert, table: TableName, block: Block) -> None:
        """WHEN NOT MATCHED THEN INSERT (...) VALUES (...)."""
        into = insert.this.expressions if isinstance(insert.this, exp.Tuple) else []
        values = insert.expression.expressions if isinstance(insert.expression, exp.Tuple) else []
        self.found.inserts.append(
            Insert(table, tuple(fold_case(one.name) for one in into), *self.place(insert))
        )
        for one, value in zip(into, values, strict=False):
            self.note(self.found.written, table, one.name, one)
            self.flow(table, [self.output(fold_case(one.name), value, block)], ())

    def query(self, node: exp.Expr, above: Block | None, queries: Queries) -> list[Output]:
        """The outputs of a query; all it refers to is noted, once."""
        if id(node) not in self._read:
            self._read[id(node)] = []
            self._read[id(node)] = self.outputs(node, above, self.with_(node, above, queries))
        return self._read[id(node)]

    def outputs(self, node: exp.Expr, above: Block | None, queries: Queries) -> list[Output]:
        if isinstance(node, exp.Subquery):
            return renamed(self.query(node.this, above, queries), node)
        if isinstance(node, exp.SetOperation):
            left, right = self.operands(node, above, queries)
            if not node.args.get("by_name"):
                self.by_position(node)
            return united(left, right)
        if isinstance(node, exp.Select):
            return self.select(node, above, queries)
        return []

    def operands(
        self, node: exp.SetOperation, above: Block | None, queries: Queries
    ) -> tuple[list[Output], list[Output]]:
        """Both sides of a UNION; a long chain of them leans to the left, so it is walked down without recursion."""
        rights = []
        left: exp.Expr = node
        while isinstance(left, exp.SetOperation) and (left is node or not left.args.get("with_")):
            rights.append(left.expression)
            left = left.this
        outputs = self.query(left, above, queries)
        for right in reversed(rights[1:]):
            outputs = united(outputs, self.query(right, above, queries))
        return outputs, self.query(rights[0], above, queries)

    def with_(self, node: exp.Expr, above: Block | None, queries: Queries) -> Queries:
        """The queries that a WITH names, beside those known already."""
        known = dict(queries)
        for one in node.args["with_"].expressions if node.args.get("with_") else ():
            # A recursive query reads itself; what that adds to its own outputs is what it has already.
            name = fold_case(one.alias)
            known[name] = []
            known[name] = renamed(self.query(one.this, above, known), one)
        return known

    def select(self, node: exp.Select, above: Block | None, queries: Queries) -> list[Output]:
        block = Block(above, queries)
        for part in ("from_", "joins", "laterals"):
            for one in listed(node.args.get(part)):
                self.source(block, one)
        outputs = []
        for projection in node.expressions:
            if star_of(projection) is not None:
                outputs += self.expanded(projection, block)
            else:
                output = self.output(fold_case(projection.alias_or_name), projection, block)
                outputs.append(output)
            # The names that projections give are known to those after them.
            self.refer_within([projection], block)
            if star_of(projection) is None:
                block.aliases.setdefault(output.name, output)
        self.refer_within(children_of(node, "expressions", "with_"), block)
        return outputs

    def refer_within(self, nodes: Iterable[exp.Expr], block: Block) -> None:
        """Note all that parts of a SELECT refer to."""
        for found, clause in self.inside(nodes, block):
            if isinstance(found, exp.Column) and not isinstance(found.this, exp.Star):
                self.refer(found, block, indirect=clause in _CLAUSES, clause=clause)
            elif isinstance(found, exp.Join):
                self.using(found, block)

    def source(self, block: Block, node: exp.Expr) -> None:
        """Add what stands in FROM or JOIN to the block."""
        if isinstance(node, exp.From | exp.Join) or is_joined(node):
            self.source(block, node.this)
            joined = listed(node.this.args.get("joins"))
        elif isinstance(node, exp.Table):
            joined = listed(node.args.get("joins"))
            block.sources[fold_case(node.alias_or_name) or f"#{len(block.sources)}"] = self.table(
                node, block
            )
        elif isinstance(node, exp.Query):
            joined = listed(node.args.get("joins")) if isinstance(node, exp.Subquery) else []
            outputs = self.query(node, block if is_lateral(node) else block.above, block.queries)
            block.sources[fold_case(node.alias_or_name) or f"#{len(block.sources)}"] = Source(
                None, outputs
            )
        else:
            joined = []
            name, source = self.made(node, block)
            block.sources[name or f"#{len(block.sources)}"] = source
        for one in joined:
            self.source(block, one)

    def table(self, node: exp.Table, block: Block) -> Source:
        name = fold_case(node.name)
        if not node.db and name in block.queries:
            return Source(None, renamed(block.queries[name], node), open=not block.queries[name])
        table = table_of(node)
        if not table:
            self.found.unknown["a table is made by a function"] = None
            return Source(None, open=True)
        self.found.tables.add(table)
        if node.args.get("pivots"):
            self.found.unknown["a table is pivoted"] = None
        known = self.columns(table)
        if known is None or node.args.get("pivots"):
            return Source(table, [Output(ALL, frozenset({(table, ALL)}))], open=True)
        return Source(
            table, [Output(fold_case(one), frozenset({(table, fold_case(one))})) for one in known]
        )

    def made(self, node: exp.Expr, block: Block) -> tuple[str, Source]:
        """LATERAL, UNNEST, VALUES: columns that come from no table."""
        alias = node.args.get("alias")
        names = (
            [fold_case(one.name) for one in alias.args.get("columns") or ()]
            if isinstance(alias, exp.TableAlias)
            else []
        )
        inner = node.this if isinstance(node, exp.Lateral) else None
        if isinstance(inner, exp.Subquery):
            return fold_case(node.alias), Source(
                None, renamed(self.query(inner, block, block.queries), node)
            )
        whole = self.output("", node, block)
        return fold_case(node.alias), Source(
            None, [replace(whole, name=name) for name in names], open=not names
        )

    def expanded(self, projection: exp.Expr, block: Block) -> list[Output]:
        """The outputs of `*` or `t.*`."""
        star = star_of(projection)
        without = (
            frozenset(fold_case(one.name) for one in listed(star.args.get("except_")) if star)
            if star
            else frozenset()
        )
        wanted = fold_case(projection.table) if isinstance(projection, exp.Column) else ""
        outputs: list[Output] = []
        if wanted and wanted not in block.sources:
            leaves, sure = anywhere(block, wanted)
            for table, name in leaves:
                self.note(self.found.read, table, name, projection, sure=sure)
            return [Output("", frozenset(leaves), sure)]
        for name, source in block.sources.items():
            if wanted and name != wanted:
                continue
            kept = (output for output in source.outputs if output.name not in without)
            outputs += [
                replace(one, without=one.without | without) if one.name == ALL else one
                for one in kept
            ]
            for table in {table for output in source.outputs for table, _ in output.leaves}:
                for one in without:
                    self.note(self.found.read, table, one, projection, sure=len(block.sources) == 1)
            if source.table is not None:
                self.note(self.found.read, source.table, ALL, projection)
        for given in listed(star.args.get("replace") if star else None):
            made = self.output(fold_case(given.alias), given, block)
            outputs = [made if output.name == made.name else output for output in outputs]
        return outputs

    def output(self, name: str, node: exp.Expr, block: Block) -> Output:
        """What an expression comes from."""
        leaves: set[Leaf] = set()
        sure = True
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if isinstance(one, exp.Query):
                leaves.update(
                    leaf
                    for output in self.query(one, block, block.queries)
                    for leaf in output.leaves
                )
            elif not isinstance(one, exp.Column):
                waiting.extend(one.iter_expressions())
            elif not isinstance(one.this, exp.Star):
                found, is_sure = self.resolve(one, block, "expressions")
                leaves.update(found)
                sure = sure and is_sure
        self._leaves += len(leaves)
        if self._leaves > LEAVES_MAX:
            raise OverflowError("what the SQL makes of what is not followed so far")
        return Output(name, frozenset(leaves), sure)

    def inside(self, nodes: Iterable[exp.Expr], block: Block) -> Iterator[tuple[exp.Expr, str]]:
        """Parts of a block and all nodes in them, each with the clause it stands in; queries are read on the way."""
        waiting = [(node, node.arg_key or "") for node in nodes]
        while waiting:
            child, clause = waiting.pop()
            if isinstance(child, exp.Query) and not is_joined(child):
                self.query(child, block, block.queries)
                continue
            yield child, clause
            waiting.extend((one, clause) for one in child.iter_expressions())

    def using(self, join: exp.Join, block: Block) -> None:
        for one in listed(join.args.get("using")):
            for source in block.sources.values():
                for table, _ in {
                    leaf for output in source.outputs for leaf in output.leaves if source.table
                }:
                    self.note(self.found.read, table, one.name, one, indirect=True)

    def refer(self, column: exp.Column, block: Block, *, indirect: bool, clause: str = "") -> None:
        leaves, sure = self.resolve(column, block, clause)
        for table, name in leaves:
            self.note(self.found.read, table, name, column, sure=sure, indirect=indirect)

    def resolve(self, column: exp.Column, block: Block, clause: str) -> tuple[set[Leaf], bool]:
        """The columns of tables that a name stands for, and whether that is sure."""
        at: Block | None = block
        qualifier, name = fold_case(column.table), fold_case(column.name)
        while qualifier and at is not None:
            if qualifier in at.sources:
                return in_source(at.sources[qualifier], name)
            at = at.above
        # A qualifier that is no source is a column of which this is a field.
        name = fold_case(column.parts[0].name) if qualifier else name
        if clause in ("order", "group", "having", "qualify") and name in block.aliases:
            return set(block.aliases[name].leaves), block.aliases[name].sure
        leaves, sure = anywhere(block, name)
        alias = block.aliases.get(name)
        if (
            alias is not None
            and alias.leaves != leaves
            and any(source.open for source in block.sources.values())
        ):
            return leaves | alias.leaves, False
        return leaves, sure

    def flow(self, target: TableName, outputs: list[Output], into: tuple[str, ...]) -> None:
        """Note what is written into a table; `into` are its columns by position."""
        has_star = any(output.name == ALL for output in outputs)
        for number, output in enumerate(outputs):
            name = into[number] if number < len(into) and not has_star else output.name
            for table, column in output.leaves:
                self.found.flows[
                    ColumnFlow(target, name, table, column, output.sure, output.without)
                ] = None

    def by_position(self, node: exp.Expr) -> None:
        """Stars in a query whose columns are matched by position."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if isinstance(one, exp.SetOperation):
                waiting += [one.this, one.expression]
            elif isinstance(one, exp.Subquery):
                waiting.append(one.this)
            elif isinstance(one, exp.Select):
                lines = {
                    self.place(projection)[0]
                    for projection in one.expressions
                    if star_of(projection) is not None
                }
                for reference in list(self.found.read):
                    if reference.column == ALL and reference.line in lines:
                        del self.found.read[reference]
                        self.found.read[replace(reference, by_position=True)] = None

    def note(
        self,
        kept: dict[Reference, None],
        table: TableName,
        column: str,
        node: exp.Expr,
        *,
        sure: bool = True,
        indirect: bool = False,
    ) -> None:
        if len(kept) >= REFERENCES_MAX:
            raise OverflowError(f"the SQL refers to more than {REFERENCES_MAX} columns")
        line, text = self.place(node)
        kept[Reference(table, fold_case(column), line, text, sure, indirect)] = None

    def place(self, node: exp.Expr) -> tuple[int, str]:
        """The line of the first word of a node whose place is known; that of the one before where none is."""
        for one in node.find_all(exp.Identifier, exp.Star):
            line = one.meta.get("line")
            if isinstance(line, int):
                self._line = line
                break
        return self._line, line_of(self.lines, self._line)
