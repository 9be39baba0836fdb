"""Table changes from files before and after, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
def test_changes_of_a_model(old: str, new: str, changes: list[dict[str, Any]]) -> None:
    assert old in MODEL
    found = changes_of(MODEL, MODEL.replace(old, new))
    assert len(found) == len(changes)
    assert all(
        expected.items() <= change.items() for expected, change in zip(changes, found, strict=True)
    )


def test_a_model_that_goes_comes_moves_and_is_renamed() -> None:
    (dropped,) = table_changes(one_file(MODEL, None))
    assert (dropped.table, dropped.change, dropped.file) == (
        "m",
        {"type": "job_delete"},
        "models/m.sql",
    )
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
    ("text", "problem_text"),
    [
        ("select a from {% for x in y %} t {% endfor %}", "only dbt knows"),
        ("select a from where", "the SQL cannot be read"),
        ("select 1; select 2", "a model is one query"),
        ("select {% if x %} a {% else %} b {% endif %} from t", "depend on a condition"),
        ("select " + "(" * 5_000, "nested too deeply"),
        ("{{" * 1_000_000, "longer than"),
    ],
)
def test_a_model_that_cannot_be_read_is_a_problem(text: str, problem_text: str) -> None:
    assert problem_text in problem(text, before="select a from t")[0]


def test_a_problem_names_its_line() -> None:
    assert problem("select a\nfrom t\nwhere ((a)\n") == (
        problem("select a\nfrom t\nwhere ((a)\n")[0],
        3,
    )


@settings(deadline=None, max_examples=150)
@given(
    text=st.text(max_size=60),
    path=st.sampled_from(
        ["models/m.sql", "x.sql", "models/s.yml", "seeds/s.csv", "j.py", "n.ipynb"]
    ),
)
def test_no_text_escapes_the_gate(text: str, path: str) -> None:
    # Any content of a file gives changes or a problem, and never an exception.
    find_changes([one_file("select spark", text, path)])
