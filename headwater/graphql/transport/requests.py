"""What a client sends, judged before anything looks into it: whether it is JSON, and of the form of a request."""

from __future__ import annotations

import json
from types import NoneType
from typing import Any

BODY_BYTES_MAX = 65_536
REQUEST_SECONDS_MAX = 10.0

# What a request holds; each may be null or absent. One without a query asks a persisted one.
_FIELDS: dict[str, tuple[type, ...]] = {
    "query": (str, NoneType),
    "documentId": (str, NoneType),
    "variables": (dict, NoneType),
    "operationName": (str, NoneType),
    "extensions": (dict, NoneType),
}


def read(body: bytes | str) -> Any:
    """The value that JSON spells. Raises ValueError, which says what is wrong with it."""
    try:
        value = json.loads(body)
        # JSON may spell half of a surrogate pair, which is no text and which nothing behind here can store.
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("a text holds half a character (a lone surrogate)") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("the body is not JSON") from error
    return value


def fault(request: Any) -> str:
    """What is wrong with a request; "" when nothing is."""
    if not isinstance(request, dict):
        return "the body is not a JSON object with a query"
    wrong = [name for name, kind in _FIELDS.items() if not isinstance(request.get(name), kind)]
    return f"{wrong[0]} is not what it should be" if wrong else ""
