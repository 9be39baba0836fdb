"""References and outputs of queries, worked out by hand."""

from __future__ import annotations

from headwater.code_analysis.model import References, TableName
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


def test_a_name_without_a_table_belongs_to_the_one_that_has_it() -> None:
    sql = "select q from t join u on t.id = u.id"
    assert refers(read(sql)) == {"t.id", "u.id", "t.q?", "u.q?"}
    assert refers(read(sql, known=True)) == {"t.id", "u.id", "u.q"}


def test_a_star_is_the_known_columns() -> None:
    assert flows(read("select * from t", known=True)) == {"id<-t.id", "a<-t.a", "x<-t.x"}
    assert flows(read("select t.*, u.q from t join u on t.id = u.id", known=True)) == {
        *("id<-t.id", "a<-t.a", "x<-t.x"),
        "q<-u.q",
    }


def test_a_known_table_without_the_column_is_still_the_only_one() -> None:
    assert refers(read("select brand_new from t", known=True)) == {"t.brand_new"}


def test_an_alias_is_no_column_where_it_hides_one() -> None:
    assert refers(read("select a as b from t order by b")) == {"t.a"}
    assert refers(read("select a as b, b + 1 as c from t")) == {"t.a", "t.a?", "t.b?"}


def test_stars_that_count_by_position() -> None:
    by_position = {"insert into o select * from t", "select * from t union all select * from u"}
    for sql in (*by_position, "create table o as select * from t", "select * from t"):
        assert any(one.by_position for one in read(sql).read) is (sql in by_position), sql


def test_filters_joins_and_groups_are_indirect() -> None:
    found = read("select a from t where f > 1 group by g having h = 1 order by o")
    assert {one.column for one in found.read if one.indirect} == {"f", "g", "h", "o"}
    assert {one.column for one in found.read if not one.indirect} == {"a"}


def test_lines_and_their_text() -> None:
    found = read("select\n  a,\n  x as y\nfrom t\nwhere b = 1")
    assert {(one.column, one.line, one.text) for one in found.read} == {
        ("a", 2, "a,"),
        ("x", 3, "x as y"),
        ("b", 5, "where b = 1"),
    }
