"""Facets as canonical JSON text, the values of their registers.

Readers skip a facet that violates its schema, and never the event. A strict reader would lose every
event of a local Spark, whose `dataSource` facet violates its own schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from headwater.schema import contracts
from headwater.schema import headwater_facets as native

T = TypeVar("T")

# Of a larger facet the graph stores the short values and the beginning of texts. The event log has
# all of it.
FACET_BYTES_MAX = 32_768
_STORED_CHARACTERS = 4_000
_CUT_MARK = "…"
# Deeper nested facets are skipped: the depth that a reader reaches depends on its caller.
NESTING_MAX = 200
# Facets that come with every event (schemas, engines, owners) are short; longer ones are not
# memoised.
MEMOISED_BYTES_MAX = 4_096
# The graph is built from these facets, so they are stored whatever their size.
_UNBOUNDED_FACETS = frozenset(
    {"schema", native.ANSWER_FACET, native.SOURCE_FACET, native.ARTIFACT_FACET, native.RUN_FACET}
)


def canonical_texts(facets: Mapping[str, msgspec.Raw] | None) -> dict[str, str]:
    """Return the canonical texts of facets by name, "" for a deleted facet.

    Skip facets that are no JSON object or nested too deep.
    """
    found: dict[str, str] = {}
    for name, raw in facets.items() if facets else ():
        text = bytes(raw)
        read = _memoised if len(text) <= MEMOISED_BYTES_MAX else _canonical
        value = read(text, name in _UNBOUNDED_FACETS or _is_contract(name, len(text)))
        if value is not None:
            found[name] = value
    return found


def decoded(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | None) -> T | None:
    """Return a facet as its type; None if it is absent or violates the type."""
    if raw is None:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _canonical(raw: bytes, is_unbounded: bool) -> str | None:
    """Return a facet as canonical JSON; "" if it is deleted, None if it is malformed."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or _too_deep(raw, value):
        return None
    if value.get("_deleted") is True:
        return ""
    if len(raw) > FACET_BYTES_MAX and not is_unbounded:
        value = {
            key: _cut(item) for key, item in value.items() if not isinstance(item, list | dict)
        }
        value["_bytes"] = len(raw)
        if sum(map(len, value)) > FACET_BYTES_MAX:
            value = {"_bytes": len(raw)}
    return msgspec.json.encode(value, order="sorted").decode()


_memoised = lru_cache(maxsize=8_192)(_canonical)


def _is_contract(name: str, size: int) -> bool:
    """Return True for the facet of a data contract that is longer than others may be."""
    is_long = FACET_BYTES_MAX < size <= contracts.FACET_BYTES_MAX
    return is_long and name.startswith(contracts.FACET_PREFIX)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _STORED_CHARACTERS:
        return f"{value[:_STORED_CHARACTERS]}{_CUT_MARK}"
    return value


def is_cut(text: str) -> bool:
    """Return True for the beginning of a longer text, as a large facet stores it."""
    return len(text) == _STORED_CHARACTERS + len(_CUT_MARK) and text.endswith(_CUT_MARK)


def _too_deep(raw: bytes, value: Any) -> bool:
    if raw.count(b"[") + raw.count(b"{") <= NESTING_MAX:
        return False
    level = [value]
    for _ in range(NESTING_MAX):
        deeper = []
        for container in level:
            items = container.values() if isinstance(container, dict) else container
            deeper += [item for item in items if isinstance(item, list | dict)]
        if not deeper:
            return False
        level = deeper
    return True
