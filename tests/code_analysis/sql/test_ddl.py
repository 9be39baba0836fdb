"""Tables that SQL files define, fill and change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gate.files import changes_of, one_file, problem, table_changes


@pytest.mark.parametrize(
    ("statement", "change"),
    [
        ("ALTER TABLE s.t DROP COLUMN a", {"type": "column_drop", "column": "a"}),
        ("ALTER TABLE s.t RENAME COLUMN a TO b", {"type": "column_rename", "from": "a", "to": "b"}),
        (
            "ALTER TABLE s.t ALTER COLUMN a TYPE bigint",
            {"type": "column_type_change", "column": "a", "to": "bigint"},
        ),
        (
            "ALTER TABLE s.t ADD COLUMN a int NOT NULL",
            {"type": "column_add", "column": "a", "nullable": False, "data_type": "int"},
        ),
        ("ALTER TABLE s.t RENAME TO u", {"type": "table_rename", "to": "u"}),
        ("DROP TABLE IF EXISTS s.t CASCADE", {"type": "table_drop"}),
        ("DROP VIEW s.t", {"type": "table_drop"}),
    ],
)
def test_statements_of_a_migration(statement: str, change: dict[str, Any]) -> None:
    before = "select 1;\n"
    (delta,) = table_changes(one_file(before, f"{before}{statement};\n", "migrations/V2__x.sql"))
    assert (delta.table, dict(delta.change), delta.line) == ("s.t", change, 2)
    # A statement in both versions was applied before.
    assert (
        changes_of(
            f"{before}{statement};\n", f"{before}{statement};\n-- applied\n", "migrations/V2__x.sql"
        )
        == []
    )


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE t SWAP WITH u",
        "ALTER TABLE t MODIFY COLUMN a int",
        "RENAME TABLE a TO b",
        "ALTER TABLE t RENAME a TO b",
    ],
)
def test_a_statement_that_is_not_understood_blocks(statement: str) -> None:
    assert "cannot be made out" in problem(statement, "migrations/2.sql")[0]


@pytest.mark.parametrize(
    "statement",
    ["GRANT SELECT ON t TO x", "SET a = 1", "CREATE INDEX i ON t (a)", "COMMIT", "ANALYZE t"],
)
def test_a_statement_that_changes_no_table_is_nothing(statement: str) -> None:
    assert changes_of(None, statement, "migrations/2.sql") == []


def test_tables_as_files_define_them() -> None:
    before = "create table s.t (id int primary key, a varchar(10), b int, c int)"
    after = "create table s.t (id bigint primary key, a varchar( 10 ), d text, e int not null)"
    assert changes_of(before, after, "ddl/t.sql") == [
        {"type": "column_drop", "column": "b"},
        {"type": "column_drop", "column": "c"},
        {"type": "column_add", "column": "d", "nullable": True, "data_type": "text"},
        {"type": "column_add", "column": "e", "nullable": False, "data_type": "int"},
        {"type": "column_type_change", "column": "id", "from": "int", "to": "bigint"},
    ]
    assert changes_of(
        "create table t (a int, b int)", "create table t (a int, x int)", "ddl/t.sql"
    ) == [{"type": "column_rename", "from": "b", "to": "x"}]
    assert changes_of("create table t (a int)", "select 1", "ddl/t.sql") == [{"type": "table_drop"}]
    # A definition that moved to another file is unchanged.
    moved = [
        one_file("create table t (a int)", None, "ddl/a.sql"),
        one_file(None, "create table t (a int)", "ddl/b.sql"),
    ]
    assert table_changes(*moved) == []


def test_views_and_statements_that_fill_a_table() -> None:
    view = "create view v as select a, b from t"
    assert changes_of(view, view.replace(", b", ""), "ddl/v.sql") == [
        {"type": "column_drop", "column": "b"}
    ]
    insert = "insert into t select a from u where a > 1"
    assert [one["type"] for one in changes_of(insert, insert.replace("1", "2"), "etl/t.sql")] == [
        "semantics_change"
    ]
    assert changes_of(insert, insert.upper().replace("\n", " "), "etl/t.sql") == []
    assert (
        changes_of(insert, "", "etl/t.sql")[0]["description"]
        == "the statement that filled it is gone"
    )


def test_a_definition_that_replaces_a_table() -> None:
    for text in (
        "create or replace view v as select a, b from t",
        "drop table v; create table v (a int, b int)",
    ):
        (delta,) = table_changes(one_file(None, text, "migrations/3.sql"))
        assert (delta.table, delta.columns, delta.is_new) == ("v", ("a", "b"), True)
    created = "create table t (a int); alter table t add column b int;"
    assert [
        delta.is_new for delta in table_changes(one_file(None, created, "migrations/4.sql"))
    ] == [True]
