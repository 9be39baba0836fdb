"""Facets of datasets."""

from __future__ import annotations

import json

import pytest

from headwater.schema.facets import dataset, salvage
from tests.schema.facets.examples import NAMED, Example, check_example, name_of

METRICS = {
    "rowCount": 3,
    "columnMetrics": {"c": {"nullCount": 0, "sum": 1.5, "quantiles": {"0.5": 2}}},
}
EXAMPLES: list[Example] = [
    (
        "dataset",
        "catalog",
        {"framework": "iceberg", "type": "hive", "name": "c"},
        {"type": "hive", "name": "c"},
        "framework",
    ),
    ("dataset", "dataQualityMetrics", METRICS, {"rowCount": 3}, "columnMetrics"),
    (
        "dataset",
        "dataSource",
        {"name": "s3://lake", "uri": "s3://lake"},
        {"name": "file", "uri": "file"},
        "uri",
    ),
    ("dataset", "datasetType", {"datasetType": "VIEW"}, {"subType": "MATERIALIZED"}, "datasetType"),
    (
        "dataset",
        "documentation",
        {"description": "d"},
        {"contentType": "text/plain"},
        "description",
    ),
    (
        "dataset",
        "hierarchy",
        {"hierarchy": [{"type": "DATABASE", "name": "db"}]},
        {"hierarchy": [{"name": "db"}]},
        "hierarchy[].type",
    ),
    (
        "dataset",
        "lifecycleStateChange",
        {"lifecycleStateChange": "RENAME", "previousIdentifier": NAMED},
        {"lifecycleStateChange": "MOVED"},
        "lifecycleStateChange",
    ),
    (
        "dataset",
        "ownership",
        {"owners": [{"name": "ann"}]},
        {"owners": [{"name": 7}]},
        "owners[].name",
    ),
    (
        "dataset",
        "schema",
        {
            "fields": [
                {"name": "a", "type": "struct", "ordinal_position": 1, "fields": [{"name": "b"}]}
            ]
        },
        {"fields": [{"name": "a", "fields": [{"type": "int"}]}]},
        "fields[].fields[].name",
    ),
    ("dataset", "storage", {"storageLayer": "delta"}, {"fileFormat": "parquet"}, "storageLayer"),
    (
        "dataset",
        "symlinks",
        {"identifiers": [{**NAMED, "type": "TABLE"}]},
        {"identifiers": [NAMED]},
        "identifiers[].type",
    ),
    (
        "dataset",
        "tags",
        {"tags": [{"key": "pii", "value": "true", "field": "ssn"}]},
        {"tags": {"pii": True}},
        "tags",
    ),
    ("dataset", "version", {"datasetVersion": "7"}, {"datasetVersion": 7}, "datasetVersion"),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_a_valid_facet_passes_and_a_fault_is_reported_at_its_path(example: Example) -> None:
    check_example(example)


def test_fields_are_flattened_by_their_path_parents_first() -> None:
    inner = [{"name": "city", "type": "string"}, {"name": " "}]
    facet = {"fields": [{"name": "id", "type": "int"}, {"name": "home", "fields": inner}]}
    schema = salvage(dataset.Schema, json.dumps(facet))
    assert schema is not None
    flat = dataset.flatten_fields(schema.fields)
    assert list(flat.items()) == [("id", "int"), ("home", None), ("home.city", "string")]
    assert dataset.flatten_fields(None) == {}
