"""Audit queries about models, on a history of two trainings worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.cypher.sandbox.run import run_audit
from headwater.schema.urns import column_urn
from tests.canonical import empty
from tests.event_builders import columns, dataset, dataset_event, run_event, schema, write_batch
from tests.run_builders import Event, ds

pytestmark = pytest.mark.neo4j
MODEL: Event = {"datasetType": {"datasetType": "MODEL"}}


def trained(version: str, **types: str) -> Event:
    origins = columns(**{name: [("features", name)] for name in types if name != "constant"})
    facets = {**MODEL, **schema(**types), **origins, "version": {"datasetVersion": version}}
    return dataset("churn", facets)


@pytest.fixture(scope="module")
def estate(database: Database) -> Database:
    """Write raw.since -> features.tenure -> churn.tenure; features and old train churn, features
    trains segments, which has no columns."""
    made = {**schema(tenure="long", plan="string"), **columns(tenure=[("raw", "since")])}
    deprecated = {"tags": {"tags": [{"key": "deprecated", "value": "true"}]}}
    of_column = {"tags": {"tags": [{"key": "deprecated", "value": "true", "field": "since"}]}}
    empty(database)
    write_batch(
        database,
        [
            run_event("f", minute=0, job="build", inputs=["raw"],
                outputs=[dataset("features", made)]),
            run_event("t1", minute=1, job="train", inputs=["features", "old"],
                outputs=[trained("1", tenure="long")]),
            run_event("t2", minute=2, job="train", inputs=["features"],
                outputs=[trained("2", tenure="decimal(10,2)", constant="long")]),
            run_event("s", minute=3, job="segment", inputs=["features"],
                outputs=[dataset("segments", MODEL)]),
            run_event("o", minute=3, job="other", inputs=["else"],
                outputs=[dataset("unrelated", MODEL)]),
            dataset_event("raw", 4, {**schema(since="date"), **of_column}),
            dataset_event("else", 4, deprecated),
        ],
    )  # fmt: skip
    return database


def rows(database: Database, name: str, **parameters: str) -> list[tuple[Any, ...]]:
    found = run_audit(database, name, parameters)
    return [tuple(row[column] for column in found.columns) for row in found.rows]


def col(name: str, column: str) -> str:
    return column_urn("db", name, column)


def test_models_that_use_a_column(estate: Database) -> None:
    to_features = [col("raw", "since"), col("features", "tenure")]
    assert rows(estate, "models_using_column", column="SINCE") == [
        (
            "db",
            "churn",
            "feature",
            "raw",
            "since",
            2,
            [*to_features, col("churn", "tenure")],
        ),
        ("db", "segments", "training data", "raw", "since", 1, to_features),
    ]
    assert rows(estate, "models_using_column", column="since", dataset="other") == []
    assert rows(estate, "models_using_column", column="since", namespace="web") == []


def test_models_on_deprecated_datasets_and_columns(estate: Database) -> None:
    since = col("raw", "since")
    assert rows(estate, "models_on_deprecated_data") == [
        ("db", "churn", [], "column", since, None, 1),
        ("db", "segments", [], "column", since, None, 1),
        ("db", "unrelated", [], "dataset", ds("else"), None, 1),
    ]
    assert rows(estate, "models_on_deprecated_data", namespace="web") == []


def test_changes_between_the_newest_two_versions(estate: Database) -> None:
    changes = rows(estate, "model_version_changes", model="churn")
    data = [row for row in changes if row[2] == "DATA"]
    # The training reads the same version of the features; the other dataset is left out now.
    assert [row[3] for row in data] == [ds("old")]
    assert data[0][5] is None
    assert [row for row in changes if row[2] == "FEATURE"] == [
        ("db", "churn", "FEATURE", "constant", None, "long"),
        ("db", "churn", "FEATURE", "tenure", "long", "decimal(10,2)"),
    ]
    back = rows(estate, "model_version_changes", model="churn", before="2", after="1")
    assert ("db", "churn", "FEATURE", "tenure", "decimal(10,2)", "long") in back
    assert rows(estate, "model_version_changes", model="nothing") == []
