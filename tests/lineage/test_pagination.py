"""Pages over a changing list: each entry that stays is listed once."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import QueryError
from headwater.lineage.pagination import (
    cut_page,
    decode_cursor,
    encode_cursor,
    last_days,
    require_page_size,
)

ENTRIES = st.sets(st.tuples(st.integers(-5, 5), st.text(max_size=3)), max_size=12)


@given(ENTRIES, ENTRIES, ENTRIES, st.integers(1, 5))
def test_remaining_entries_are_listed_once(
    stay: set[tuple[int, str]], come: set[tuple[int, str]], go: set[tuple[int, str]], first: int
) -> None:
    collected: list[tuple[int, str]] = []
    after = None
    listed = sorted(stay | go)
    for _ in range(50):
        found = cut_page(listed, lambda entry: entry, first=first, after=after, shape=(0, ""))
        collected.extend(found.entries)
        if not found.has_next:
            break
        after, listed = found.cursors[-1], sorted(stay | come)
    assert not found.has_next
    assert len(collected) == len(set(collected))
    assert collected == sorted(collected)
    assert stay <= set(collected)


@given(st.tuples(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()))
def test_a_cursor_holds_its_key(key: tuple[int, float, str]) -> None:
    assert decode_cursor(encode_cursor(*key), (0, 0.0, "")) == key


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "é",
        "!!!!",
        encode_cursor("a"),
        encode_cursor(1, 2),
        encode_cursor("a", 1),
        encode_cursor(1, "a", "b"),
    ]
    + [
        base64.urlsafe_b64encode(raw).decode()
        for raw in (b"{}", b"[null, 1]", b"[true, 1]", b"[" * 5_000, b"\xff")
    ],
)
def test_no_cursor(text: str) -> None:
    with pytest.raises(QueryError, match="after"):
        decode_cursor(text, (0, ""))


@pytest.mark.parametrize("first", [-1, 201])
def test_lengths_have_bounds(first: int) -> None:
    with pytest.raises(QueryError, match="first"):
        require_page_size(first)


def test_a_window_ends_now() -> None:
    since, until = last_days(None, 7)
    assert (until - since).days == 7
    assert until.tzinfo is not None
