"""Code that the branch fixes together with the table it reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headwater.code_analysis.model import MODEL, TABLE, TableChange
from headwater.gate.branch_fixes import BranchFixes
from headwater.gate.resolve_datasets import DatasetChange
from headwater.gate.verdict import BREAKING, WARNING, Affected
from headwater.schema.urns import dataset_urn

PG = "postgres://shop:5432"


def table_change(table: str) -> TableChange:
    change = {"type": "column_drop", "column": "amount"}
    return TableChange(table, MODEL, change, f"dbt/models/{table}.sql")


URN, MART = dataset_urn(PG, "stg"), dataset_urn(PG, "mart")
READER = Affected("job:etl:mart", "JOB", "mart", BREAKING, ("amount",), (), outputs=(MART,))


def apply_fixes(
    sql: str, change: dict[str, Any] | None = None, reader: Affected = READER
) -> tuple[Affected, ...]:
    """Return the reader in a branch that drops stg.amount and has this SQL for mart."""
    change = change or {"type": "column_drop", "column": "amount"}
    drop = DatasetChange(
        table_change("stg"),
        URN,
        change,
        producers=("job:etl:stg",),
    )
    other = DatasetChange(table_change("mart"), MART, {"type": "semantics_change"})
    texts: dict[str | None, str | None] = {
        "dbt/models/mart.sql": sql,
        "dbt/models/stg.sql": "select id",
    }
    return BranchFixes([drop, other], texts).apply(drop, [reader])


@pytest.mark.parametrize(
    ("sql", "severity"),
    [
        ("select total from stg", WARNING),
        ("select amounts from stg", WARNING),
        ("select AMOUNT from stg", BREAKING),
        ("select * from stg", BREAKING),
    ],
)
def test_code_that_no_longer_names_the_column_does_not_break(sql: str, severity: str) -> None:
    (one,) = apply_fixes(sql)
    assert one.severity == severity


def test_only_code_that_the_branch_changes_too_is_fixed() -> None:
    (one,) = apply_fixes(
        "select total from stg", reader=replace(READER, outputs=(MART, dataset_urn(PG, "more")))
    )
    assert one.severity == BREAKING
    (one,) = apply_fixes("select total from stg", reader=replace(READER, outputs=()))
    assert one.severity == BREAKING
    (one,) = apply_fixes(
        "select total from stg", {"type": "column_type_change", "column": "amount", "to": "int"}
    )
    assert one.severity == BREAKING


def test_the_producer_of_a_dataset_is_not_affected_by_its_own_change() -> None:
    producer = replace(READER, urn="job:etl:stg")
    assert apply_fixes("select 1", reader=producer) == ()
    dropped = DatasetChange(
        replace(table_change("stg"), kind=TABLE),
        URN,
        {"type": "column_drop", "column": "a"},
        producers=("job:etl:stg",),
    )
    assert BranchFixes([dropped], {}).apply(dropped, [producer]) == (producer,)
