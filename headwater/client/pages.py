"""Lists that are read page by page, as far as somebody iterates over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from headwater.client import frames

if TYPE_CHECKING:
    import pandas

PAGE_SIZE = 100
T = TypeVar("T", bound=msgspec.Struct)


class Page(NamedTuple):
    """The entries of one page as JSON, the cursor of the next page, and the number of all."""

    nodes: list[dict[str, Any]]
    next_cursor: str | None
    total_count: int | None


class Pages(Generic[T]):
    """The entries of a list, at most `limit` of them. Each iteration reads the list again.

    Args:
        kind: Type of an entry.
        read: Returns a page, given its size and the cursor before it.
        limit: Maximum number of entries; None for all.
        title: Name of the list, for people.
        columns: Fields that a notebook shows.
    """

    def __init__(
        self,
        kind: type[T],
        read: Callable[[int, str | None], Page],
        *,
        limit: int | None,
        title: str,
        columns: Sequence[str],
    ) -> None:
        self._kind = kind
        self._read = read
        self._limit = limit
        self._title = title
        self._columns = tuple(columns)

    def __iter__(self) -> Iterator[T]:
        return islice(self._entries(self._limit), self._limit)

    def _entries(self, wanted: int | None) -> Iterator[T]:
        cursor = None
        while wanted is None or wanted > 0:
            size = PAGE_SIZE if wanted is None else min(wanted, PAGE_SIZE)
            page = self._read(size, cursor)
            for node in page.nodes:
                yield msgspec.convert(node, self._kind)
            cursor = page.next_cursor
            if cursor is None:
                return
            wanted = None if wanted is None else wanted - len(page.nodes)

    @property
    def total_count(self) -> int | None:
        """Return the number of all entries, whatever the limit; None if the API does not count."""
        return self._read(1, None).total_count

    def __repr__(self) -> str:
        limit = "" if self._limit is None else f", at most {self._limit}"
        return f"<{self._title}{limit}; iterate over it, or call to_pandas()>"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the entries as a data frame. Raises QueryError without pandas."""
        return frames.to_frame(self, self._kind)

    def _repr_html_(self) -> str:
        wanted = frames.HTML_ROWS_MAX + 1
        shown = wanted if self._limit is None else min(wanted, self._limit)
        records = list(islice(self._entries(shown), shown))
        more = len(records) > frames.HTML_ROWS_MAX
        rows = frames.rows_of(records[: frames.HTML_ROWS_MAX], self._columns)
        caption = f"{self._title}: the first {len(rows)}" if more else self._title
        return frames.html_of_rows(rows, self._columns, caption=caption)
