"""Outputs of queries: equal meaning compares as equal."""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.code_analysis.sql import outputs
from headwater.code_analysis.sql.outputs import parse_query
from tests.gate.files import changes_of, one_file, table_changes

MODEL = """{{ config(materialized="table") }}
with pay as (
    select * from {{ source('till', 'payments') }}
),

tidy as (
    select p.payment_id as id, cast(p.amount as decimal(10, 2)) as amount, upper(p.kind) as kind
    from pay as p
    where p.amount > {{ var("least") }}
)

select * from tidy
"""


FILTER = {"type": "semantics_change", "description": "its sources or conditions changed"}


@pytest.mark.parametrize(
    "same",
    [
        MODEL.replace("as p\n", "as q\n").replace("p.", "q."),
        MODEL.replace("tidy", "final"),
        MODEL.replace("select * from tidy", "select id, amount, kind from tidy"),
        MODEL.replace("select * from tidy", "select t.* from (select * from tidy) as t"),
        MODEL.replace("\n", "\n-- a remark\n").lower().replace("upper", "UPPER"),
        "{# what it is #}\n" + MODEL,
    ],
)
def test_how_a_model_is_laid_out_changes_nothing(same: str) -> None:
    assert changes_of(MODEL, same) == []


def test_unions_recursion_and_subqueries() -> None:
    union = "select a, b from t union all select c, d from u"
    assert changes_of(union, union.replace("a, b", "a as x, b")) == [
        {"type": "column_rename", "from": "a", "to": "x"}
    ]
    assert changes_of(union, union.replace("union all", "union")) == [FILTER]
    recursive = (
        "with recursive r as (select a from t union all select a from r where a < 5) "
        "select a from r"
    )
    assert changes_of(recursive, recursive) == []
    nested = "select a from t where exists (select 1 from u where u.id = t.id)"
    assert (
        changes_of(nested, nested.replace("u.id = t.id", "u.id <> t.id"))[0]["type"]
        == "semantics_change"
    )


def test_an_expression_that_is_used_again_and_again_does_not_grow() -> None:
    steps = "".join(f", s{n + 1} as (select a + a * a as a from s{n})" for n in range(60))
    query = f"with s0 as (select a from t){steps} select a from s60"
    assert (
        changes_of(query, query.replace("select a from t", "select b as a from t"))[0]["column"]
        == "a"
    )


def test_stars_that_nothing_resolves() -> None:
    (listed,) = table_changes(one_file("select * from t", "select a, b from t"))
    assert listed.columns == ("a", "b")
    assert (
        changes_of("select a, b from t", "select * from t")[0]["description"]
        == "its columns are no longer listed one by one"
    )
    assert changes_of("select *, a + b as c from t", "select * from t") == [
        {"type": "column_drop", "column": "c"}
    ]


def test_the_columns_of_a_table_function_are_open() -> None:
    outputs = parse_query("select a, b from t lateral view explode(c)", "spark")
    assert list(outputs.columns) == ["a", "b"]


def test_the_tables_below_a_star_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    named = 0
    table_name = outputs._table_name

    def counted(table: exp.Table) -> str:
        nonlocal named
        named += 1
        return table_name(table)

    monkeypatch.setattr(outputs, "_table_name", counted)
    columns = ", ".join(f"c{number}" for number in range(100))
    tables = ", ".join(f"t{number}" for number in range(100))
    found = parse_query(f"select {columns} from (select * from {tables}) q", "spark")
    assert len(found.columns) == 100
    # For the columns, for the clauses.
    assert named <= 300
    assert all(len(one.expression or "") < 100 for one in found.columns.values())
