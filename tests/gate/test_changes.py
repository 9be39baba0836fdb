"""From files before and after to changes; what should come out is worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.code_analysis.definitions import kind_of
from headwater.gate.changes import find_changes
from tests.gate.files import changes_of, one_file, problem, table_changes

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
    ("old", "new", "changes"),
    [
        (
            "p.payment_id as id",
            "p.payment_id as payment_id",
            [{"type": "column_rename", "from": "id", "to": "payment_id"}],
        ),
        (", upper(p.kind) as kind", "", [{"type": "column_drop", "column": "kind"}]),
        (
            "decimal(10, 2)",
            "int",
            [
                {
                    "type": "column_type_change",
                    "column": "amount",
                    "from": "decimal(10, 2)",
                    "to": "int",
                }
            ],
        ),
        (
            "upper(p.kind)",
            "lower(p.kind)",
            [
                {
                    "type": "semantics_change",
                    "column": "kind",
                    "description": "its expression changed",
                }
            ],
        ),
        (
            "upper(p.kind) as kind",
            "upper(p.kind) as kind, p.at",
            [{"type": "column_add", "column": "at", "nullable": True}],
        ),
        ("p.amount > ", "p.amount >= ", [FILTER]),
        ('var("least")', 'var("most")', [FILTER]),
        ("'payments'", "'refunds'", [*[{"type": "semantics_change"}] * 3, FILTER]),
        ('materialized="table"', 'materialized="view"', []),
    ],
)
def test_what_changes_of_a_model(old: str, new: str, changes: list[dict[str, Any]]) -> None:
    assert old in MODEL
    found = changes_of(MODEL, MODEL.replace(old, new))
    assert len(found) == len(changes)
    assert all(
        expected.items() <= change.items() for expected, change in zip(changes, found, strict=True)
    )


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


def test_unions_recursion_and_subqueries() -> None:
    union = "select a, b from t union all select c, d from u"
    assert changes_of(union, union.replace("a, b", "a as x, b")) == [
        {"type": "column_rename", "from": "a", "to": "x"}
    ]
    assert changes_of(union, union.replace("union all", "union")) == [FILTER]
    recursive = "with recursive r as (select a from t union all select a from r where a < 5) select a from r"
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


def test_what_an_incremental_run_adds_is_compared_too() -> None:
    model = "select a from t {% if is_incremental() %} where a > 1 {% endif %}"
    assert changes_of(model, model.replace("a > 1", "a > 2")) == [FILTER]
    assert changes_of(model, model + " -- remark") == []


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


def test_a_model_that_goes_comes_moves_and_is_renamed() -> None:
    (gone,) = table_changes(one_file(MODEL, None))
    assert (gone.table, gone.change, gone.file) == ("m", {"type": "job_delete"}, "models/m.sql")
    assert table_changes(one_file(None, MODEL)) == []
    assert table_changes(one_file(MODEL, MODEL, "models/deep/m.sql", was="models/m.sql")) == []
    renamed = table_changes(
        one_file(
            MODEL, MODEL.replace(", upper(p.kind) as kind", ""), "models/n.sql", was="models/m.sql"
        )
    )
    assert [(delta.table, dict(delta.change)) for delta in renamed] == [
        ("m", {"type": "table_rename", "to": "n"}),
        ("m", {"type": "column_drop", "column": "kind"}),
    ]
    aliased = MODEL.replace('materialized="table"', 'alias="other"')
    assert [delta.table for delta in table_changes(one_file(aliased, None))] == ["other"]
    disabled = MODEL.replace('materialized="table"', "enabled=False")
    assert changes_of(MODEL, disabled) == [{"type": "job_delete"}]


def test_a_model_that_cannot_be_read_may_still_be_deleted_or_moved() -> None:
    loop = "{% for x in xs %} select {{ x }} {% endfor %}"
    assert changes_of(loop, None) == [{"type": "job_delete"}]
    (moved,) = table_changes(one_file(loop, loop, "models/n.sql", was="models/m.sql"))
    assert moved.change == {"type": "table_rename", "to": "n"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("select a from {% for x in y %} t {% endfor %}", "only dbt knows"),
        ("select a from where", "the SQL cannot be read"),
        ("select 1; select 2", "a model is one query"),
        ("select {% if x %} a {% else %} b {% endif %} from t", "depend on a condition"),
        ("select " + "(" * 5_000, "nested too deeply"),
        ("{{" * 1_000_000, "longer than"),
    ],
)
def test_what_cannot_be_made_out_is_a_problem(text: str, says: str) -> None:
    assert says in problem(text, before="select a from t")[0]


def test_a_problem_names_its_line() -> None:
    assert problem("select a\nfrom t\nwhere ((a)\n") == (
        problem("select a\nfrom t\nwhere ((a)\n")[0],
        3,
    )


def test_a_macro_is_a_problem_and_a_file_of_no_interest_is_nothing() -> None:
    assert "only dbt knows" in problem("{% macro m() %} 1 {% endmacro %}", "macros/m.sql")[0]
    assert (
        find_changes([one_file("a", "b", "docs/x.yml"), one_file("a", "b", "data/x.csv")]).files
        == []
    )


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
    # What was there before was applied before.
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
    # Moved to another file it is where it was.
    moved = [
        one_file("create table t (a int)", None, "ddl/a.sql"),
        one_file(None, "create table t (a int)", "ddl/b.sql"),
    ]
    assert table_changes(*moved) == []


def test_views_and_what_fills_a_table() -> None:
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


def test_a_definition_that_replaces_what_is_there() -> None:
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


SCHEMA = """
sources:
  - name: till
    schema: raw
    tables:
      - name: payments
        columns: [{name: id, data_type: int}, {name: note}]
