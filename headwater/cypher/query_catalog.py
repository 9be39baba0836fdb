"""The library of queries: every .cypher file with its header, checked when it is loaded.

A file is one statement under a head of comments. The head says what the query is for and then, one line each:

    // access: read | write | schema
    // params: $name TYPE, $name TYPE = default        (or: none)
    // returns: column, column
    // example: headwater cypher audit/orphans --param limit=5

A head that lacks a line, or that declares a parameter the statement does not use (or the other way round), stops
the program when the file is loaded: nothing wrong waits for the day somebody runs it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from headwater.errors import QueryError

_KEYS = ("access", "params", "returns", "example")
_PARAM = re.compile(r"\$(\w+)\s+([A-Z<>]+)(?:\s*=\s*(.+))?")
_USED = re.compile(r"\$(\w+)")
_TYPES = frozenset(
    {"STRING", "INTEGER", "FLOAT", "BOOLEAN", "DATETIME", "MAP", "LIST<STRING>", "LIST<MAP>"}
)


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    default: Any
    required: bool


@dataclass(frozen=True)
class Query:
    """One statement of the library. `name` is its path without the ending: `audit/orphans`."""

    name: str
    purpose: str
    access: str
    parameters: tuple[Parameter, ...]
    returns: str
    example: str
    text: str


@cache
def library() -> Mapping[str, Query]:
    """Every query by name. Raises QueryError when a file's head is wrong."""
    root = files("headwater.cypher")
    found: dict[str, Query] = {}
    for folder in ("audit", "read", "write", "migrations"):
        for file in sorted(root.joinpath(folder).iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".cypher"):
                query = _read(f"{folder}/{file.name.removesuffix('.cypher')}", file)
                found[query.name] = query
    return found


def query(name: str) -> Query:
    """The query of that name; an audit query also by its bare name. Raises QueryError when there is none."""
    queries = library()
    found = queries.get(name) or queries.get(f"audit/{name}")
    if found is None:
        raise QueryError(
            f"there is no query {name!r}", hint="`headwater cypher` lists the library."
        )
    return found


def _read(name: str, file: Traversable) -> Query:
    text = file.read_text(encoding="utf-8")
    purpose, head = _head(name, text)
    missing = [key for key in _KEYS if not head.get(key)]
    if missing:
        raise QueryError(f"{name}.cypher: its head lacks {', '.join(missing)}")
    if head["access"] not in {"read", "write", "schema"}:
        raise QueryError(f"{name}.cypher: access {head['access']!r} is none of read, write, schema")
    parameters = _parameters(name, head["params"])
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    if not body.strip():
        raise QueryError(f"{name}.cypher: there is no statement under its head")
    used, declared = set(_USED.findall(body)), {parameter.name for parameter in parameters}
    if used != declared:
        raise QueryError(f"{name}.cypher: declares {sorted(declared)} but uses {sorted(used)}")
    return Query(name, purpose, head["access"], parameters, head["returns"], head["example"], text)


def _head(name: str, text: str) -> tuple[str, dict[str, str]]:
    purpose: list[str] = []
    head: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        said = line.removeprefix("//").strip()
        key, colon, value = said.partition(":")
        if colon and key in _KEYS:
            head[key] = value.strip()
        elif head:
            last = next(reversed(head))
            head[last] = f"{head[last]} {said}"
        else:
            purpose.append(said)
    if not purpose:
        raise QueryError(f"{name}.cypher: its head does not say what the query is for")
    return " ".join(purpose), head


def _parameters(name: str, text: str) -> tuple[Parameter, ...]:
    if text == "none":
        return ()
    parameters: list[Parameter] = []
    for part in re.split(r",\s*(?=\$)", text):
        match = _PARAM.fullmatch(part.strip())
        if match is None or match.group(2) not in _TYPES:
            raise QueryError(f"{name}.cypher: cannot read the parameter {part.strip()!r}")
        if match.group(1) in {parameter.name for parameter in parameters}:
            raise QueryError(f"{name}.cypher: declares ${match.group(1)} twice")
        default = _default(name, match.group(1), match.group(3)) if match.group(3) else None
        parameters.append(
            Parameter(match.group(1), match.group(2), default, match.group(3) is None)
        )
    return tuple(parameters)


def _default(name: str, parameter: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise QueryError(
            f"{name}.cypher: the default {text!r} of ${parameter} is not JSON"
        ) from error
