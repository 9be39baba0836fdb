"""Pages of a sorted list; each entry has the cursor that leads to the entries after it.

A cursor holds the sort key of an entry, not its position. So entries that come or go between two
pages neither repeat nor skip others.
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
    """Entries of a list, the cursor of each, and whether more follow."""

    entries: list[T]
    cursors: list[str]
    has_next: bool


def require_between(name: str, value: int, minimum: int, maximum: int, *, hint: str = "") -> None:
    """Raise QueryError unless an argument is between two limits, both included."""
    if not minimum <= value <= maximum:
        raise QueryError(f"{name} {value} is not between {minimum} and {maximum}", hint=hint)


def require_page_size(first: int) -> int:
    """Return the size of a page. Raises QueryError outside 0 to 200."""
    require_between("first", first, 0, PAGE_MAX)
    return first


def cut_page(
    entries: Sequence[T], key: Callable[[T], Key], *, first: int, after: str | None, shape: Key
) -> Page[T]:
    """Return the page of a whole list that follows a cursor, sorted by `key`, smallest first.

    `shape` is an example of a key: it gives the number and the types of its parts.
    """
    require_page_size(first)
    behind = decode_cursor(after, shape) if after else None
    ordered = sorted(entries, key=key)
    rest = ordered if behind is None else [entry for entry in ordered if key(entry) > behind]
    page = rest[:first]
    return Page(page, [encode_cursor(*key(entry)) for entry in page], len(rest) > first)


def encode_cursor(*key: str | int | float) -> str:
    """Return the cursor of an entry with this sort key."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def decode_cursor(text: str, shape: Key) -> Key:
    """Return the sort key of a cursor. Raises QueryError unless it has the parts of `shape`."""
    try:
        key = json.loads(base64.urlsafe_b64decode(text.encode()))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or list(map(_type_of, key)) != list(map(_type_of, shape)):
        raise _cursor_error(text)
    return tuple(key)


def encode_time_cursor(instant: datetime, urn: str) -> str:
    """Return the cursor of an entry in a list sorted by time."""
    return encode_cursor(instant.isoformat(), urn)


def decode_time_cursor(text: str) -> tuple[datetime, str]:
    """Return the instant and the urn of a cursor. Raises QueryError for any other text."""
    time, urn = decode_cursor(text, ("", ""))
    try:
        instant = datetime.fromisoformat(str(time))
    except ValueError:
        instant = datetime.min
    if instant.tzinfo is None or not urn:
        raise _cursor_error(text)
    return instant, str(urn)


def last_days(now: datetime | None, days: int) -> tuple[datetime, datetime]:
    """Return the beginning and the end of the last `days` days. Raises QueryError outside 1 to
    3,650."""
    require_between("days", days, 1, DAYS_MAX)
    end = now or datetime.now(UTC)
    return end - timedelta(days=days), end


def _cursor_error(text: str) -> QueryError:
    return QueryError(
        f"after {text[:80]!r} is not a cursor of this list",
        hint="Pass the `cursor` of an edge unchanged.",
    )


def _type_of(part: object) -> type | None:
    """Return the type of a part of a key; integers and floats compare with each other."""
    if isinstance(part, bool):
        return None
    if isinstance(part, _NUMBER):
        return float
    return str if isinstance(part, str) else None
