"""Models, schema files and seeds of dbt projects."""

from __future__ import annotations

import pytest

from tests.gate.files import changes_of, one_file, problem, table_changes
from tests.test_bounded_yaml import merge_bomb

FILTER = {"type": "semantics_change", "description": "its sources or conditions changed"}


def test_the_condition_of_an_incremental_run_is_compared_too() -> None:
    model = "select a from t {% if is_incremental() %} where a > 1 {% endif %}"
    assert changes_of(model, model.replace("a > 1", "a > 2")) == [FILTER]
    assert changes_of(model, model + " -- remark") == []


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


def test_changed_sql_of_a_model_comes_before_its_schema_file() -> None:
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


@pytest.mark.timeout(30)
def test_a_schema_file_whose_aliases_stand_for_millions_of_values_is_refused() -> None:
    text = f"models: []\n{merge_bomb(12)}"
    assert "its aliases stand for more than" in problem(text, "models/schema.yml")[0]
