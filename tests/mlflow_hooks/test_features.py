"""What MLflow logged about training data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mlflow.entities import Dataset, DatasetInput

from headwater.mlflow_hooks.features import Data, logged_data

FIELDS = [{"name": "age", "type": "long"}, {"name": "plan", "type": "string"}]


def logged(schema: str | None, source: str = '{"uri": "/data/a.csv"}') -> DatasetInput:
    return DatasetInput(Dataset("d", "9f86", "local", source, schema=schema))


def test_a_dataset_has_its_digest_and_its_columns() -> None:
    schema = json.dumps({"mlflow_colspec": FIELDS})
    assert logged_data([logged(schema)]) == (Data("file", "/data/a.csv", "9f86", ("age", "plan")),)


@pytest.mark.parametrize(
    "schema",
    [None, "", "no JSON", "5", "[]", "{}", '{"mlflow_colspec": 5}', '{"mlflow_colspec": [5, {}]}'],
)
def test_a_schema_of_another_form_has_no_columns(schema: Any) -> None:
    assert logged_data([logged(schema)]) == (Data("file", "/data/a.csv", "9f86", ()),)


def test_data_without_a_location_is_left_out() -> None:
    assert logged_data([logged(None, "{}")]) == ()
