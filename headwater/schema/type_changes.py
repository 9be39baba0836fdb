"""Whether a change of a column type can lose values.

A change is *wide* if every value survives with its meaning: the promotions of Apache Iceberg's
table format (int to long, float to double, a decimal to more digits before the point and as many
after it), and the up-casts of Spark's store assignment (integers to wider ones, to decimals with
room for them and to double, date to timestamp, a string to a longer one). Every other change is
*narrow*: a cast may lose values, fail, or turn numbers into text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TYPE = re.compile(
    r"\s*+([a-z][a-z0-9_]*+(?: ++[a-z0-9_]++)*+)\s*+"
    r"(?:\(\s*+(\d{1,9}+|max)\s*+(?:,\s*+(-?\d{1,9}+)\s*+)?\)\s*+)?"
)
# A type by family and width: decimal digits of an integer, 1 or 2 for single and double
# precision, the order of times.
_FAMILIES: dict[str, dict[str, int]] = {
    "integer": {
        **dict.fromkeys(("tinyint", "byte", "int1", "int8_t"), 3),
        **dict.fromkeys(("smallint", "short", "int2", "int16"), 5),
        **dict.fromkeys(("int", "integer", "int4", "int32", "serial", "mediumint"), 10),
        **dict.fromkeys(("bigint", "long", "int8", "int64", "bigserial"), 19),
    },
    "real": {
        **dict.fromkeys(("float", "real", "float4", "float32"), 1),
        **dict.fromkeys(("double", "double precision", "float8", "float64"), 2),
    },
    "time": {
        "date": 1,
        **dict.fromkeys(("datetime", "timestamp", "timestamp_ntz"), 2),
        "timestamp without time zone": 2,
    },
    "decimal": dict.fromkeys(("decimal", "numeric", "number", "bignumeric"), 0),
    "text": {
        **dict.fromkeys(("string", "text", "clob", "varchar", "character varying"), 0),
        **dict.fromkeys(("char", "character", "nvarchar", "nchar"), 0),
    },
    "other": dict.fromkeys(
        ("boolean", "bool", "binary", "bytes", "time", "uuid", "json", "variant"), 0
    ),
}
_UNBOUNDED = 10**9
# The digits of integers that a float and a double hold exactly.
_EXACT_DIGITS = {1: 6, 2: 15}


@dataclass(frozen=True)
class _Type:
    """A parsed type: its family, its width in it, its length or precision, and its scale."""

    name: str
    family: str
    width: int
    size: int | None
    scale: int | None

    @property
    def length(self) -> int:
        return self.size or _UNBOUNDED

    @property
    def digits(self) -> int:
        """Return the digits of a decimal before its point."""
        return self.length - (self.scale or 0)


def is_narrowing(before: str | None, after: str) -> bool | None:
    """Return True if a change of type may lose values; None if one of the types is not known."""
    old, new = _parse(before or ""), _parse(after)
    if old is None or new is None:
        return None
    if (old.name, old.size, old.scale) == (new.name, new.size, new.scale):
        return False
    return not _is_promotion(old, new)


def _is_promotion(old: _Type, new: _Type) -> bool:
    """Return True if the new type holds every value of the old one."""
    families = (old.family, new.family)
    if families in (("integer", "integer"), ("real", "real"), ("time", "time")):
        return new.width >= old.width
    if families == ("integer", "decimal"):
        return new.digits >= old.width
    if families == ("integer", "real"):
        return _EXACT_DIGITS[new.width] >= old.width
    if families == ("decimal", "decimal"):
        return new.digits >= old.digits and (new.scale or 0) >= (old.scale or 0)
    if families == ("text", "text"):
        return new.length >= old.length
    return False


def _parse(text: str) -> _Type | None:
    match = _TYPE.fullmatch(text.casefold())
    if match is None:
        return None
    name = match[1]
    family = next((family for family, types in _FAMILIES.items() if name in types), None)
    if family is None:
        return None
    size = int(match[2]) if match[2] and match[2] != "max" else None
    scale = int(match[3]) if match[3] else None
    return _Type(name, family, _FAMILIES[family][name], size, scale)


def family_of(type: str) -> str | None:
    """Return the family of a type: integer, real, time, decimal, text or other; None if unknown."""
    parsed = _parse(type)
    return parsed.family if parsed else None
