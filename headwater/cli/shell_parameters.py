"""The `:param` lines of cypher-shell and Neo4j Browser, read before a statement.

A text or number becomes a parameter. Any other value, such as `datetime('2026-01-31')` or a list,
is an expression of Cypher that only Neo4j can evaluate: it replaces its parameter in the statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from headwater.errors import QueryError

_PARAM = re.compile(r":param\s+(?:`(?P<quoted>[^`]+)`|(?P<name>\w+))\s*=>\s*(?P<value>.*?)\s*;?\s*")
_HINT = "For example `:param since => datetime('2026-01-31')`, on a line before the statement."
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
# Texts, quoted names and comments hold no parameters.
_OPAQUE = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|//[^\n]*|/\*.*?\*/"
_TOKEN = re.compile(rf"{_OPAQUE}|\$(?:`(?P<quoted>[^`]+)`|(?P<name>\w+))|`[^`]*`", re.DOTALL)


class ShellStatement(NamedTuple):
    """A statement without `:param` lines, and the parameters that they set."""

    text: str
    parameters: dict[str, Any]


def parse_shell_statement(text: str, given: Collection[str] = ()) -> ShellStatement:
    """Return the statement of a text for cypher-shell, with the parameters of its `:param` lines.

    A line replaced by an empty one keeps the numbers of the lines below. Parameters in `given` have
    their values elsewhere. Raises QueryError for another command of the shell.
    """
    lines = text.split("\n")
    parameters: dict[str, Any] = {}
    expressions: dict[str, str] = {}
    for number, line in enumerate(lines):
        command = line.strip()
        if command and not command.startswith((":", "//")):
            break
        if command.startswith(":"):
            lines[number] = ""
            name, value = _parse_line(command, number + 1)
            parameters.pop(name, None)
            expressions.pop(name, None)
            if name not in given:
                _set(name, value, parameters, expressions)
    return ShellStatement(_substitute("\n".join(lines), expressions), parameters)


def _parse_line(command: str, number: int) -> tuple[str, str]:
    found = _PARAM.fullmatch(command)
    if found is None or not found["value"]:
        raise QueryError(
            f"line {number}: {command[:80]!r} is not `:param NAME => VALUE`", hint=_HINT
        )
    return found["quoted"] or found["name"], found["value"]


def _set(name: str, value: str, parameters: dict[str, Any], expressions: dict[str, str]) -> None:
    if _DATE.match(value):
        raise QueryError(
            f"`{name}` is the subtraction {value[:40]}, not a time",
            hint=f"Write a time as a call: `:param {name} => datetime('{value[:40]}')`.",
        )
    if value.lower() in _WORDS:
        parameters[name] = _WORDS[value.lower()]
    elif _NUMBER.fullmatch(value):
        parameters[name] = _parse_number(name, value)
    elif re.fullmatch(_OPAQUE, value, re.DOTALL) and value[0] in "'\"":
        parameters[name] = _ESCAPE.sub(_unescape, value[1:-1])
    else:
        expressions[name] = value


def _parse_number(name: str, text: str) -> int | float:
    try:
        number: int | float = json.loads(text.lstrip("+"))
    except ValueError as error:
        raise QueryError(
            f"`{name}` is a number of {len(text):,} digits", hint="Write a number of 64 bits."
        ) from error
    return number


def _unescape(found: re.Match[str]) -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPED.get(escape, escape)


def _substitute(text: str, expressions: dict[str, str]) -> str:
    """Return a statement with expressions in place of their parameters."""

    def replace(found: re.Match[str]) -> str:
        expression = expressions.get(found["quoted"] or found["name"] or "")
        return found[0] if expression is None else f"({expression})"

    return _TOKEN.sub(replace, text)
