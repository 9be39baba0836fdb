"""Small questions about the syntax tree of Python."""

from __future__ import annotations

import ast


def text_of(node: ast.AST | None) -> str | None:
    """Return the value of a text literal, or None."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def called_name(call: ast.Call) -> str:
    """Return the name of the called function or method, without its owner."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def names_in_chain(node: ast.AST | None) -> list[str]:
    """Return the names in a chain of attributes and calls, from its end."""
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
