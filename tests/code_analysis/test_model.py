"""References and definitions as values."""

from __future__ import annotations

from headwater.code_analysis.model import (
    LINE_CHARACTERS_MAX,
    Insert,
    Reference,
    References,
    TableDefinition,
    line_text,
    merge_references,
    unknown_references,
)

A = Reference(("t",), "a", 1, "select a")
B = Reference(("t",), "b", 2, "b")


def test_references_of_pieces_are_merged_in_order_without_duplicates() -> None:
    insert = Insert(("o",), (), 1, "insert into o")
    one = References(read=(A, B), inserts=(insert,), tables=frozenset({("t",)}))
    other = References(read=(B,), inserts=(insert,), tables=frozenset({("u",)}), unknown=("x",))
    merged = merge_references([one, other])
    assert merged.read == (A, B)
    assert merged.inserts == (insert,)
    assert merged.tables == {("t",), ("u",)}
    assert merged.unknown == ("x",)
    assert merge_references([]) == References()


def test_a_source_that_cannot_be_read_is_unknown() -> None:
    assert unknown_references("a reason") == References(unknown=("a reason",))


def test_lines_are_numbered_from_one_and_cut() -> None:
    lines = ["  a  ", "x" * 1_000]
    assert line_text(lines, 1) == "a"
    assert len(line_text(lines, 2)) == LINE_CHARACTERS_MAX
    assert line_text(lines, 0) == line_text(lines, 3) == ""


def test_tables_are_compared_by_lower_case_name() -> None:
    assert TableDefinition("Shop.Orders", "table").key == "shop.orders"
