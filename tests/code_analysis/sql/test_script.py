"""Scripts statement by statement: where each ends, what it does, and what cannot be read."""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.code_analysis.model import no_columns
from headwater.code_analysis.sql import script
from headwater.code_analysis.sql.parse import parse_sql
from headwater.code_analysis.sql.script import Kind, Statement, read_script, require_dialect
from headwater.errors import QueryError


def read(text: str, dialect: str = "postgres") -> list[Statement]:
    return list(read_script(text, dialect))


def kinds(text: str, dialect: str = "postgres") -> list[str]:
    return [one.kind.name for one in read(text, dialect)]


def one(text: str, dialect: str = "postgres") -> Statement:
    (statement,) = read(text, dialect)
    return statement


def test_semicolons_in_texts_and_comments_end_nothing() -> None:
    found = read(
        """-- one; two
insert into a select ';' as x from b; /* c;
*/
insert into c select "x;y" from d;
"""
    )
    assert [(statement.line, statement.target) for statement in found] == [(2, ("a",)), (4, ("c",))]


def test_a_statement_that_cannot_be_parsed_stops_no_other() -> None:
    found = read("insert into a select 1 from b;\nselect from from;\ninsert into c select 2 from d")
    assert [(one.line, one.kind) for one in found] == [
        (1, Kind.WRITE),
        (2, Kind.UNREADABLE),
        (3, Kind.WRITE),
    ]
    assert found[1].reason.startswith("the SQL cannot be read")
    assert "Token" not in found[1].reason


def test_a_quote_that_is_not_closed_ends_at_its_line() -> None:
    """Without that, the quote would end in the next statement and hide both."""
    found = read("insert into 'a select 1;\ninsert into b select 'x' from c;\nselect 'y;\n")
    assert [(one.line, one.kind.name) for one in found] == [
        (1, "UNREADABLE"),
        (2, "WRITE"),
        (3, "UNREADABLE"),
    ]


def test_a_text_that_cannot_be_parsed_is_read_again_some_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = 0

    def counted(text: str, dialect: str) -> list[exp.Expr]:
        nonlocal parsed
        parsed += len(text)
        return parse_sql(text, dialect)

    monkeypatch.setattr(script, "parse_sql", counted)
    text = "x ( /* ;\n" * 200 + "*/;\ninsert into 'a select 1;\ninsert into b select 'x' from c;\n"
    found = read(text)
    assert parsed < 8 * len(text)
    assert "too much was read again" in found[-3].reason
    # What follows is read as ever.
    assert [one.kind.name for one in found[-2:]] == ["UNREADABLE", "WRITE"]


@pytest.mark.parametrize(
    ("dialect", "text", "targets"),
    [
        ("mysql", r"insert into a select 'it\'s;' from b; insert into c select 1 from d", "a c"),
        ("postgres", r"insert into a select 'C:\' from b; insert into c select 1 from d", "a c"),
        (
            "bigquery",
            'insert into a select """x;"y""" from b; insert into c select 1 from d',
            "a c",
        ),
        (
            "tsql",
            "insert into a select 1 from b\nGO\ninsert into [c;d] select 1 from e\ngo\n",
            "a c;d",
        ),
    ],
)
def test_quotes_and_ends_of_a_dialect(dialect: str, text: str, targets: str) -> None:
    assert [statement.target[-1] for statement in read(text, dialect)] == targets.split()


def test_the_definition_of_a_routine_is_one_statement_without_lineage() -> None:
    quoted = "create function f() returns int as $$ begin; return 1; end $$ language plpgsql;"
    plain = "create procedure p() begin insert into a select 1 from b; if x then y; end if; end;"
    assert kinds(f"{quoted}\n{plain}\ninsert into c select 1 from d;") == [
        "OTHER",
        "OTHER",
        "WRITE",
    ]


