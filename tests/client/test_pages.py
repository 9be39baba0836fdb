"""Lists that are read page by page, from a list in memory that records what was asked."""

from __future__ import annotations

import msgspec
import pytest

from headwater.client.pages import PAGE_SIZE, Page, Pages


class Entry(msgspec.Struct):
    number: int


class Listing:
    """A list of entries, and the size and the cursor of each page that was asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[tuple[int, str | None]] = []

    def read(self, size: int, cursor: str | None) -> Page:
        self.asked.append((size, cursor))
        start = int(cursor or 0)
        end = min(start + size, self.count)
        nodes = [{"number": number} for number in range(start, end)]
        return Page(nodes, str(end) if end < self.count else None, self.count)

    def pages(self, limit: int | None) -> Pages[Entry]:
        return Pages(Entry, self.read, limit=limit, title="numbers", columns=("number",))


@pytest.mark.parametrize(
    ("count", "limit", "asked"),
    [
        (0, None, [(PAGE_SIZE, None)]),
        (250, None, [(100, None), (100, "100"), (100, "200")]),
        # No more is asked for than is wanted.
        (250, 5, [(5, None)]),
        (250, 120, [(100, None), (20, "100")]),
        (3, 120, [(100, None)]),
        (250, 0, []),
    ],
)
def test_each_entry_once_in_as_few_pages_as_needed(
    count: int, limit: int | None, asked: list[tuple[int, str | None]]
) -> None:
    listing = Listing(count)
    wanted = count if limit is None else min(count, limit)
    assert [one.number for one in listing.pages(limit)] == list(range(wanted))
    assert listing.asked == asked


def test_pages_are_read_as_far_as_somebody_iterates() -> None:
    listing = Listing(1_000)
    entries = iter(listing.pages(None))
    assert listing.asked == []
    assert [next(entries).number for _ in range(100)] == list(range(100))
    assert listing.asked == [(100, None)]


def test_each_iteration_reads_the_list_again() -> None:
    listing = Listing(2)
    pages = listing.pages(None)
    assert list(pages) == list(pages) == [Entry(0), Entry(1)]
    assert len(listing.asked) == 2


def test_the_number_of_all_entries_does_not_depend_on_the_limit() -> None:
    assert Listing(250).pages(5).total_count == 250


def test_the_text_of_a_list_names_its_limit() -> None:
    assert repr(Listing(1).pages(None)) == ("<numbers; iterate over it, or call to_pandas()>")
    assert repr(Listing(1).pages(5)).startswith("<numbers, at most 5;")
