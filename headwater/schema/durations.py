"""Durations as text: 90s, 45m, 24h, 7d, 2w."""

from __future__ import annotations

import re
from datetime import timedelta

from headwater.errors import QueryError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", re.IGNORECASE | re.ASCII)
DAYS_MAX = 36_500


def parse_duration(text: str, *, name: str) -> timedelta:
    """Parse a duration above zero. Raises QueryError, which names the argument."""
    match = _TEXT.fullmatch(text)
    hint = "Write a number and s, m, h, d or w: 90m, 24h, 7d."
    if match is None:
        raise QueryError(f"{name} {text[:40]!r} is no duration", hint=hint)
    try:
        length = timedelta(**{_UNITS[match[2].lower()]: float(match[1])})
    except OverflowError:
        length = timedelta.max
    if not timedelta(0) < length <= timedelta(days=DAYS_MAX):
        raise QueryError(
            f"{name} {text[:40]!r} must be above zero and at most {DAYS_MAX} days", hint=hint
        )
    return length
