"""The catalog of queries: every .cypher file of the package with its header, checked when it is
loaded.

A file is one statement under a header of comments. The header gives the purpose of the query, then
one line for each:

    // access: read | write | schema
    // params: $name TYPE, $name TYPE = default        (or: none)
    // returns: column, column
    // example: headwater cypher audit/orphans --param limit=5

The name of a query is its path without the ending: `read/traversal/producers`. Audit queries also
go by their bare names. The loader refuses a header that lacks a line. It also refuses a header
whose parameters differ from those that the statement uses. So a wrong header stops the program at
its start, before anybody runs the query.

The catalog has the migrations too. A graph with later ones belongs to a newer version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from headwater.errors import NewerVersionError, QueryError

_FOLDERS = ("audit", "read", "write", "migrations")
_KEYS = ("access", "params", "returns", "example")
_ACCESS_KINDS = ("read", "write", "schema")
_SUFFIX = ".cypher"
_PARAMETER = re.compile(r"\$(\w+)\s+([A-Z<>]+)(?:\s*=\s*(.+))?")
_USED_PARAMETER = re.compile(r"\$(\w+)")
_TYPES = frozenset(
    {"STRING", "INTEGER", "FLOAT", "BOOLEAN", "DATETIME", "MAP", "LIST<STRING>", "LIST<MAP>"}
)


@dataclass(frozen=True)
class Parameter:
    """A parameter that the header of a query declares."""

    name: str
    type: str
    default: Any
    required: bool


@dataclass(frozen=True)
class Query:
    """One statement of the catalog. `name` is its path without the ending: `audit/orphans`."""

    name: str
    purpose: str
    access: str
    parameters: tuple[Parameter, ...]
    returns: str
    example: str
    text: str


@cache
def load_queries() -> Mapping[str, Query]:
    """Load every query of the catalog, by name.

    Raises QueryError when the header of a file is malformed.
    """
    root = files("headwater.cypher")
    queries: dict[str, Query] = {}
    for folder in _FOLDERS:
        for name, file in _query_files(folder, root.joinpath(folder)):
            queries[name] = _read_query(name, file)
    return queries


def find_query(name: str) -> Query:
    """Return the query of that name; an audit query may be given by its bare name.

    Raises QueryError when the catalog has no such query.
    """
    queries = load_queries()
    query = queries.get(name) or queries.get(f"audit/{name}")
    if query is None:
        raise QueryError(
            f"there is no query {name!r}", hint="List the catalog with `headwater cypher`."
        )
    return query


def refuse_newer(read: Callable[..., list[dict[str, Any]]]) -> None:
    """Check that this version has every migration of the graph.

    `read` runs a query of the catalog. Raises NewerVersionError if a newer Headwater migrated the
    graph: its facts may have other forms. Raises what `read` raises.
    """
    newest = _newest_migration()
    rows = read("read/state/migrations_after", name=newest)
    newer = [row["name"] for row in rows if _number(row["name"]) > _number(newest)]
    if newer:
        raise NewerVersionError(
            f"a newer Headwater has migrated this graph to {max(newer)}; this one knows the "
            f"migrations up to {newest}",
            hint="Install that version again, or a newer one.",
        )


@cache
def _newest_migration() -> str:
    return max(name for name in load_queries() if name.startswith("migrations/"))


def _number(name: str) -> int:
    """Return the number of a migration, for example 27 of `migrations/0027_alerts`; else 0."""
    digits = name.removeprefix("migrations/")[:4]
    return int(digits) if digits.isdecimal() else 0


def _query_files(path: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """Yield the .cypher files under a folder with the names of their queries, in the order of
    paths."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _query_files(f"{path}/{entry.name}", entry)
        elif entry.name.endswith(_SUFFIX):
            yield f"{path}/{entry.name.removesuffix(_SUFFIX)}", entry


def _read_query(name: str, file: Traversable) -> Query:
    text = file.read_text(encoding="utf-8")
    purpose, header = _parse_header(name, text)
    missing = [key for key in _KEYS if not header.get(key)]
    if missing:
        raise QueryError(f"{name}.cypher: its header lacks {', '.join(missing)}")
    access = header["access"]
    if access not in _ACCESS_KINDS:
        raise QueryError(f"{name}.cypher: access {access!r} is none of {', '.join(_ACCESS_KINDS)}")
    parameters = _parse_parameters(name, header["params"])
    body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    if not body.strip():
        raise QueryError(f"{name}.cypher: there is no statement under its header")
    used = set(_USED_PARAMETER.findall(body))
    declared = {parameter.name for parameter in parameters}
    if used != declared:
        raise QueryError(f"{name}.cypher: declares {sorted(declared)} but uses {sorted(used)}")
    return Query(name, purpose, access, parameters, header["returns"], header["example"], text)


def _parse_header(name: str, text: str) -> tuple[str, dict[str, str]]:
    """Return the purpose of a query and the values of its header lines, by key."""
    purpose: list[str] = []
    header: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        comment = line.removeprefix("//").strip()
        key, colon, value = comment.partition(":")
        if colon and key in _KEYS:
            header[key] = value.strip()
        elif header:
            last_key = next(reversed(header))
            header[last_key] = f"{header[last_key]} {comment}"
        else:
            purpose.append(comment)
    if not purpose:
        raise QueryError(f"{name}.cypher: its header does not give the purpose of the query")
    return " ".join(purpose), header


def _parse_parameters(name: str, text: str) -> tuple[Parameter, ...]:
    if text == "none":
        return ()
    parameters: dict[str, Parameter] = {}
    for declaration in re.split(r",\s*(?=\$)", text):
        match = _PARAMETER.fullmatch(declaration.strip())
        if match is None or match.group(2) not in _TYPES:
            raise QueryError(f"{name}.cypher: cannot parse the parameter {declaration.strip()!r}")
        parameter, type, default = match.groups()
        if parameter in parameters:
            raise QueryError(f"{name}.cypher: declares ${parameter} twice")
        value = _parse_default(name, parameter, default) if default else None
        parameters[parameter] = Parameter(parameter, type, value, default is None)
    return tuple(parameters.values())


def _parse_default(name: str, parameter: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise QueryError(
            f"{name}.cypher: the default {text!r} of ${parameter} is not JSON"
        ) from error
