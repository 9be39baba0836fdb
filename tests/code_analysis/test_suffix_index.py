"""The index of names gives what a comparison with each name gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.code_analysis.names import may_be_table, name_parts
from headwater.code_analysis.suffix_index import PARTS_MAX, SuffixIndex

NAMES = st.lists(st.sampled_from(["a", "b", "C", "c", ""]), max_size=4).map(".".join)


@given(st.lists(NAMES, max_size=12), NAMES)
def test_it_finds_what_a_comparison_with_each_name_finds(names: list[str], written: str) -> None:
    index: SuffixIndex[int] = SuffixIndex()
    for number, name in enumerate(names):
        index.add(name_parts(name), number)
    expected = [at for at, name in enumerate(names) if may_be_table((written,), name)]
    assert index.all(name_parts(written)) == expected
    assert index.first(name_parts(written)) == (expected[0] if expected else None)
    assert index.only(name_parts(written)) == (expected[0] if len(expected) == 1 else None)


def test_a_value_under_two_names_is_found_by_each() -> None:
    index: SuffixIndex[str] = SuffixIndex()
    index.add(["shop", "orders"], "table")
    index.add(["lake", "o.parquet"], "table")
    assert index.all(["orders"]) == index.all(["o.parquet"]) == ["table"]
    assert index.all(["other"]) == []


def test_the_only_value_may_have_several_names() -> None:
    index: SuffixIndex[str] = SuffixIndex()
    index.add(["shop", "orders"], "table")
    index.add(["orders"], "table")
    assert index.only(["orders"]) == "table"


def test_names_of_many_parts_are_compared_by_their_last() -> None:
    index: SuffixIndex[str] = SuffixIndex()
    parts = [str(number) for number in range(10_000)]
    index.add(parts, "long")
    assert index.all(parts) == index.all(parts[-3:]) == index.all(["x", *parts]) == ["long"]
    assert len(index._by_end) == PARTS_MAX - 1
