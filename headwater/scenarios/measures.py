"""Measures of the columns of rows, as the facet dataQualityMetrics has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def column_metrics(
    rows: Sequence[Mapping[str, Any]], types: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    """Return the measures of each column; numbers have a sum, a minimum and a maximum too."""
    return {name: _measure(rows, name) for name in types}


def _measure(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, float]:
    values = [row.get(name) for row in rows]
    present = [value for value in values if value is not None]
    found: dict[str, float] = {
        "nullCount": len(values) - len(present),
        "distinctCount": len(set(present)),
        "count": len(present),
    }
    numbers = [value for value in present if _is_number(value)]
    if numbers and len(numbers) == len(present):
        found |= {"sum": sum(numbers), "min": min(numbers), "max": max(numbers)}
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
