"""The label of a dataset by its type, its table format and its namespace."""

from __future__ import annotations

import pytest

from headwater.schema.dataset_labels import dataset_label
from headwater.schema.graph import load_graph_types


@pytest.mark.parametrize(
    ("type", "storage", "namespace", "label"),
    [
        ("MODEL", None, "mlflow://h:5000", "Model"),
        ("model", "iceberg", "s3://lake", "Model"),
        ("feature group", None, "feast", "Feature"),
        ("MATERIALIZED-VIEW", None, "postgres://db:5432", "View"),
        ("kafka_topic", None, "cluster", "Topic"),
        ("ANSWER", None, "postgres://db:5432", None),
        ("", None, "file", None),
        (None, "iceberg", "s3://lake", "Table"),
        (None, None, "s3://lake", "File"),
        (None, None, "file", "File"),
        (None, None, "kafka://broker:9092", "Topic"),
        (None, None, "snowflake://org-account", "Table"),
        (None, None, "bigquery", "Table"),
        (None, None, "filesystem", None),
        (None, None, "", None),
    ],
)
def test_the_type_decides_then_the_format_then_the_namespace(
    type: str | None, storage: str | None, namespace: str, label: str | None
) -> None:
    assert dataset_label(type, storage, namespace) == label


def test_each_label_is_described_as_a_further_label_of_datasets() -> None:
    described = {label.name for label in load_graph_types().labels if label.of == "Dataset"}
    assert described == {"Feature", "File", "Model", "Table", "Topic", "View"}
