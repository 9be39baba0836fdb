"""References of SQL texts, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.code_analysis.model import References, TableName
from headwater.code_analysis.sql.parse import DEPTH_MAX, TEXT_LENGTH_MAX
from headwater.code_analysis.sql.references import references_in_sql

KNOWN: dict[TableName, list[str]] = {("t",): ["id", "a", "x"], ("u",): ["id", "q"]}


def read(sql: str, dialect: str = "", *, known: bool = False) -> References:
    return references_in_sql(
        sql, dialect=dialect, columns=(lambda table: KNOWN.get(table)) if known else lambda _: None
    )


def refers(found: References) -> set[str]:
    """Return `table.column` of each reference, with ? where the table is uncertain."""
    return {f"{'.'.join(one.table)}.{one.column}{'' if one.sure else '?'}" for one in found.read}


def flows(found: References) -> set[str]:
    return {
        f"{one.column}<-{'.'.join(one.source)}.{one.source_column}{'' if one.sure else '?'}"
        for one in found.flows
    }


@pytest.mark.parametrize(
    ("sql", "dialect", "expected", "expected_flows"),
    [
        ("select a, x + 1 as y from t where q > 1", "", {"t.a", "t.x", "t.q"},
         {"a<-t.a", "y<-t.x"}),
        ("select o.a from t as o", "", {"t.a"}, {"a<-t.a"}),
        ('select "Order Total" from t', "", {"t.order total"}, {"order total<-t.order total"}),
        ("select `a` from `p-x.d.t`", "bigquery", {"p-x.d.t.a"}, {"a<-p-x.d.t.a"}),
        ("select [a] from [dbo].[t]", "tsql", {"dbo.t.a"}, {"a<-dbo.t.a"}),
        ("select a from raw.orders", "snowflake", {"raw.orders.a"}, {"a<-raw.orders.a"}),
        ("with c as (select a, x from t) select a from c", "", {"t.a", "t.x"}, {"a<-t.a"}),
        ("with c (m, n) as (select a, x from t) select n from c", "", {"t.a", "t.x"}, {"n<-t.x"}),
        ("select s.b from (select a as b from t) s", "", {"t.a"}, {"b<-t.a"}),
        ("select * from t", "", {"t.*"}, {"*<-t.*"}),
        ("with c as (select * from t) select z from c", "", {"t.*", "t.z"}, {"z<-t.z"}),
        ("select a from t union all select q from u", "", {"t.a", "u.q"}, {"a<-t.a", "a<-u.q"}),
        ("select sum(a) over (partition by x order by id) s from t", "", {"t.a", "t.x", "t.id"},
         {"s<-t.a", "s<-t.x", "s<-t.id"}),
        ("select i from t lateral view explode(arr) e as i", "spark", {"t.arr"}, {"i<-t.arr"}),
        ("select item from t, unnest(arr) as item", "bigquery", {"t.arr"}, {"item<-t.arr"}),
        ("select st.f.g from t", "", {"t.st"}, {"g<-t.st"}),
        ("select * except (x) from t", "bigquery", {"t.*", "t.x"}, {"*<-t.*"}),
        ("select a from t qualify row_number() over (order by x) = 1", "snowflake",
         {"t.a", "t.x"}, {"a<-t.a"}),
        ("select a from t where exists (select 1 from u where u.i = t.k)", "",
         {"t.a", "u.i", "t.k"}, {"a<-t.a"}),
        ("select t.a, u.q from t join u using (id)", "", {"t.a", "u.q", "t.id", "u.id"},
         {"a<-t.a", "q<-u.q"}),
        ("select a from read_parquet('/d/x.parquet')", "duckdb", {"/d/x.parquet.a"},
         {"a<-/d/x.parquet.a"}),
        ("create view v (p) as select a from t", "", {"t.a"}, {"p<-t.a"}),
        ("insert into o (p, q) select a, x from t", "", {"t.a", "t.x"}, {"p<-t.a", "q<-t.x"}),
        ("update o set c = b.x from b where b.id = o.id", "", {"b.x", "b.id", "o.id"}, {"c<-b.x"}),
        ("delete from t where z > 1", "", {"t.z"}, set()),
        (("with recursive r as (select a, x from t union all"
         " select r.a, t.x from r join t on r.x=t.id) select a from r"),
         "", {"t.a", "t.x", "t.id"}, {"a<-t.a"}),
        ("select count(*) from t", "", set(), set()),
    ],
)  # fmt: skip
def test_references_and_flows(
    sql: str, dialect: str, expected: set[str], expected_flows: set[str]
) -> None:
    found = read(sql, dialect)
    assert (refers(found), flows(found), found.unknown) == (expected, expected_flows, ())


@pytest.mark.parametrize(
    "sql",
    [
        "this is not sql at all !!",
        "select from where",
        "select a from t where (",
        "execute immediate 'select 1'",
        "call load_orders()",
        "hello",
        "select a from t; call x()",
        "select a from f(1)",
        "select * from t pivot (sum(a) for k in ('p', 'q'))",
    ],
)
def test_sql_that_cannot_be_read_is_unknown(sql: str) -> None:
    assert read(sql).unknown


def test_an_unknown_dialect_is_unknown() -> None:
    assert read("select 1", "klingon").unknown == ("there is no dialect 'klingon'",)


@pytest.mark.parametrize(
    "sql",
    [
        "select " + "(" * 3_000 + "1" + ")" * 3_000,
        "select " + "case when a then " * 600 + "1" + " end" * 600,
        "select * from " + "(select * from " * (DEPTH_MAX + 50) + "t" + ")" * (DEPTH_MAX + 50),
        "select " + "+".join(["a"] * 20_000) + " from t",
        "select '" + "x" * TEXT_LENGTH_MAX + "'",
        "/*" * 10_000,
    ],
)
def test_sql_that_is_too_deep_or_too_long_is_unknown(sql: str) -> None:
    found = read(sql)
    assert found.unknown
    # A bound refuses it before anything is parsed.
    assert (found.read, found.flows) == ((), ())


def test_long_but_plain_sql_is_read() -> None:
    wide = read(
        "select " + ", ".join(f"a{number} as b{number}" for number in range(3_000)) + " from t"
    )
    assert len(wide.read) == 3_000
    chain = ", ".join(
        f"c{number} as (select * from c{number - 1} union all select * from c{number - 1})"
        for number in range(1, 60)
    )
    assert refers(read(f"with {chain} select z from c59")) == {"c0.*", "c0.z"}
    assert refers(read(" union all ".join(["select a from t"] * 1_000))) == {"t.a"}


def test_each_query_is_read_once() -> None:
    """Check that a chain of queries, each used twice, reads the base table once."""
    looked_up: list[TableName] = []

    def look_up(table: TableName) -> None:
        looked_up.append(table)

    chain = ", ".join(
        f"c{number} as (select * from c{number - 1} union all select * from c{number - 1})"
        for number in range(2, 40)
    )
    base = "c1 as (select * from t)"
    references_in_sql(f"with {base}, {chain} select z from c39", columns=look_up)
    assert looked_up == [("t",)]


_CLAUSES = (
    "select from where t u a x * , ( ) with as c join on using = 1 'q' union all insert into "
    "values create table merge when matched then update set lateral view explode over"
)
_REST = "partition by order group having case end . [ ] {{ }}"
_SIGNS = "{% %} ; -- /* */ except pivot for in unnest exists not is cast :: -> @ # $ recursive"
WORDS = " ".join((_CLAUSES, _REST, _SIGNS)).split()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=25),
    st.sampled_from(["", "spark", "bigquery", "snowflake", "tsql"]),
)
def test_any_words_are_read_or_unknown(words: list[str], dialect: str) -> None:
    found = read(" ".join(["select", *words]), dialect)
    assert all(one.table and one.column and one.line >= 1 for one in found.read)


@pytest.mark.parametrize(
    "sql",
    [
        (f"select {', '.join(f'a{at}' for at in range(600))}"
        f" from {', '.join(f't{at}' for at in range(600))}"),
        (f"with c as (select {'+'.join(f'a{at}' for at in range(2_000))} as k from t)"
        f" select {', '.join(['k'] * 2_000)} from c"),
    ],
)  # fmt: skip
def test_too_many_source_columns_are_unknown(sql: str) -> None:
    assert read(sql).unknown
