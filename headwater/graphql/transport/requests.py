"""The parsing and validation of a GraphQL request before anything reads its parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import NoneType
from typing import Any

BODY_BYTES_MAX = 65_536
REQUEST_SECONDS_MAX = 10.0

# The members of a request, with their types and the words of the error. Each may be null or
# absent. A request without a query names a persisted one.
_MEMBERS: dict[str, tuple[type, str]] = {
    "query": (str, "text"),
    "documentId": (str, "text"),
    "variables": (dict, "a JSON object"),
    "operationName": (str, "text"),
    "extensions": (dict, "a JSON object"),
}


def parse_json(body: bytes | str) -> Any:
    """Return the value of a JSON text. Raises ValueError with the problem."""
    try:
        value = json.loads(body)
        # JSON may contain half of a surrogate pair, which no store behind this can encode.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("the body contains a lone surrogate") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("the body is not JSON") from error
    return value


def parse_parameters(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the request that the parameters of a URL hold. Raises ValueError with the problem.

    An empty parameter counts as absent.
    """
    request: dict[str, Any] = {}
    for name, (kind, words) in _MEMBERS.items():
        text = parameters.get(name)
        if not text:
            continue
        try:
            request[name] = text if kind is str else parse_json(text)
        except ValueError as error:
            raise ValueError(f"`{name}` must be {words}") from error
    return request


def find_problem(request: Any) -> str:
    """Return the problem of a parsed request, or "" if it has none."""
    if not isinstance(request, dict):
        return "the body must be a JSON object with a query"
    for name, (kind, words) in _MEMBERS.items():
        if not isinstance(request.get(name), (kind, NoneType)):
            return f"`{name}` must be {words} or null"
    return ""
