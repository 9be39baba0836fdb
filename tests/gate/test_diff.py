"""The difference between two definitions of a table."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gate.files import changes_of


def test_a_swap_of_columns_is_no_rename() -> None:
    change = {"type": "semantics_change", "description": "its expression changed"}
    assert changes_of("select a as x, b as y from t", "select b as x, a as y from t") == [
        {**change, "column": "x"},
        {**change, "column": "y"},
    ]


def test_two_columns_of_one_expression_are_no_rename() -> None:
    assert changes_of("select a as x, a as y from t", "select a as z from t") == [
        {"type": "column_drop", "column": "x"},
        {"type": "column_drop", "column": "y"},
        {"type": "column_add", "column": "z", "nullable": True},
    ]


names = st.sampled_from(["a", "b", "c", "d", "e"])


queries = st.lists(st.tuples(names, names), min_size=1, max_size=5, unique_by=lambda pair: pair[1])


@settings(deadline=None, max_examples=60)
@given(before=queries, after=queries)
def test_the_changes_lead_from_the_columns_before_to_those_after(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    def sql(columns: list[tuple[str, str]]) -> str:
        return f"select {', '.join(f'{source} as {name}' for source, name in columns)} from t"

    columns = {name for _, name in before}
    for change in changes_of(sql(before), sql(after)):
        columns -= {
            change.get("from", ""),
            change["column"] if change["type"] == "column_drop" else "",
        }
        columns |= {change["to"]} if change["type"] == "column_rename" else set()
        columns |= {change["column"]} if change["type"] == "column_add" else set()
    assert columns == {name for _, name in after}
