"""Pages over a changing list: each entry that stays is listed once."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import QueryError
from headwater.lineage.pagination import (
    Page,
    PageRequest,
    cut_page,
    decode_cursor,
    encode_cursor,
    last_days,
    page_request,
    require_page_size,
)

ENTRIES = st.sets(st.tuples(st.integers(-5, 5), st.text(max_size=3)), max_size=12)


def page_of(listed: list[tuple[int, str]], page: PageRequest) -> Page[tuple[int, str]]:
    return cut_page(listed, lambda entry: entry, page, shape=(0, ""))


@given(ENTRIES, ENTRIES, ENTRIES, st.integers(1, 5))
def test_remaining_entries_are_listed_once(
    stay: set[tuple[int, str]], come: set[tuple[int, str]], go: set[tuple[int, str]], first: int
) -> None:
    collected: list[tuple[int, str]] = []
    after = None
    listed = sorted(stay | go)
    for _ in range(50):
        found = page_of(listed, PageRequest(first, after))
        collected.extend(found.entries)
        if not found.has_next:
            break
        after, listed = found.cursors[-1], sorted(stay | come)
    assert not found.has_next
    assert len(collected) == len(set(collected))
    assert collected == sorted(collected)
    assert stay <= set(collected)


@given(ENTRIES, st.integers(1, 5))
def test_pages_read_backward_are_the_list(entries: set[tuple[int, str]], last: int) -> None:
    collected: list[tuple[int, str]] = []
    before = None
    for _ in range(50):
        found = page_of(list(entries), page_request(last=last, before=before))
        assert found.has_next == bool(before)
        collected = found.entries + collected
        if not found.has_previous:
            break
        before = found.cursors[0]
    assert not found.has_previous
    assert collected == sorted(entries)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"first": -1}, "first -1 is not between 1 and 200"),
        ({"first": 0}, "first 0 is not between 1 and 200"),
        ({"first": 201}, "first 201 is not between 1 and 200"),
        ({"last": 0}, "last 0 is not between 1 and 200"),
        ({"first": 1, "last": 1}, "first and last exclude each other"),
        ({"before": "x"}, "before needs last"),
        ({"first": 1, "before": "x"}, "before needs last"),
        ({"last": 1, "after": "x"}, "after needs first"),
    ],
)
def test_arguments_of_a_page(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError) as raised:
        page_request(**arguments, minimum=1)
    assert raised.value.message == message
    assert raised.value.hint


def test_a_malformed_cursor_is_named_by_its_argument() -> None:
    with pytest.raises(QueryError, match=r"^before 'x' is not a cursor"):
        page_of([], page_request(last=1, before="x"))


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
