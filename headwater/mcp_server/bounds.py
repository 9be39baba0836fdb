"""The bound on the size of a tool's answer, so that it fits the context of an assistant."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

CHARACTERS_MAX = 60_000
# The longest lists and texts that are tried, until the answer fits.
_BOUNDS = ((500, 4_000), (100, 2_000), (50, 1_000), (20, 500), (10, 300), (5, 200), (2, 100))


def bounded(content: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without nulls and within the bound.

    `omitted` has the number of entries that were cut from each list, by its path.
    """
    cut: dict[str, Any] = {}
    for entries_max, characters_max in _BOUNDS:
        omitted: Counter[str] = Counter()
        cut = _cut(content, "", entries_max, characters_max, omitted)
        cut["omitted"] = dict(omitted)
        if len(json.dumps(cut)) <= CHARACTERS_MAX:
            break
    return cut


def _cut(
    value: Any, path: str, entries_max: int, characters_max: int, omitted: Counter[str]
) -> Any:
    if isinstance(value, str):
        if len(value) <= characters_max:
            return value
        omitted["characters"] += len(value) - characters_max
        return f"{value[: characters_max - 1]}…"
    if isinstance(value, list):
        if len(value) > entries_max:
            omitted[path] += len(value) - entries_max
        return [
            _cut(one, path, entries_max, characters_max, omitted) for one in value[:entries_max]
        ]
    if not isinstance(value, dict):
        return value
    return {
        key: _cut(one, f"{path}.{key}".lstrip("."), entries_max, characters_max, omitted)
        for key, one in value.items()
        if one is not None
    }
