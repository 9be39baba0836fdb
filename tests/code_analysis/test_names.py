"""Names of tables in code and in the graph."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.code_analysis import names as module
from headwater.code_analysis.names import KnownColumns, fold_case, may_be_table, name_parts

NAMES = st.lists(st.sampled_from(["a", "b", "C", "c", ""]), max_size=4).map(".".join)
COLUMNS = st.sampled_from([None, ("x",), ("y", "z")])
TABLES = st.lists(st.tuples(st.lists(NAMES, max_size=2).map(tuple), COLUMNS), max_size=6)


def test_names_of_tables_match_from_their_ends() -> None:
    assert may_be_table(("orders",), "shop.raw.orders")
    assert may_be_table(("SHOP", "Raw", "Orders"), "raw.orders")
    assert may_be_table(("delta", "/lake/orders"), "/lake/orders")
    assert may_be_table(("s3://bucket/lake/orders",), "lake/orders")
    assert not may_be_table(("staging", "orders"), "raw.orders")
    assert not may_be_table(("orders",), "raw.old_orders")
    assert not may_be_table((), "orders")


def test_a_folded_name_is_not_copied() -> None:
    name = "x" * 100
    assert fold_case(name) is name
    assert fold_case(" Order ID ") == "order id"


@given(TABLES.map(tuple), NAMES)
def test_columns_are_those_of_the_one_table_that_a_name_may_mean(
    tables: tuple[tuple[tuple[str, ...], tuple[str, ...] | None], ...], written: str
) -> None:
    matching = [
        columns for names, columns in tables if any(may_be_table((written,), one) for one in names)
    ]
    expected = list(matching[0]) if len(matching) == 1 and matching[0] else None
    assert KnownColumns(tables)((written,)) == expected


def test_a_lookup_does_not_compare_each_known_name(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def counted(name: str) -> list[str]:
        nonlocal count
        count += 1
        return name_parts(name)

    monkeypatch.setattr(module, "name_parts", counted)
    known = KnownColumns(tuple(((f"shop.raw.x{number}",), ("a",)) for number in range(1_000)))
    assert [known((f"x{number}",)) for number in range(500)] == [["a"]] * 500
    assert known(("raw",)) is None
    assert count == 1_000 + 501
