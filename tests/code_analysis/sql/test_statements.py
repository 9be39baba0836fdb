"""References of statements that write, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.code_analysis.model import Insert, References, TableName
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


def test_merge() -> None:
    found = read(
        """merge into o using t as s on o.id = s.id
        when matched then update set o.a = s.b
        when not matched then insert (id, a) values (s.id, s.b)"""
    )
    assert refers(found) == {"o.id", "t.id", "t.b"}
    assert {one.column for one in found.written} == {"id", "a"}
    assert flows(found) == {"a<-t.b", "id<-t.id"}
    assert [(one.table, one.columns) for one in found.inserts] == [(("o",), ("id", "a"))]
    every = read(
        "merge into o using t on o.id = t.id"
        " when matched then update set * when not matched then insert *",
        "spark",
    )
    assert flows(every) == {"*<-t.*"}


def test_inserts_with_and_without_columns() -> None:
    text = "insert into o\nselect * from t"
    assert read(text).inserts == (Insert(("o",), (), 1, "insert into o"),)
    assert read("insert into o (p) values (1)").inserts[0].columns == ("p",)


@pytest.mark.parametrize(
    "sql", ["", "-- only a comment", "set x = 1", "use db", "commit", "grant select on t to r"]
)
def test_statements_without_references(sql: str) -> None:
    found = read(sql)
    assert (found.read, found.unknown) == ((), ())
