"""Facets as the values of registers: canonical JSON text.

A facet that is not what its name promises is left out of what is derived from it, never the event: a strict reader
would lose every event of a local Spark, whose `dataSource` facet breaks its own schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from headwater.schema import headwater_facets as native

T = TypeVar("T")

# Of a facet larger than this the graph keeps the short values and the beginning of texts; the event log has it whole.
FACET_BYTES_MAX = 32_768
_KEPT_CHARACTERS = 4_000
# Nested deeper, a facet is none: how deep a reader can go would depend on where it is called from.
NESTING_MAX = 200
# Facets that come with every event of a pipeline (schemas, engines, owners) are short; long ones are not remembered.
REMEMBERED_BYTES_MAX = 4_096
# What the graph itself is made from is kept whatever its size.
_NEVER_CUT = frozenset(
    {"schema", native.ANSWER_FACET, native.SOURCE_FACET, native.ARTIFACT_FACET, native.RUN_FACET}
)


def canonical(facets: Mapping[str, msgspec.Raw] | None) -> dict[str, str]:
    """The texts of facets by name, "" for one that is deleted; one that is no JSON object, or nested too deep, is left
    out."""
    found: dict[str, str] = {}
    for name, raw in facets.items() if facets else ():
        text = bytes(raw)
        read = _remembered if len(text) <= REMEMBERED_BYTES_MAX else _canonical
        value = read(text, name in _NEVER_CUT)
        if value is not None:
            found[name] = value
    return found


def decoded(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | None) -> T | None:
    """A facet as its type; None when it is absent or something else."""
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _canonical(raw: bytes, whole: bool) -> str | None:
    """A facet as canonical JSON: "" when it says it is deleted, None when it is no facet at all."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or _too_deep(raw, value):
        return None
    if value.get("_deleted") is True:
        return ""
    if len(raw) > FACET_BYTES_MAX and not whole:
        value = {
            key: _cut(item) for key, item in value.items() if not isinstance(item, list | dict)
        }
        value["_bytes"] = len(raw)
        if sum(map(len, value)) > FACET_BYTES_MAX:
            value = {"_bytes": len(raw)}
    return msgspec.json.encode(value, order="sorted").decode()


_remembered = lru_cache(maxsize=8_192)(_canonical)


def _cut(value: Any) -> Any:
    return (
        f"{value[:_KEPT_CHARACTERS]}…"
        if isinstance(value, str) and len(value) > _KEPT_CHARACTERS
        else value
    )


def _too_deep(raw: bytes, value: Any) -> bool:
    if raw.count(b"[") + raw.count(b"{") <= NESTING_MAX:
        return False
    level = [value]
    for _ in range(NESTING_MAX):
        level = [
            item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, list | dict)
        ]
        if not level:
            return False
    return True
