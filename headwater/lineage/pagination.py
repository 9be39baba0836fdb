"""Pages of a list in a fixed order, each entry with the cursor that leads to the ones after it.

A cursor holds what the list is sorted by, not a place in it: what comes and goes between two pages neither repeats an
entry nor skips one.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from headwater.errors import QueryError

T = TypeVar("T")
Key = tuple[str | int | float, ...]
PAGE_MAX = 200
DAYS_MAX = 3_650
_NUMBER = (int, float)


@dataclass(frozen=True)
class Page(Generic[T]):
    entries: list[T]
    cursors: list[str]
    has_next: bool


def checked_page(first: int) -> int:
    """Raises QueryError for a length outside the bounds."""
    if not 0 <= first <= PAGE_MAX:
        raise QueryError(f"first {first} is not between 0 and {PAGE_MAX}")
    return first


def page(
    entries: Sequence[T], key: Callable[[T], Key], *, first: int, after: str | None, shape: Key
) -> Page[T]:
    """The page of a whole list, sorted by `key` (smallest first), that follows a cursor; `shape` is a key like its."""
    checked_page(first)
    behind = read_cursor(after, shape) if after else None
    ordered = sorted(entries, key=key)
    rest = ordered if behind is None else [entry for entry in ordered if key(entry) > behind]
    shown = rest[:first]
    return Page(shown, [write_cursor(*key(entry)) for entry in shown], len(rest) > first)


def write_cursor(*key: str | int | float) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def read_cursor(text: str, shape: Key) -> Key:
    """The key that a cursor holds, of as many texts and numbers as `shape`. Raises QueryError when it is none."""
    try:
        key = json.loads(base64.urlsafe_b64decode(text.encode()))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or [_sort(part) for part in key] != [
        _sort(part) for part in shape
    ]:
        raise _not_one(text)
    return tuple(key)


def write_moment(at: datetime, urn: str) -> str:
    """The cursor of an entry in a list that goes by time."""
    return write_cursor(at.isoformat(), urn)


def read_moment(text: str) -> tuple[datetime, str]:
    """The instant and the urn that a cursor of such a list holds. Raises QueryError when it is none."""
    at, urn = read_cursor(text, ("", ""))
    try:
        instant = datetime.fromisoformat(str(at))
    except ValueError:
        instant = datetime.min
    if instant.tzinfo is None or not urn:
        raise _not_one(text)
    return instant, str(urn)


def _not_one(text: str) -> QueryError:
    return QueryError(
        f"after {text[:80]!r} is not a cursor of this list",
        hint="Pass on the `cursor` of an edge as it was.",
    )


def _sort(part: object) -> type | None:
    if isinstance(part, bool):
        return None
    return float if isinstance(part, _NUMBER) else str if isinstance(part, str) else None


def days_before(now: datetime | None, days: int) -> tuple[datetime, datetime]:
    """The beginning and the end of the last so many days. Raises QueryError for a number outside the bounds."""
    if not 1 <= days <= DAYS_MAX:
        raise QueryError(f"days {days} is not between 1 and {DAYS_MAX}")
    end = now or datetime.now(UTC)
    return end - timedelta(days=days), end
