"""Names in the scope of a SELECT, worked out by hand."""

from __future__ import annotations

import sqlglot

from headwater.code_analysis.model import ALL
from headwater.code_analysis.sql.scope import (
    Output,
    SelectScope,
    Source,
    rename_outputs,
    union_outputs,
)

T, U = ("t",), ("u",)


def known(table: tuple[str, ...], *names: str) -> Source:
    return Source(table, [Output(name, frozenset({(table, name)})) for name in names])


def unknown(table: tuple[str, ...]) -> Source:
    return Source(table, [Output(ALL, frozenset({(table, ALL)}))], is_open=True)


def test_the_source_that_has_the_column_comes_first() -> None:
    scope = SelectScope(None, {}, {"t": known(T, "a"), "u": unknown(U)})
    assert scope.resolve("a") == ({(T, "a")}, True)
    assert scope.resolve("b") == ({(U, "b")}, True)


def test_a_column_of_two_unknown_sources_is_not_sure() -> None:
    scope = SelectScope(None, {}, {"t": unknown(T), "u": unknown(U)})
    assert scope.resolve("a") == ({(T, "a"), (U, "a")}, False)


def test_a_correlated_subquery_sees_the_scope_around_it() -> None:
    outer = SelectScope(None, {}, {"t": known(T, "k")})
    inner = SelectScope(outer, {}, {"u": known(U, "i")})
    assert inner.resolve("k") == ({(T, "k")}, True)
    assert inner.qualified("t") is outer.sources["t"]
    assert inner.qualified("x") is None


def test_a_star_passes_on_all_columns_but_the_excluded_ones() -> None:
    star = Output(ALL, frozenset({(T, ALL)}), without=frozenset({"secret"}))
    assert Source(None, [star]).resolve("a") == (frozenset({(T, "a")}), True)
    assert Source(None, [star]).resolve("secret") == (frozenset(), True)


def test_a_statement_does_not_read_the_table_that_it_changes() -> None:
    scope = SelectScope(None, {}, {"t": known(T, "a"), "u": known(U, "a")})
    assert list(scope.without_table(T).sources) == ["u"]


def test_outputs_under_the_names_of_an_alias() -> None:
    (subquery,) = sqlglot.parse_one("select * from (select 1) as s (p, q)").find_all(
        sqlglot.exp.Subquery
    )
    outputs = [Output(name, frozenset()) for name in ("a", "b", "c")]
    assert [one.name for one in rename_outputs(outputs, subquery)] == ["p", "q", "c"]


def test_a_union_matches_columns_by_position() -> None:
    left = [Output("a", frozenset({(T, "a")}))]
    right = [Output("b", frozenset({(U, "b")}), sure=False)]
    assert union_outputs([left, right]) == [
        Output("a", frozenset({(T, "a"), (U, "b")}), sure=False)
    ]
    assert union_outputs([left, []]) == left
