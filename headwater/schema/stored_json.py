"""JSON that Headwater did not write, with values that Python and strict parsers refuse.

| value | decoded as |
|---|---|
| a number beyond a float, an integer of more than 4,300 digits | `msgspec.Raw` |
| a lone surrogate, bytes that are no UTF-8 | U+FFFD |
| NaN and Infinity, which Python writes | None |

`encode` writes a `msgspec.Raw` as it was read, so a number keeps its digits.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from headwater.errors import EventError
from headwater.schema.events import replace_surrogates

T = TypeVar("T")


def raw_number(text: str) -> Any:
    """Return a number that is written as it was read."""
    return msgspec.Raw(text.encode())


def no_number(_: str) -> None:
    """Return None for a number that Python cannot hold."""


def decode(body: bytes, *, out_of_range: Callable[[str], Any] = raw_number) -> Any:
    """Return the value of a JSON document.

    Args:
        body: UTF-8, UTF-16 or UTF-32, with or without a byte order mark.
        out_of_range: Returns the value of a number that Python cannot hold, from its text.

    Raises EventError, status 400, for bytes that are no JSON or nested too deeply.
    """
    try:
        return msgspec.json.decode(body)
    except RecursionError as error:
        raise EventError("the JSON is nested too deeply", status=400) from error
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _decode_leniently(body, out_of_range)


def _decode_leniently(body: bytes, out_of_range: Callable[[str], Any]) -> Any:
    def integer(text: str) -> Any:
        try:
            return int(text)
        except ValueError:
            return out_of_range(text)

    def number(text: str) -> Any:
        value = float(text)
        return value if math.isfinite(value) else out_of_range(text)

    text = body.decode(json.detect_encoding(body), "replace")
    text = replace_surrogates(text.encode()).decode()
    try:
        return json.loads(
            text, parse_int=integer, parse_float=number, parse_constant=lambda _: None
        )
    except ValueError as error:
        raise EventError(f"this is not JSON: {error}", status=400) from error
    except RecursionError as error:
        raise EventError("the JSON is nested too deeply", status=400) from error


def decode_struct(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Decode the fields of a struct, also from a body with lone surrogates in other fields.

    Raises `msgspec.MsgspecError`, UnicodeDecodeError and RecursionError.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        return decoder.decode(body)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return decoder.decode(replace_surrogates(body))


def encode(value: Any) -> bytes:
    """Return JSON in UTF-8; each lone surrogate becomes `?`."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
