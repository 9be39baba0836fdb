"""Queries of the catalog as text that cypher-shell and Neo4j Browser take as it is.

A `:param` line sets each parameter, so that the statement below runs unchanged.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headwater.cypher.query_catalog import Query
from headwater.cypher.sandbox.parameters import parse_parameters

_PARAMETER_OPTION = "--param"
_QUOTED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def shell_text(query: Query, given: Mapping[str, Any] = {}) -> str:
    """Return a query with a `:param` line for each parameter and a semicolon at its end.

    A parameter that is not given has its value in the example of the query, or else its default.

    Raises QueryError for an unknown parameter and a value of another type.
    """
    values = parse_parameters(query, {**example_parameters(query), **given})
    lines = [f":param {name} => {cypher_literal(value)}" for name, value in values.items()]
    return "\n".join([*lines, f"{statement(query)};"]) + "\n"


def statement(query: Query) -> str:
    """Return the statement of a query without its header."""
    lines = query.text.splitlines()
    return "\n".join(line for line in lines if not line.startswith("//")).strip()


def example_parameters(query: Query) -> dict[str, str]:
    """Return the parameters in the example of a query, as words of a command line."""
    words = shlex.split(query.example)
    pairs = itertools.pairwise(words)
    given = [value for option, value in pairs if option == _PARAMETER_OPTION]
    return dict(value.split("=", 1) for value in given)


def cypher_literal(value: Any) -> str:
    """Return a parameter as an expression of Cypher."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return f"'{value.translate(_QUOTED)}'"
    if isinstance(value, datetime):
        instant = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        return f"datetime('{instant}')"
    if isinstance(value, list):
        return f"[{', '.join(map(cypher_literal, value))}]"
    if isinstance(value, dict):
        entries = (f"{_key(key)}: {cypher_literal(item)}" for key, item in value.items())
        return f"{{{', '.join(entries)}}}"
    return repr(value)


def _key(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
