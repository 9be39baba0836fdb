"""Names of tables in code and in the graph."""

from __future__ import annotations

from headwater.code_analysis.names import fold_case, may_be_table


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
