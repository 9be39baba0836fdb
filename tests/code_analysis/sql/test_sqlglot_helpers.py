"""Questions about nodes that sqlglot parsed."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from headwater.code_analysis.sql.sqlglot_helpers import (
    alias_columns,
    as_list,
    excluded_columns,
    line_of_node,
    name_of_table,
    star_of,
)


@pytest.mark.parametrize(
    ("sql", "dialect", "name"),
    [
        ("select 1 from a.b.c", "", ("a", "b", "c")),
        ("select 1 from read_csv('/d/x.csv')", "duckdb", ("/d/x.csv",)),
        ("select 1 from f(1)", "", ()),
    ],
)
def test_the_name_of_a_table(sql: str, dialect: str, name: tuple[str, ...]) -> None:
    table = sqlglot.parse_one(sql, dialect=dialect or None).find(exp.Table)
    assert name_of_table(table) == name


def test_the_name_of_no_table_is_empty() -> None:
    assert name_of_table(None) == ()
    assert name_of_table(exp.column("a")) == ()


def test_stars_and_their_exceptions() -> None:
    query = sqlglot.parse_one("select * except (a, b), t.*, x from t", dialect="bigquery")
    first, second, third = query.expressions
    star = star_of(first)
    assert star is not None
    assert excluded_columns(star) == ["a", "b"]
    assert star_of(second) is not None
    assert star_of(third) is None


def test_arguments_as_lists() -> None:
    node = exp.column("a")
    assert as_list(None) == []
    assert as_list(node) == [node]
    assert as_list([node, "text"]) == [node]


def test_aliases_and_lines() -> None:
    query = sqlglot.parse_one("select 1\nfrom\n  (select 1) as s (p, q)")
    subquery = query.find(exp.Subquery)
    assert subquery is not None
    assert alias_columns(subquery) == ["p", "q"]
    assert alias_columns(query) == []
    assert line_of_node(subquery) == 3