def test_the_statements_of_a_block_are_read() -> None:
    assert kinds("begin insert into a select 1 from b; delete from a where x = 1; end;") == [
        "WRITE",
        "WRITE",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "target", "replaces"),
    [
        ("select 1", "QUERY", (), False),
        ("create table a.b as select 1 as x", "WRITE", ("a", "b"), True),
        ("create or replace view v as select 1 as x", "WRITE", ("v",), True),
        ("insert into t select 1", "WRITE", ("t",), False),
        ("update t set a = 1 from u", "WRITE", ("t",), False),
        ("delete from t where a = 1", "WRITE", ("t",), False),
        ("delete from t", "EMPTY", ("t",), False),
        ("truncate table t", "EMPTY", ("t",), False),
        ("create table t (a int)", "DEFINE", ("t",), False),
        ("drop view if exists t", "DROP", ("t",), False),
        ("drop index i", "OTHER", (), False),
        ("grant select on t to u", "OTHER", (), False),
        ("vacuum t", "OTHER", (), False),
        ('create table "" as select 1 as a', "UNREADABLE", (), False),
        ("set search_path to raw, public", "USE", ("", "raw"), False),
        ("begin", "BEGIN", (), False),
        ("commit", "COMMIT", (), False),
        ("rollback", "ROLLBACK", (), False),
        ("call load()", "UNREADABLE", (), False),
        ("copy t from 's3://bucket/key'", "UNREADABLE", ("t",), False),
    ],
)
def test_what_a_statement_does(
    text: str, kind: str, target: tuple[str, ...], replaces: bool
) -> None:
    found = one(text)
    assert (found.kind.name, found.replaces) == (kind, replaces)
    assert found.target == (target if kind != "UNREADABLE" else ())


def test_a_new_name_stays_in_its_schema() -> None:
    found = one("alter table mart.new rename to orders")
    assert (found.kind, found.target, found.renamed_to) == (
        Kind.RENAME,
        ("mart", "new"),
        ("mart", "orders"),
    )


@pytest.mark.parametrize(
    ("dialect", "text", "target"),
    [
        ("snowflake", "use database shop", ("SHOP", "")),
        ("snowflake", "use schema shop.raw", ("SHOP", "RAW")),
        ("snowflake", "use schema raw", ("", "RAW")),
        ("mysql", "use shop", ("shop", "")),
    ],
)
def test_use(dialect: str, text: str, target: tuple[str, ...]) -> None:
    assert one(text, dialect).target == target


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "create temp table x as select 1 as a"),
        ("tsql", "select a into #x from t"),
        ("redshift", "create table #x as select 1 as a"),
        ("spark", "create or replace temporary view x as select 1 as a"),
    ],
)
def test_temporary_tables(dialect: str, text: str) -> None:
    found = one(text, dialect)
    assert (found.kind, found.is_temporary) == (Kind.WRITE, True)


def test_select_into_reads_its_tables() -> None:
    found = one("select a, b into mart.t from raw.s", "tsql")
    assert (found.target, found.is_temporary) == (("mart", "t"), False)
    assert found.references(no_columns).tables == {("raw", "s")}


def test_names_have_the_case_of_the_database() -> None:
    snowflake = one('insert into Mart.T select Amount, "Day" from raw.Orders', "snowflake")
    assert snowflake.target == ("MART", "T")
    assert (snowflake.spellings["amount"], snowflake.spellings["day"]) == ("AMOUNT", "Day")
    assert one("insert into Mart.T select 1 from b").target == ("mart", "t")


def test_a_fingerprint_leaves_out_literals_and_layout() -> None:
    first = one("insert into t select a from s where d = '2026-01-01' and k in (1, 2)")
    second = one("INSERT INTO t\n  select a FROM s where d = '2026-01-02' and k in (1, 2, 3)")
    third = one("insert into t select b from s where d = '2026-01-01' and k in (1, 2)")
    assert first.fingerprint == second.fingerprint != third.fingerprint


def test_an_unknown_dialect_is_named() -> None:
    require_dialect("")
    require_dialect("postgres")
    with pytest.raises(QueryError, match="'postgers' is unknown") as refused:
        require_dialect("postgers")
    assert "postgres" in refused.value.hint
