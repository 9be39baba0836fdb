"""The output columns of a query with their expressions, and its other clauses as one text.

Table aliases, common table expressions and subqueries are resolved, so that two queries of one
meaning compare as equal however they are laid out. A long expression is replaced by its hash, so
that repeated use does not multiply it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope

from headwater.code_analysis.model import UNKNOWN_NAME, ColumnDefinition, UnreadableError
from headwater.code_analysis.sql.parse import parse_sql
from headwater.code_analysis.sql.sqlglot_helpers import excluded_columns, line_of_node, star_of

# Longer expressions are replaced by their hash.
_EXPRESSION_LENGTH_MAX = 300
_CLAUSES = ("where", "group", "having", "qualify", "distinct", "limit", "offset", "windows")


@dataclass(frozen=True)
class QueryOutputs:
    """The columns of a query by lower-case name.

    `is_open`: there may be more, because a `*` could not be resolved.

    row_logic: the text of its sources, joins and conditions."""

    columns: dict[str, ColumnDefinition]
    is_open: bool
    row_logic: str


@dataclass(frozen=True)
class _Expression:
    """The normalised text of an expression.

    `cast` if it is only a cast: the text that is cast, and the type."""

    text: str
    cast: tuple[str, str] | None = None
    line: int = 1


@dataclass
class _ScopeOutputs:
    """The outputs of one scope by lower-case name, and the spelling of each name."""

    columns: dict[str, _Expression] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    is_open: bool = False


def parse_query(text: str, dialect: str) -> QueryOutputs:
    """Return the outputs of a text that is one query. Raises UnreadableError."""
    statements = parse_sql(text, dialect)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise UnreadableError("a model is one query, and this is not")
    return read_outputs(statements[0], dialect)


def read_outputs(query: exp.Query, dialect: str) -> QueryOutputs:
    """Return the outputs of a parsed query. Raises UnreadableError if sqlglot cannot resolve it."""
    try:
        scope = build_scope(query.copy())
        if scope is None:
            raise UnreadableError("the query has no scope")
        resolver = _OutputResolver(dialect)
        outputs = resolver.outputs(scope)
        clauses: list[str] = []
        for inner in scope.traverse():
            clauses += resolver.clauses(inner)
    except (SqlglotError, RecursionError) as error:
        raise UnreadableError(f"the query cannot be resolved: {str(error)[:300]}") from error
    columns = {
        key: ColumnDefinition(
            outputs.spellings[key],
            expression.text,
            expression.cast[1] if expression.cast else None,
            cast=expression.cast,
            line=expression.line,
        )
        for key, expression in outputs.columns.items()
    }
    return QueryOutputs(columns, outputs.is_open, "\n".join(sorted(clauses)))


class _OutputResolver:
    """Resolves the outputs of each scope of one query, once."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect or None
        self._outputs: dict[int, _ScopeOutputs] = {}
        self._sources_by_scope: dict[int, dict[str, Any]] = {}
        self._tables_by_scope: dict[int, str] = {}

    def outputs(self, scope: Scope) -> _ScopeOutputs:
        """Return the outputs of a scope."""
        if id(scope) not in self._outputs:
            # A recursive query meets itself, before its outputs are known.
            self._outputs[id(scope)] = _ScopeOutputs(is_open=True)
            sides = scope.set_operation_scopes
            resolved = self._union_outputs(sides) if sides else self._select_outputs(scope)
            self._outputs[id(scope)] = resolved
        return self._outputs[id(scope)]

    def _union_outputs(self, sides: list[Scope]) -> _ScopeOutputs:
        """Return the outputs of a UNION: the names of its first side, matched by position."""
        first, *others = (self.outputs(side) for side in sides)
        texts_of_others = [_texts_by_position(other) for other in others]
        outputs = _ScopeOutputs({}, first.spellings, any(side.is_open for side in (first, *others)))
        for position, (key, expression) in enumerate(first.columns.items()):
            texts = [expression.text]
            texts += [
                other[position] if position < len(other) else f"any {key}"
                for other in texts_of_others
            ]
            joined = ", ".join(_shorten(text) for text in texts)
            outputs.columns[key] = _Expression(f"UNION({joined})", line=expression.line)
        return outputs

    def _select_outputs(self, scope: Scope) -> _ScopeOutputs:
        outputs = _ScopeOutputs()
        if not isinstance(scope.expression, exp.Query):
            # A table function, for example that of LATERAL VIEW, names its columns itself.
            return _ScopeOutputs(is_open=True)
        for projection in scope.expression.selects:
            name = projection.alias_or_name
            if projection.is_star:
                self._expand_star(scope, projection, outputs)
            elif not name or name.startswith(UNKNOWN_NAME):
                outputs.is_open = True
            else:
                outputs.columns[name.lower()] = self._expression(scope, projection)
                outputs.spellings[name.lower()] = name
        return outputs

    def _expression(self, scope: Scope, projection: exp.Expr) -> _Expression:
        node = projection.unalias()
        line = line_of_node(projection)
        if isinstance(node, exp.Column):
            resolved = self._resolve(scope, node)
            return _Expression(resolved.text, resolved.cast, line)
        cast = None
        if type(node) is exp.Cast:
            cast = (self._text(node.this, scope), node.to.sql(self._dialect).lower())
        return _Expression(self._text(node, scope), cast, line)

    def _expand_star(self, scope: Scope, projection: exp.Expr, outputs: _ScopeOutputs) -> None:
        """Add the outputs of `*`, `t.*` or `* EXCEPT (a)`."""
        qualifier = projection.table.lower() if isinstance(projection, exp.Column) else ""
        star = star_of(projection)
        excluded = {name.lower() for name in excluded_columns(star)} if star else set()
        if star is not None and (star.args.get("replace") or star.args.get("rename")):
            outputs.is_open = True
        for name, source in self._sources(scope).items():
            if qualifier and name != qualifier:
                continue
            if not isinstance(source, Scope):
                outputs.is_open = True
                continue
            inner = self.outputs(source)
            remaining = {
                key: expression for key, expression in inner.columns.items() if key not in excluded
            }
            outputs.columns |= remaining
            outputs.spellings |= inner.spellings
            outputs.is_open |= inner.is_open

    def _resolve(self, scope: Scope, column: exp.Column) -> _Expression:
        """Return the expression that a column of a scope comes from."""
        key = column.name.lower()
        source = self._source_of(scope, column)
        if isinstance(source, Scope):
            output = self.outputs(source).columns.get(key)
            return output or _Expression(f"({self._tables_below(source)}).{key}")
        if isinstance(source, exp.Table):
            return _Expression(f"{_table_name(source)}.{key}")
        return _Expression(column.sql(self._dialect, normalize=True))

    def _source_of(self, scope: Scope, column: exp.Column) -> Any:
        """Return the source that a column belongs to: a table, a scope, or None."""
        sources = self._sources(scope)
        if column.table:
            return sources.get(column.table.lower())
        key = column.name.lower()
        having = [
            source
            for source in sources.values()
            if isinstance(source, Scope) and key in self.outputs(source).columns
        ]
        if len(having) == 1:
            return having[0]
        return next(iter(sources.values())) if len(sources) == 1 else None

    def _sources(self, scope: Scope) -> dict[str, Any]:
        """Return the sources in FROM and JOIN by alias: a table or a scope each."""
        if id(scope) not in self._sources_by_scope:
            self._sources_by_scope[id(scope)] = {
                name.lower(): source for name, (_, source) in scope.selected_sources.items()
            }
        return self._sources_by_scope[id(scope)]

    def _tables_below(self, scope: Scope) -> str:
        """Return the tables that a star of a scope may take a column from, or their hash."""
        if id(scope) not in self._tables_by_scope:
            names: set[str] = set()
            for inner in scope.traverse():
                sources = inner.sources.values()
                names.update(_table_name(one) for one in sources if isinstance(one, exp.Table))
            self._tables_by_scope[id(scope)] = _shorten("|".join(sorted(names)))
        return self._tables_by_scope[id(scope)]

    def _text(self, node: exp.Expr, scope: Scope) -> str:
        """Return an expression as text, with each column replaced by its own expression."""

        def resolve(node_in_text: exp.Expr) -> exp.Expr:
            if not isinstance(node_in_text, exp.Column) or isinstance(node_in_text.this, exp.Star):
                return node_in_text
            return exp.Var(this=_shorten(self._resolve(scope, node_in_text).text))

        resolved = node.copy().transform(resolve)
        return str(resolved.sql(self._dialect, comments=False, normalize=True))

    def clauses(self, scope: Scope) -> Iterator[str]:
        """Yield the clauses of a scope, other than its columns, that decide its rows."""
        tree = scope.expression
        if isinstance(tree, exp.SetOperation):
            yield f"{type(tree).__name__} distinct={tree.args.get('distinct')}"
            return
        for clause in (*_CLAUSES, *(["order"] if tree.args.get("limit") else [])):
            argument = tree.args.get(clause)
            for node in argument if isinstance(argument, list) else [argument]:
                if isinstance(node, exp.Expr):
                    yield f"{clause}: {self._text(node, scope)}"
        source = tree.args.get("from_")
        if source is not None:
            yield from (f"from: {name}" for name in self._source_texts(source.this, scope))
        for join in tree.args.get("joins") or ():
            yield self._join_text(join, scope)
        for lateral in tree.args.get("laterals") or ():
            yield f"lateral: {self._text(lateral, scope)}"

    def _join_text(self, join: exp.Join, scope: Scope) -> str:
        kind = " ".join(str(join.args.get(key) or "") for key in ("method", "side", "kind"))
        on = join.args.get("on")
        condition = ", ".join(str(column.name) for column in join.args.get("using") or ())
        if on is not None:
            condition = self._text(on, scope)
        return f"join {kind}: {''.join(self._source_texts(join.this, scope))} {condition}"

    def _source_texts(self, node: exp.Expr, scope: Scope) -> list[str]:
        """Return the text of a source; none for a query, whose own scope has clauses."""
        source = self._sources(scope).get(node.alias_or_name.lower())
        if isinstance(source, Scope):
            return []
        if not isinstance(source, exp.Table):
            return [self._text(node, scope)]
        options = (*(source.args.get("pivots") or ()), source.args.get("sample"))
        texts = [option.sql(self._dialect) for option in options if option]
        return [" ".join((_table_name(source), *texts))]


def _texts_by_position(outputs: _ScopeOutputs) -> list[str]:
    """Return the texts of outputs in order; none if the order is not known."""
    return [] if outputs.is_open else [column.text for column in outputs.columns.values()]


def _shorten(text: str) -> str:
    if len(text) <= _EXPRESSION_LENGTH_MAX:
        return text
    return f"#{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _table_name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts).lower()
