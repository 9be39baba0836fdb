"""Small questions about nodes of SQL as sqlglot parses it."""

from __future__ import annotations

from sqlglot import exp

from headwater.code_analysis.model import TableName


def table_of(node: exp.Expr | None) -> TableName:
    """The name of a table, outermost part first; () when it is none. A file that a function reads is its path."""
    if isinstance(node, exp.Schema):
        node = node.this
    if not isinstance(node, exp.Table):
        return ()
    if isinstance(node.this, exp.Func):
        literal = node.this.find(exp.Literal)
        return (literal.name,) if literal is not None and literal.is_string else ()
    return tuple(part.name for part in node.parts if part.name)


def children_of(node: exp.Expr, *without: str) -> list[exp.Expr]:
    return [child for child in node.iter_expressions() if child.arg_key not in without]


def listed(part: object) -> list[exp.Expr]:
    if part is None:
        return []
    return [
        one for one in (part if isinstance(part, list) else [part]) if isinstance(one, exp.Expr)
    ]


def star_of(projection: exp.Expr) -> exp.Star | None:
    inner = projection.this if isinstance(projection, exp.Column) else projection
    return inner if isinstance(inner, exp.Star) else None


def is_joined(node: exp.Expr) -> bool:
    """A join in brackets, which is no query of its own."""
    return isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table)


def is_lateral(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Lateral)


def assigns(node: exp.EQ) -> bool:
    return isinstance(node.parent, exp.Update) and node.arg_key == "expressions"


def is_inserted(column: exp.Column) -> bool:
    return isinstance(column.parent, exp.Tuple) and isinstance(column.parent.parent, exp.Insert)
