"""Trace ids: read from a `traceparent`, from headers, and from the facets of a run.

| where | accepted spelling |
|---|---|
| header `traceparent` of a request | version, trace id, parent id and flags (W3C Trace Context) |
| a facet of a run, at any depth up to `DEPTH_MAX` | a property whose name ends with `traceparent` |
| the same | a property whose name ends with `traceid` |
| the same | an object with `name` or `key` of these spellings, and a `value` |

Names are compared in lower case, without `_`, `-` and `.`: `trace_id`, `otelTraceID`,
`spark.openlineage.traceparent` and `OTEL_TRACEPARENT` all count. A trace id has 32 hexadecimal
digits and is not all zeros. `traceparent` is in lower case, as its specification demands; the
digits of other properties may be in upper case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import msgspec

# No trace id is looked for in plans, and in facets of more bytes: those are stack traces.
_PLANS = frozenset(("spark.logicalPlan",))
FACET_BYTES_MAX = 32_768
# A facet that has been read is memoised up to this size.
_MEMOISED_BYTES_MAX = 4_096
DEPTH_MAX = 5
HEADER_CHARACTERS_MAX = 1_024
_MARK = re.compile(rb"trace[_.-]?(?:parent|id)", re.IGNORECASE)
_TRACE_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_MARKS = str.maketrans("", "", "_-.")
_NAMES = ("name", "key")
# Of baggage: the keys that name a dataset, the values that are kept, and their length.
BAGGAGE_KEYS = ("dataset.urn", "dataset.id")
BAGGAGE_CHARACTERS_MAX = 8_192
BAGGAGE_DATASETS_MAX = 20
BAGGAGE_VALUE_CHARACTERS_MAX = 500


def trace_id_of(traceparent: str) -> str | None:
    """Return the trace id of a `traceparent`; None if it violates its specification.

    Version ff is invalid. Version 00 has four parts; a later version may have more.
    Source: https://www.w3.org/TR/trace-context/#traceparent-header
    """
    if len(traceparent) > HEADER_CHARACTERS_MAX:
        return None
    match = _TRACE_PARENT.fullmatch(traceparent.strip(" \t"))
    if match is None:
        return None
    version, trace_id, parent_id, rest = match.groups()
    if version == "ff" or (version == "00" and rest) or not parent_id.strip("0"):
        return None
    return valid_trace_id(trace_id)


def valid_trace_id(text: str) -> str | None:
    """Return a trace id in lower case; None if the text is none."""
    lower = text.strip(" \t").lower() if len(text) < HEADER_CHARACTERS_MAX else ""
    return lower if _TRACE_ID.fullmatch(lower) and lower.strip("0") else None


def header_traceparent(values: Sequence[str]) -> str | None:
    """Return the `traceparent` of a request; None without one, with several, or a malformed one."""
    if len(values) != 1 or trace_id_of(values[0]) is None:
        return None
    return values[0].strip(" \t")


def baggage_datasets(values: Sequence[str]) -> list[str]:
    """Return the datasets that baggage names: the values of `dataset.urn` and `dataset.id`.

    The first `BAGGAGE_DATASETS_MAX` values are returned, percent-decoded, each once, sorted.
    Source: https://www.w3.org/TR/baggage/
    """
    if sum(map(len, values)) > BAGGAGE_CHARACTERS_MAX:
        return []
    found: dict[str, None] = {}
    for member in ",".join(values).split(","):
        key, _, rest = member.partition("=")
        value = _percent_decoded(rest.partition(";")[0].strip())
        if key.strip() in BAGGAGE_KEYS and 0 < len(value) <= BAGGAGE_VALUE_CHARACTERS_MAX:
            found[value] = None
    return sorted(list(found)[:BAGGAGE_DATASETS_MAX])


def _percent_decoded(text: str) -> str:
    return unquote(text, errors="replace") if "%" in text else text


def trace_ids_in(facets: Mapping[str, msgspec.Raw] | None) -> set[str]:
    """Return the trace ids that the facets of a run name."""
    found: set[str] = set()
    for name, raw in facets.items() if facets else ():
        if name in _PLANS:
            continue
        text = bytes(raw)
        if len(text) <= _MEMOISED_BYTES_MAX:
            found |= _memoised(text)
        elif len(text) <= FACET_BYTES_MAX:
            found |= _of_facet(text)
    return found


def _of_facet(raw: bytes) -> frozenset[str]:
    # The search for a fixed text is ten times as fast, and most facets have neither.
    if (b"race" not in raw and b"RACE" not in raw) or _MARK.search(raw) is None:
        return frozenset()
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return frozenset()
    return frozenset(_walk(value, DEPTH_MAX))


_memoised = lru_cache(maxsize=8_192)(_of_facet)


def _walk(value: Any, depth: int) -> Iterator[str]:
    """Find the trace ids in a decoded facet."""
    if isinstance(value, Mapping):
        for key, text in (*value.items(), *_named_value(value)):
            trace_id = _of_property(key, text) if isinstance(text, str) else None
            if trace_id is not None:
                yield trace_id
        inner = list(value.values())
    else:
        inner = value
    for item in inner if depth else ():
        if isinstance(item, dict | list):
            yield from _walk(item, depth - 1)


def _named_value(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Find the property that an object spells as `name` (or `key`) and `value`."""
    for name in _NAMES:
        if isinstance(value.get(name), str):
            yield value[name], value.get("value")


def _of_property(name: str, text: str) -> str | None:
    plain = name.lower().translate(_MARKS)
    if plain.endswith("traceparent"):
        return trace_id_of(text)
    return valid_trace_id(text) if plain.endswith("traceid") else None
