"""Parameters of catalog queries, parsed from text or JSON by the types that the query declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from headwater.cypher.query_catalog import Parameter, Query
from headwater.errors import EventError, QueryError
from headwater.schema.events import parse_instant, to_datetime


def parse_parameters(query: Query, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a query from text or values of JSON; missing ones take their
    defaults.

    Raises QueryError for an unknown parameter, a missing one, and a value of another type.
    """
    declared = {parameter.name: parameter for parameter in query.parameters}
    unknown = sorted(given.keys() - declared.keys())
    if unknown:
        raise QueryError(f"{query.name} has no parameter {', '.join(unknown)}", hint=_usage(query))
    missing = [
        name for name, parameter in declared.items() if parameter.required and name not in given
    ]
    if missing:
        raise QueryError(
            f"{query.name} needs the parameter {', '.join(missing)}", hint=_usage(query)
        )
    return {
        name: _parse(parameter, given[name]) if name in given else _default(parameter)
        for name, parameter in declared.items()
    }


def json_or_text(text: str) -> Any:
    """Return the JSON value of a parameter of the command line; the text itself if it is no
    JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _usage(query: Query) -> str:
    listed = ", ".join(f"{parameter.name} {parameter.type}" for parameter in query.parameters)
    return f"Give its parameters: {listed or 'none'}. For example: {query.example}"


def _default(parameter: Parameter) -> Any:
    if parameter.type == "DATETIME" and isinstance(parameter.default, str):
        return _parse_datetime(parameter.default)
    return parameter.default


def _parse(parameter: Parameter, given: Any) -> Any:
    if given is None and not parameter.required:
        return _default(parameter)
    text = given if isinstance(given, str) else json.dumps(given)
    try:
        return _PARSERS[parameter.type](text)
    except (ValueError, EventError) as error:
        raise QueryError(
            f"{parameter.name} {text[:80]!r} is not {_EXPECTED[parameter.type]}"
        ) from error


def _parse_datetime(text: str) -> datetime:
    return to_datetime(parse_instant(text))


def _parse_integer(text: str) -> int:
    number = int(text)
    if abs(number) >= 2**63:
        raise ValueError(text)
    return number


def _parse_boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(text)
    return text.lower() == "true"


def _parse_strings(text: str) -> list[str]:
    """Parse a JSON list of strings, or words separated by commas."""
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    values = json.loads(text)
    if not all(isinstance(value, str) for value in values):
        raise ValueError(text)
    return list(values)


def _parse_maps(text: str) -> list[dict[str, Any]]:
    values = json.loads(text)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise ValueError(text)
    return values


def _parse_map(text: str) -> dict[str, Any]:
    return _parse_maps(f"[{text}]")[0]


_PARSERS: dict[str, Callable[[str], Any]] = {
    "STRING": str,
    "INTEGER": _parse_integer,
    "FLOAT": float,
    "BOOLEAN": _parse_boolean,
    "DATETIME": _parse_datetime,
    "MAP": _parse_map,
    "LIST<STRING>": _parse_strings,
    "LIST<MAP>": _parse_maps,
}
_EXPECTED = {
    "STRING": "text",
    "INTEGER": "a whole number",
    "FLOAT": "a number",
    "BOOLEAN": "true or false",
    "DATETIME": "a time, for example 2026-01-31T12:00:00Z",
    "MAP": "a JSON object",
    "LIST<STRING>": "a list: words separated by commas, or JSON",
    "LIST<MAP>": "a JSON list of objects",
}
