"""Lists of bounded size from any iterable."""

from __future__ import annotations

from headwater.chunks import chunks


def test_items_are_split_in_order_and_the_last_list_is_shorter() -> None:
    assert list(chunks(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(chunks([1, 2], 2)) == [[1, 2]]


def test_nothing_gives_no_list() -> None:
    assert list(chunks([], 3)) == []
