"""Pages of a sorted list, read forward or backward; each entry has a cursor.

A cursor holds the sort key of an entry, not its position. So entries that come or go between two
pages neither repeat nor skip others.
"""

from __future__ import annotations

import base64
import binascii
import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from headwater.errors import QueryError

T = TypeVar("T")
S = TypeVar("S")
Key = tuple[str | int | float, ...]
PAGE_MAX = 200
PAGE_DEFAULT = 20
DAYS_MAX = 3_650
_NUMBER = (int, float)
_DIRECTIONS_HINT = "Read forward with `first` and `after`, or backward with `last` and `before`."
_SIZE_HINT = "Request several pages; `totalCount` counts the entries of all pages."


@dataclass(frozen=True)
class Page(Generic[T]):
    """Entries of a list, the cursor of each, and whether others precede or follow them.

    A page read forward has `has_previous` if it has a cursor, because the entry of that cursor
    precedes it. A page read backward has `has_next` for the same reason.
    """

    entries: list[T]
    cursors: list[str]
    has_next: bool
    has_previous: bool = False

    def map(self, function: Callable[[T], S]) -> Page[S]:
        """Return the same page with the result of a function in place of each entry."""
        entries = [function(entry) for entry in self.entries]
        return Page(entries, self.cursors, self.has_next, self.has_previous)


@dataclass(frozen=True)
class PageRequest:
    """A page of a list: `size` entries after a cursor, or before it if `is_backward`.

    Without a cursor it is the first page, or the last one.
    """

    size: int = PAGE_DEFAULT
    cursor: str | None = None
    is_backward: bool = False

    @property
    def limit(self) -> int:
        """Return the number of rows to read: the page and one more, if more exist."""
        return self.size + 1

    def decode(self, shape: Key) -> Key | None:
        """Return the sort key of the cursor, None without one. Raises QueryError."""
        return decode_cursor(self.cursor, shape, self._name) if self.cursor else None

    def decode_time(self) -> tuple[datetime, str] | None:
        """Return the instant and the urn of the cursor, None without one. Raises QueryError."""
        return decode_time_cursor(self.cursor, self._name) if self.cursor else None

    def page(self, rows: Sequence[T], cursor_of: Callable[[T], str]) -> Page[T]:
        """Return the page of up to `limit` rows, which were read in its direction."""
        shown = list(rows[: self.size])
        has_more, has_cursor = len(rows) > self.size, bool(self.cursor)
        if self.is_backward:
            shown.reverse()
        return Page(
            entries=shown,
            cursors=[cursor_of(row) for row in shown],
            has_next=has_cursor if self.is_backward else has_more,
            has_previous=has_more if self.is_backward else has_cursor,
        )

    @property
    def _name(self) -> str:
        return "before" if self.is_backward else "after"


FIRST_PAGE = PageRequest()


def page_request(
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    *,
    default: int = PAGE_DEFAULT,
    minimum: int = 0,
    maximum: int = PAGE_MAX,
) -> PageRequest:
    """Return the page that the arguments of a Relay connection request.

    Raises QueryError for a size outside the bounds, and for arguments of both directions.
    """
    if first is not None and last is not None:
        raise QueryError("first and last exclude each other", hint=_DIRECTIONS_HINT)
    if last is None and before:
        raise QueryError("before needs last", hint=_DIRECTIONS_HINT)
    if last is not None and after:
        raise QueryError("after needs first", hint=_DIRECTIONS_HINT)
    if last is not None:
        require_between("last", last, minimum, maximum, hint=_SIZE_HINT)
        return PageRequest(last, before, is_backward=True)
    size = default if first is None else first
    require_between("first", size, minimum, maximum, hint=_SIZE_HINT)
    return PageRequest(size, after)


def require_between(name: str, value: int, minimum: int, maximum: int, *, hint: str = "") -> None:
    """Raise QueryError unless an argument is between two limits, both included."""
    if not minimum <= value <= maximum:
        raise QueryError(f"{name} {value} is not between {minimum} and {maximum}", hint=hint)


def require_page_size(first: int) -> int:
    """Return the size of a page. Raises QueryError outside 0 to 200."""
    require_between("first", first, 0, PAGE_MAX)
    return first


def cut_page(
    entries: Sequence[T], key: Callable[[T], Key], page: PageRequest, *, shape: Key
) -> Page[T]:
    """Return a page of a whole list, which is sorted by `key`, smallest first.

    `shape` is an example of a key: it gives the number and the types of its parts.
    """
    cursor = page.decode(shape)
    ordered = sorted(entries, key=key, reverse=page.is_backward)
    if cursor is not None:
        is_beyond = operator.lt if page.is_backward else operator.gt
        ordered = [entry for entry in ordered if is_beyond(key(entry), cursor)]
    return page.page(ordered, lambda entry: encode_cursor(*key(entry)))


def encode_cursor(*key: str | int | float) -> str:
    """Return the cursor of an entry with this sort key."""
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def decode_cursor(text: str, shape: Key, name: str = "after") -> Key:
    """Return the sort key of a cursor, the argument `name`.

    Raises QueryError unless it has the parts of `shape`.
    """
    try:
        key = json.loads(base64.urlsafe_b64decode(text.encode()))
    except (ValueError, binascii.Error, RecursionError):
        key = None
    if not isinstance(key, list) or list(map(_type_of, key)) != list(map(_type_of, shape)):
        raise _cursor_error(text, name)
    return tuple(key)


def encode_time_cursor(instant: datetime, urn: str) -> str:
    """Return the cursor of an entry in a list sorted by time."""
    return encode_cursor(instant.isoformat(), urn)


def decode_time_cursor(text: str, name: str = "after") -> tuple[datetime, str]:
    """Return the instant and the urn of a cursor. Raises QueryError for any other text."""
    time, urn = decode_cursor(text, ("", ""), name)
    try:
        instant = datetime.fromisoformat(str(time))
    except ValueError:
        instant = datetime.min
    if instant.tzinfo is None or not urn:
        raise _cursor_error(text, name)
    return instant, str(urn)


def last_days(now: datetime | None, days: int) -> tuple[datetime, datetime]:
    """Return the beginning and the end of the last `days` days. Raises QueryError outside 1 to
    3,650."""
    require_between("days", days, 1, DAYS_MAX)
    end = now or datetime.now(UTC)
    return end - timedelta(days=days), end


def _cursor_error(text: str, name: str) -> QueryError:
    return QueryError(
        f"{name} {text[:80]!r} is not a cursor of this list",
        hint="Pass the `cursor` of an edge unchanged.",
    )


def _type_of(part: object) -> type | None:
    """Return the type of a part of a key; integers and floats compare with each other."""
    if isinstance(part, bool):
        return None
    if isinstance(part, _NUMBER):
        return float
    return str if isinstance(part, str) else None
