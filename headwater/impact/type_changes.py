"""Which changes of a column's type its readers can live with.

A change is *wide* when every value survives and keeps its meaning: the promotions of Apache Iceberg's table format
(int to long, float to double, a decimal to more digits before the point and as many behind it) and the up-casts of
Spark's store assignment (whole numbers to wider ones, to decimals with room for them and to double, date to timestamp,
any string to a longer one). Everything else is *narrow*: a cast of it may lose values, fail, or turn numbers to text.
"""

from __future__ import annotations

import re

_TYPE = re.compile(r"\s*([a-z][a-z0-9_ ]*?)\s*(?:\(\s*(\d+|max)\s*(?:,\s*(-?\d+)\s*)?\))?\s*")
_WHOLE = {
    "tinyint": 3, "byte": 3, "int1": 3, "int8_t": 3,
    "smallint": 5, "short": 5, "int2": 5, "int16": 5,
    "int": 10, "integer": 10, "int4": 10, "int32": 10, "serial": 10, "mediumint": 10,
    "bigint": 19, "long": 19, "int8": 19, "int64": 19, "bigserial": 19,
}  # fmt: skip
_REAL = {
    "float": 1,
    "real": 1,
    "float4": 1,
    "float32": 1,
    "double": 2,
    "double precision": 2,
    "float8": 2,
    "float64": 2,
}
_TEXT = {
    "string",
    "text",
    "varchar",
    "character varying",
    "char",
    "character",
    "nvarchar",
    "nchar",
    "clob",
}
_DECIMAL = {"decimal", "numeric", "number", "bignumeric"}
_TIMES = {
    "date": 1,
    "datetime": 2,
    "timestamp": 2,
    "timestamp_ntz": 2,
    "timestamp without time zone": 2,
}
_UNBOUNDED = 10**9


def is_narrowing(before: str | None, after: str) -> bool | None:
    """Whether a change of type may lose values; None when one of the types is not known."""
    old, new = _read(before or ""), _read(after)
    if old is None or new is None:
        return None
    (old_name, old_size, old_scale), (new_name, new_size, new_scale) = old, new
    if (old_name, old_size, old_scale) == (new_name, new_size, new_scale):
        return False
    if old_name in _WHOLE:
        return not _holds_whole(_WHOLE[old_name], new_name, new_size, new_scale)
    if old_name in _REAL:
        return not (new_name in _REAL and _REAL[new_name] >= _REAL[old_name])
    if old_name in _DECIMAL and new_name in _DECIMAL:
        digits = (old_size or _UNBOUNDED) - (old_scale or 0)
        return (new_size or _UNBOUNDED) - (new_scale or 0) < digits or (new_scale or 0) < (
            old_scale or 0
        )
    if old_name in _TEXT and new_name in _TEXT:
        return (new_size or _UNBOUNDED) < (old_size or _UNBOUNDED)
    return not (old_name in _TIMES and new_name in _TIMES and _TIMES[new_name] >= _TIMES[old_name])


def _holds_whole(digits: int, name: str, size: int | None, scale: int | None) -> bool:
    if name in _WHOLE:
        return _WHOLE[name] >= digits
    if name in _DECIMAL:
        return (size or _UNBOUNDED) - (scale or 0) >= digits
    # A double keeps whole numbers of up to 15 digits, a float of up to 6.
    return name in _REAL and digits <= (15 if _REAL[name] == 2 else 6)


def _read(text: str) -> tuple[str, int | None, int | None] | None:
    """A type as its name, its length or precision, and its scale."""
    match = _TYPE.fullmatch(text.casefold())
    if match is None:
        return None
    name = match[1]
    is_known = (
        name in _WHOLE or name in _REAL or name in _TEXT or name in _DECIMAL or name in _TIMES
    )
    if not is_known and name not in (
        "boolean",
        "bool",
        "binary",
        "bytes",
        "time",
        "uuid",
        "json",
        "variant",
    ):
        return None
    size = int(match[2]) if match[2] and match[2] != "max" else None
    return name, size, int(match[3]) if match[3] else None
