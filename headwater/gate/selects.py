"""What a query makes: its columns, each with the expression it comes from, and everything else as one text.

Aliases of tables, common table expressions and subqueries are seen through, so that only what a query means counts and
not how it is laid out. An expression that is used again and again is known by its hash, so that nothing grows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from headwater.gate.relations import Column, UnreadableError
from headwater.impact.jinja import UNKNOWN

_TEXT_MAX = 300
_CLAUSES = ("where", "group", "having", "qualify", "distinct", "limit", "offset", "windows")


@dataclass(frozen=True)
class Query:
    columns: dict[str, Column]
    open: bool
    rest: str


@dataclass
class _Reading:
    dialect: str
    known: dict[tuple[int, str], tuple[str, tuple[str, str] | None]] = field(default_factory=dict)
    under_way: set[tuple[int, str]] = field(default_factory=set)


def read_query(query: exp.Query, dialect: str) -> Query:
    """Raises UnreadableError when sqlglot cannot make it out."""
    try:
        tree = qualify(
            query.copy(),
            dialect=dialect or None,
            validate_qualify_columns=False,
            allow_partial_qualification=True,
            quote_identifiers=False,
            identify=False,
        )
        scope = build_scope(tree)
        if scope is None:
            raise UnreadableError("the query has no scope")
        reading = _Reading(dialect)
        columns, is_open = _columns(scope, query, reading)
        rest = "\n".join(sorted(part for one in scope.traverse() for part in _rest(one, reading)))
    except (SqlglotError, RecursionError) as error:
        raise UnreadableError(f"the query cannot be resolved: {str(error)[:300]}") from error
    return Query(columns, is_open, rest)


def _columns(scope: Scope, query: exp.Query, reading: _Reading) -> tuple[dict[str, Column], bool]:
    columns: dict[str, Column] = {}
    is_open = False
    lines = {one.alias_or_name.lower(): _line(one) for one in query.selects}
    for projection in _query(scope).selects:
        name = projection.alias_or_name
        if projection.is_star or not name or name.startswith(UNKNOWN):
            is_open = True
            continue
        text, cast = _output(scope, name, reading)
        line = lines.get(name.lower(), 0) or _line(projection)
        columns[name.lower()] = Column(name, text, cast[1] if cast else None, cast=cast, line=line)
    return columns, is_open


def _line(node: exp.Expr) -> int:
    found: Any = next((one.meta["line"] for one in node.walk() if "line" in one.meta), 1)
    return int(found)


def _output(scope: Scope, name: str, reading: _Reading) -> tuple[str, tuple[str, str] | None]:
    """What a scope gives out under a name, and what it casts if it only does that."""
    key = (id(scope), name.lower())
    if key in reading.known:
        return reading.known[key]
    if key in reading.under_way:
        return f"recursive {name}", None
    reading.under_way.add(key)
    found = _union_output(scope, name, reading) if _branches(scope) else _select_output(scope, name, reading)
    reading.under_way.discard(key)
    reading.known[key] = found
    return found


def _query(scope: Scope) -> exp.Query:
    assert isinstance(scope.expression, exp.Query)
    return scope.expression


def _branches(scope: Scope) -> list[Scope]:
    """The two sides of a UNION, INTERSECT or EXCEPT."""
    return scope.set_operation_scopes


def _union_output(scope: Scope, name: str, reading: _Reading) -> tuple[str, tuple[str, str] | None]:
    names = [one.lower() for one in _query(scope).named_selects]
    place = names.index(name.lower()) if name.lower() in names else -1
    texts = []
    for branch in _branches(scope):
        branch_names = _query(branch).named_selects
        known = 0 <= place < len(branch_names)
        texts.append(_output(branch, branch_names[place], reading)[0] if known else f"* {name}")
    return f"UNION({', '.join(texts)})", None


def _select_output(scope: Scope, name: str, reading: _Reading) -> tuple[str, tuple[str, str] | None]:
    for projection in _query(scope).selects:
        if projection.alias_or_name.lower() == name.lower() and not projection.is_star:
            node = projection.unalias()
            source = scope.sources.get(node.table) if isinstance(node, exp.Column) else None
            if isinstance(source, Scope):
                return _output(source, node.name, reading)
            cast = None
            if type(node) is exp.Cast:
                cast = (_text(node.this, scope, reading), node.to.sql(reading.dialect or None).lower())
            return _text(node, scope, reading), cast
    # It comes out of a star: which table it is from is not known where there are several.
    tables = sorted(_table(one) for one in scope.sources.values() if isinstance(one, exp.Table))
    inner = [one for one in scope.sources.values() if isinstance(one, Scope)]
    if len(inner) == 1 and not tables:
        return _output(inner[0], name, reading)
    return f"{'|'.join(tables)}.{name}".lower(), None


def _text(node: exp.Expr, scope: Scope, reading: _Reading) -> str:
    """An expression as text in which every column is what it comes from."""

    def resolved(found: exp.Expr) -> exp.Expr:
        if not isinstance(found, exp.Column) or isinstance(found.this, exp.Star):
            return found
        source = scope.sources.get(found.table)
        if isinstance(source, Scope):
            text, _ = _output(source, found.name, reading)
        elif isinstance(source, exp.Table):
            text = f"{_table(source)}.{found.name}".lower()
        else:
            return found
        return exp.Var(this=text if len(text) <= _TEXT_MAX else f"#{hashlib.sha256(text.encode()).hexdigest()[:16]}")

    return str(node.copy().transform(resolved).sql(reading.dialect or None, comments=False, normalize=True))


def _table(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts).lower()


def _rest(scope: Scope, reading: _Reading) -> list[str]:
    tree = scope.expression
    if isinstance(tree, exp.SetOperation):
        return [f"{type(tree).__name__} distinct={tree.args.get('distinct')}"]
    parts = []
    clauses = [*_CLAUSES, *(["order"] if tree.args.get("limit") else [])]
    for clause in clauses:
        found = tree.args.get(clause)
        nodes = [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, exp.Expr)]
        parts += [f"{clause}: {_text(node, scope, reading)}" for node in nodes]
    source = tree.args.get("from_") or tree.args.get("from")
    if source is not None:
        parts += [f"from: {name}" for name in _source(source.this, scope, reading)]
    for join in tree.args.get("joins") or ():
        kind = " ".join(str(join.args.get(key) or "") for key in ("method", "side", "kind"))
        on = join.args.get("on")
        using = ", ".join(str(one.name) for one in join.args.get("using") or ())
        condition = _text(on, scope, reading) if on is not None else using
        parts.append(f"join {kind}: {''.join(_source(join.this, scope, reading))} {condition}")
    parts += [f"lateral: {_text(one, scope, reading)}" for one in tree.args.get("laterals") or ()]
    return parts


def _source(node: exp.Expr, scope: Scope, reading: _Reading) -> list[str]:
    """Nothing for what is a scope of its own, which tells of itself."""
    source = scope.sources.get(node.alias_or_name)
    if isinstance(source, Scope):
        return []
    if isinstance(source, exp.Table):
        sample = [
            one.sql(reading.dialect or None)
            for one in (*(source.args.get("pivots") or ()), source.args.get("sample"))
            if one
        ]
        return [" ".join((_table(source), *sample))]
    return [_text(node, scope, reading)]
