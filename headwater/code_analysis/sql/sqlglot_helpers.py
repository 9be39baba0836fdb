"""Small questions about the nodes of SQL that sqlglot parsed."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from headwater.code_analysis.model import TableName


def name_of_table(node: exp.Expr | None) -> TableName:
    """Return the name of a table, outermost part first, or ().

    A file read by a function is its path."""
    if isinstance(node, exp.Schema):
        node = node.this
    if not isinstance(node, exp.Table):
        return ()
    if isinstance(node.this, exp.Func):
        literal = node.this.find(exp.Literal)
        return (literal.name,) if literal is not None and literal.is_string else ()
    return tuple(part.name for part in node.parts if part.name)


def line_of_node(node: exp.Expr) -> int:
    """Return the first line that any part of a node records, or 1."""
    line: Any = next((part.meta["line"] for part in node.walk() if "line" in part.meta), 1)
    return int(line)


def children_of(node: exp.Expr, *excluded: str) -> list[exp.Expr]:
    """Return the children of a node except those under the argument names `excluded`."""
    return [child for child in node.iter_expressions() if child.arg_key not in excluded]


def as_list(argument: object) -> list[exp.Expr]:
    """Return the nodes of an argument that is a node, a list or missing."""
    items = argument if isinstance(argument, list) else [argument]
    return [item for item in items if isinstance(item, exp.Expr)]


def alias_columns(node: exp.Expr) -> list[str]:
    """Return the column names of an alias: a and b of `AS t (a, b)`."""
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return []
    return [column.name for column in alias.args.get("columns") or ()]


def star_of(projection: exp.Expr) -> exp.Star | None:
    """Return the star of `*` or `t.*`, or None."""
    inner = projection.this if isinstance(projection, exp.Column) else projection
    return inner if isinstance(inner, exp.Star) else None


def excluded_columns(star: exp.Star) -> list[str]:
    """Return the columns that `* EXCEPT (...)` leaves out."""
    return [column.name for column in as_list(star.args.get("except_"))]


def is_parenthesised_join(node: exp.Expr) -> bool:
    """Return True for a join in brackets, which is not a query of its own."""
    return isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table)


def is_assignment(node: exp.Expr | None) -> bool:
    """Return True for `a = b` in the SET list of an UPDATE."""
    return (
        isinstance(node, exp.EQ)
        and isinstance(node.parent, exp.Update)
        and node.arg_key == "expressions"
    )


def is_insert_target(column: exp.Column) -> bool:
    """Return True for a column in the list of columns of MERGE ... INSERT (...)."""
    return isinstance(column.parent, exp.Tuple) and isinstance(column.parent.parent, exp.Insert)
