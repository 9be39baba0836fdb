"""Values as JSON and as text in one cell of a table.

Anybody who sends events chooses names. So a cell holds no control character but tab and line
break, which could command a terminal.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

_CONTROLS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff]"
)
_BREAKS = re.compile(r"[\t\r\n\u2028\u2029]+")


def to_json(data: Any, *, indent: int | None = None) -> str:
    """Return data as JSON text, instants as ISO 8601 with a Z."""
    return json.dumps(data, indent=indent, default=json_value, ensure_ascii=False)


def json_value(value: Any) -> str:
    """Return a value that JSON lacks as text."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)


def text_of(value: Any) -> str:
    """Return the text of a cell: a list of plain values with commas, other structures as JSON."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return json_value(value)
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, list | tuple) and not any(isinstance(one, dict | list) for one in value):
        return ", ".join(text_of(one) for one in value)
    return without_controls(to_json(value))


def without_controls(text: str) -> str:
    """Return a text with a replacement character for each control character."""
    return _CONTROLS.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return a text on one line and without control characters."""
    return _BREAKS.sub(" ", without_controls(text))
