"""The columns that a dbt model reads: plain SQL, templates, and text that is too long."""

from __future__ import annotations

from headwater.code_analysis.dbt.references import references_in_model
from headwater.code_analysis.sql.parse import TEXT_LENGTH_MAX

MODEL = """{{ config(materialized='table') }}
select o.id, o.amount
from {{ ref('stg_orders') }} as o
where o.status = 'paid'
"""


def test_a_template_reads_the_columns_of_its_ref_at_its_own_lines() -> None:
    found = references_in_model(MODEL)
    columns = {one.column for one in found.read}
    assert {"id", "amount", "status"} <= columns
    lines = MODEL.splitlines()
    # The evidence is a line of the template, not of the rendered SQL.
    assert all(one.text == lines[one.line - 1].strip() for one in found.read)
    assert any(table[-1] == "stg_orders" for table in found.tables)


def test_sql_without_a_template_is_read_as_it_is() -> None:
    found = references_in_model("select id from raw.orders")
    assert {one.column for one in found.read} == {"id"}
    assert found.unknown == ()


def test_a_template_that_is_too_long_is_unknown() -> None:
    found = references_in_model(MODEL + " " * TEXT_LENGTH_MAX)
    assert found.read == ()
    assert len(found.unknown) == 1