models:
  - name: promised
    config: {contract: {enforced: true}}
    columns: [{name: id, data_type: int}, {name: note}]
  - name: described
    columns: [{name: id, data_type: int}, {name: note}]
"""


def test_columns_of_schema_files() -> None:
    found = table_changes(
        one_file(
            SCHEMA,
            SCHEMA.replace(", {name: note}", "").replace("int}", "bigint}"),
            "models/schema.yml",
        )
    )
    retyped = {"type": "column_type_change", "column": "id", "from": "int", "to": "bigint"}
    dropped = {"type": "column_drop", "column": "note"}
    assert [(delta.table, dict(delta.change)) for delta in found] == [
        ("described", retyped),
        ("promised", dropped),
        ("promised", retyped),
        ("raw.payments", dropped),
        ("raw.payments", retyped),
    ]
    assert table_changes(one_file(SCHEMA, None, "models/schema.yml")) == []
    assert "not YAML" in problem("a: [", "models/schema.yml")[0]


def test_of_a_model_whose_sql_changes_too_that_tells() -> None:
    model = one_file(
        "select id, note from t", "select id, note from t -- same", "models/promised.sql"
    )
    schema = one_file(SCHEMA, SCHEMA.replace(", {name: note}", ""), "models/schema.yml")
    assert [delta.table for delta in table_changes(model, schema)] == ["raw.payments"]


def test_the_header_of_a_seed() -> None:
    assert changes_of("id,name\n1,x\n", "id,other\n1,x\n", "seeds/raw.csv") == [
        {"type": "column_drop", "column": "name"},
        {"type": "column_add", "column": "other", "nullable": True},
    ]
    assert changes_of("id,name\n1,x\n", "id,name\n1,y\n2,z\n", "seeds/raw.csv") == []


def test_kinds_of_files() -> None:
    paths = {
        "shop/models/a.sql": "model",
        "snapshots/a.sql": "model",
        "macros/a.sql": "macro",
        "ddl/A.SQL": "sql",
        "models/a.yml": "schema",
        "seeds/a.csv": "seed",
        "a.csv": "",
        ".github/a.yml": "",
        "a.py": "python",
        "a.ipynb": "notebook",
    }
    assert {path: kind_of(path) for path in paths} == paths


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


@settings(deadline=None, max_examples=150)
@given(
    text=st.text(max_size=60),
    path=st.sampled_from(
        ["models/m.sql", "x.sql", "models/s.yml", "seeds/s.csv", "j.py", "n.ipynb"]
    ),
)
def test_no_text_escapes_the_gate(text: str, path: str) -> None:
    # Whatever stands in a file: changes, or a problem, and never an exception.
    find_changes([one_file("select spark", text, path)])
