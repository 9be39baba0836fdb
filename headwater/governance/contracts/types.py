"""Whether an observed type of a column keeps the type that a contract promises. Pure.

A physical type is kept if every observed value fits into it, so `int` keeps `bigint`, and not the
other way round. Engines such as Spark report texts without their length; such a text is no breach.
A logical type of the standard is kept by every type of its kind. Of two types that are not known,
nothing is said.
"""

from __future__ import annotations

import re

from headwater.schema.facets.contracts import ContractColumn
from headwater.schema.type_changes import family_of, is_narrowing

_HEAD = re.compile(r"[a-z_][a-z0-9_]*")
_SIZE = re.compile(r"\(.*\)")
_NESTED = frozenset({"struct", "record", "row", "object", "map", "json", "variant", "jsonb"})
_LISTS = frozenset({"array", "list", "repeated"})
_LOGICAL: dict[str, frozenset[str]] = {
    "string": frozenset({"text", "uuid", "enum", "json"}),
    "integer": frozenset({"integer"}),
    "number": frozenset({"integer", "real", "decimal"}),
    "boolean": frozenset({"boolean", "bool"}),
    "date": frozenset({"date"}),
    "timestamp": frozenset({"timestamp"}),
    "time": frozenset({"time"}),
    "object": _NESTED,
    "map": _NESTED,
    "array": _LISTS,
    "vector": _LISTS,
}
# Types that the families of type_changes do not name.
_MORE_KINDS = {
    **dict.fromkeys(("timestamptz", "timestamp_ltz", "timestamp_tz", "datetime2"), "timestamp"),
    "timestamp with time zone": "timestamp",
    "time with time zone": "time",
    **dict.fromkeys(("float", "double"), "real"),
    **dict.fromkeys(("bytes", "binary", "bytea", "fixed"), "binary"),
}


def keeps_type(column: ContractColumn, observed: str) -> bool | None:
    """Return True if an observed type keeps the promise; None if nothing can be said."""
    if (
        column.physical_type
        and (kept := _keeps_physical(column.physical_type, observed)) is not None
    ):
        return kept
    if column.logical_type:
        return _keeps_logical(column.logical_type, observed)
    return None


def _keeps_physical(promised: str, observed: str) -> bool | None:
    if _plain(promised) == _plain(observed):
        return True
    families = (family_of(promised), family_of(observed))
    if families == ("text", "text") and not _SIZE.search(observed):
        return True
    narrowing = is_narrowing(observed, promised)
    return None if narrowing is None else not narrowing


def _keeps_logical(promised: str, observed: str) -> bool | None:
    allowed = _LOGICAL.get(promised.strip().casefold())
    kind = _kind(observed)
    return None if allowed is None or kind is None else kind in allowed


def _kind(type: str) -> str | None:
    """Return the kind of a type as the logical types name kinds; None if it is not known."""
    text = type.strip().casefold()
    if text in _MORE_KINDS:
        return _MORE_KINDS[text]
    head = _HEAD.match(text)
    word = head[0] if head else ""
    if word in _NESTED or word in _LISTS or word in {"uuid", "enum", "boolean", "bool"}:
        return word
    if word in _MORE_KINDS:
        return _MORE_KINDS[word]
    family = family_of(type)
    if family == "time":
        return "date" if word == "date" else "timestamp"
    return word if family == "other" else family


def _plain(type: str) -> str:
    return "".join(type.split()).casefold()
