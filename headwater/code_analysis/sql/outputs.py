"""What a query makes: its columns, each with the expression it comes from, and everything else as one text.

Aliases of tables, common table expressions and subqueries are seen through, so that only what a query means counts and
not how it is laid out. An expression that is used again and again is known by its hash, so that nothing grows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, build_scope

from headwater.code_analysis.dbt.jinja import UNKNOWN
from headwater.code_analysis.tables import Column, UnreadableError

_TEXT_MAX = 300
_CLAUSES = ("where", "group", "having", "qualify", "distinct", "limit", "offset", "windows")


@dataclass(frozen=True)
class Query:
    columns: dict[str, Column]
    open: bool
    rest: str


@dataclass(frozen=True)
class _Made:
    """What a column is made from: as text, and what it casts to which type when it does only that."""

    text: str
    cast: tuple[str, str] | None = None
    line: int = 1


@dataclass(frozen=True)
class _Outputs:
    """The columns a scope gives out, by name in small letters; `open` when there may be more. `spelled` as written."""

    columns: dict[str, _Made] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    open: bool = False


def read_outputs(query: exp.Query, dialect: str) -> Query:
    """Raises UnreadableError when sqlglot cannot make it out."""
    try:
        scope = build_scope(query.copy())
        if scope is None:
            raise UnreadableError("the query has no scope")
        reading = _Reading(dialect)
        made = reading.outputs(scope)
        rest = "\n".join(sorted(part for one in scope.traverse() for part in reading.rest(one)))
    except (SqlglotError, RecursionError) as error:
        raise UnreadableError(f"the query cannot be resolved: {str(error)[:300]}") from error
    columns = {
        key: Column(
            made.spelled[key],
            one.text,
            one.cast[1] if one.cast else None,
            cast=one.cast,
            line=one.line,
        )
        for key, one in made.columns.items()
    }
    return Query(columns, made.open, rest)


class _Reading:
    """The scopes of one query; what each gives out is worked out once."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect or None
        self._known: dict[int, _Outputs] = {}

    def outputs(self, scope: Scope) -> _Outputs:
        if id(scope) not in self._known:
            # A recursive query meets itself; what it gives out then is not known yet.
            self._known[id(scope)] = _Outputs(open=True)
            sides = scope.set_operation_scopes
            self._known[id(scope)] = self._united(sides) if sides else self._selected(scope)
        return self._known[id(scope)]

    def _united(self, sides: list[Scope]) -> _Outputs:
        """A UNION has the names of its first side, and is matched by position."""
        first, *others = (self.outputs(side) for side in sides)
        columns = {}
        for place, (key, made) in enumerate(first.columns.items()):
            texts = [made.text]
            for other in others:
                known = list(other.columns.values())
                texts.append(
                    known[place].text if place < len(known) and not other.open else f"any {key}"
                )
            columns[key] = _Made(
                f"UNION({', '.join(self._short(text) for text in texts)})", line=made.line
            )
        return _Outputs(columns, first.spelled, any(one.open for one in (first, *others)))

    def _selected(self, scope: Scope) -> _Outputs:
        columns: dict[str, _Made] = {}
        spelled: dict[str, str] = {}
        is_open = False
        for projection in _query(scope).selects:
            name = projection.alias_or_name
            if projection.is_star:
                found = self._starred(scope, projection)
                columns |= found.columns
                spelled |= found.spelled
                is_open |= found.open
            elif not name or name.startswith(UNKNOWN):
                is_open = True
            else:
                columns[name.lower()] = self._projected(scope, projection)
                spelled[name.lower()] = name
        return _Outputs(columns, spelled, is_open)

    def _projected(self, scope: Scope, projection: exp.Expr) -> _Made:
        node = projection.unalias()
        line = _line(projection)
        if isinstance(node, exp.Column):
            made = self._column(scope, node)
            return _Made(made.text, made.cast, line)
        cast = None
        if type(node) is exp.Cast:
            cast = (self._text(node.this, scope), node.to.sql(self._dialect).lower())
        return _Made(self._text(node, scope), cast, line)

    def _starred(self, scope: Scope, projection: exp.Expr) -> _Outputs:
        """What a star stands for: `*`, `t.*`, `* except (a)`."""
        wanted = projection.table.lower() if isinstance(projection, exp.Column) else ""
        star: Any = projection.this if isinstance(projection, exp.Column) else projection
        left_out = {
            one.name.lower() for one in star.args.get("except_") or star.args.get("except") or ()
        }
        columns: dict[str, _Made] = {}
        spelled: dict[str, str] = {}
        is_open = bool(star.args.get("replace") or star.args.get("rename"))
        for name, source in _sources(scope).items():
            if wanted and name != wanted:
                continue
            found = self.outputs(source) if isinstance(source, Scope) else _Outputs(open=True)
            columns |= {key: made for key, made in found.columns.items() if key not in left_out}
            spelled |= found.spelled
            is_open |= found.open
        return _Outputs(columns, spelled, is_open)

    def _column(self, scope: Scope, column: exp.Column) -> _Made:
        """What a column that is named in a scope comes from."""
        sources, key = _sources(scope), column.name.lower()
        source = sources.get(column.table.lower()) if column.table else None
        if source is None and not column.table:
            having = [
                one
                for one in sources.values()
                if isinstance(one, Scope) and key in self.outputs(one).columns
            ]
            source = (
                having[0]
                if len(having) == 1
                else next(iter(sources.values()))
                if len(sources) == 1
                else None
            )
        if isinstance(source, Scope):
            found = self.outputs(source).columns.get(key)
            return found if found is not None else _Made(f"({self._places(source)}).{key}")
        if isinstance(source, exp.Table):
            return _Made(f"{_table(source)}.{key}")
        return _Made(column.sql(self._dialect, normalize=True))

    def _places(self, scope: Scope) -> str:
        """The tables that a star of a scope may take a column from."""
        names = {
            _table(one)
            for inner in scope.traverse()
            for one in inner.sources.values()
            if isinstance(one, exp.Table)
        }
        return "|".join(sorted(names))

    def _text(self, node: exp.Expr, scope: Scope) -> str:
        """An expression as text in which every column is what it comes from."""

        def resolved(found: exp.Expr) -> exp.Expr:
            if not isinstance(found, exp.Column) or isinstance(found.this, exp.Star):
                return found
            return exp.Var(this=self._short(self._column(scope, found).text))

        return str(
            node.copy().transform(resolved).sql(self._dialect, comments=False, normalize=True)
        )

    def _short(self, text: str) -> str:
        return (
            text if len(text) <= _TEXT_MAX else f"#{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        )

    def rest(self, scope: Scope) -> Iterator[str]:
        """All in a scope but its columns that decides what comes out of it."""
        tree = scope.expression
        if isinstance(tree, exp.SetOperation):
            yield f"{type(tree).__name__} distinct={tree.args.get('distinct')}"
            return
        for clause in (*_CLAUSES, *(["order"] if tree.args.get("limit") else [])):
            found = tree.args.get(clause)
            for node in found if isinstance(found, list) else [found]:
                if isinstance(node, exp.Expr):
                    yield f"{clause}: {self._text(node, scope)}"
        source = tree.args.get("from_") or tree.args.get("from")
        if source is not None:
            yield from (f"from: {name}" for name in self._source(source.this, scope))
        for join in tree.args.get("joins") or ():
            kind = " ".join(str(join.args.get(key) or "") for key in ("method", "side", "kind"))
            on = join.args.get("on")
            using = ", ".join(str(one.name) for one in join.args.get("using") or ())
            condition = using if on is None else self._text(on, scope)
            yield f"join {kind}: {''.join(self._source(join.this, scope))} {condition}"
        yield from (f"lateral: {self._text(one, scope)}" for one in tree.args.get("laterals") or ())

    def _source(self, node: exp.Expr, scope: Scope) -> list[str]:
        """Nothing for what is a scope of its own, which tells of itself."""
        source = _sources(scope).get(node.alias_or_name.lower())
        if isinstance(source, Scope):
            return []
        if isinstance(source, exp.Table):
            more = (*(source.args.get("pivots") or ()), source.args.get("sample"))
            return [" ".join((_table(source), *(one.sql(self._dialect) for one in more if one)))]
        return [self._text(node, scope)]


def _query(scope: Scope) -> exp.Query:
    assert isinstance(scope.expression, exp.Query)
    return scope.expression


def _sources(scope: Scope) -> dict[str, Any]:
    """What stands in FROM and JOIN, by alias: a table or a scope."""
    return {name.lower(): source for name, (_, source) in scope.selected_sources.items()}


def _line(node: exp.Expr) -> int:
    found: Any = next((one.meta["line"] for one in node.walk() if "line" in one.meta), 1)
    return int(found)


def _table(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts).lower()
