"""Lineage from features over a training of a real MLflow to a model version and a prediction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import pytest
from mlflow import MlflowClient

from examples import mlflow_training
from headwater.client import Headwater
from headwater.cypher.driver.database import Database
from headwater.mlflow_hooks import model_version, track
from headwater.mlflow_hooks.datasets import run_uuid, server_namespace
from headwater.schema.urns import dataset_urn, run_urn
from tests.canonical import edges
from tests.end_to_end.conftest import Running
from tests.mlflow_hooks.stores import file_store

pytestmark = pytest.mark.neo4j


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    with file_store(tmp_path, "credit scoring") as uri:
        yield uri


def properties(database: Database, urn: str) -> dict[str, Any]:
    rows = database.ask("MATCH (n {urn: $urn}) RETURN properties(n) AS n", {"urn": urn})
    return dict(rows[0]["n"])


def test_a_prediction_is_traced_to_the_training_data_of_its_model(
    running: Running, store: str
) -> None:
    version = mlflow_training.train(running.url)
    mlflow_training.predict(running.url, version)
    running.wait_folded()
    registered = MlflowClient().get_model_version("credit_risk", version)
    assert registered.run_id is not None
    run, model = run_urn(run_uuid(registered.run_id)), registered.tags["lineage_id"]
    assert MlflowClient().get_run(registered.run_id).data.tags["lineage_id"] == run

    artifact = properties(running.database, model)
    assert (artifact["version"], artifact["status"]) == ("1", "COMPLETE")
    dataset = properties(running.database, dataset_urn(server_namespace(store), "credit_risk"))
    assert dataset["type"] == "MODEL"
    run_properties = properties(running.database, run)
    assert {"mlflow.run_name=credit", f"mlflow.run_id={registered.run_id}"} <= set(
        run_properties["tags"]
    )

    found = edges(running.database)
    assert {("source:feast:credit_features", "FEEDS", run), (run, "PRODUCED", model)} <= set(found)
    trace = Headwater(running.url).trace("loan-4711")
    assert [source["name"] for source in trace["sources"]] == [
        "credit_features",
        "/lake/clean/defaults",
    ]
    assert [(node["urn"], node["name"]) for node in trace["artifacts"]] == [(model, "credit_risk")]


@pytest.mark.usefixtures("store")
def test_every_kind_of_dataset_is_known_as_such_and_a_second_training_reads_the_first(
    running: Running,
) -> None:
    mlflow_training.train(running.url, "base")
    kinds = ("FEATURE", "VIEW", "TOPIC", "FILE")
    read = [{"namespace": "kinds", "name": kind.lower(), "type": kind} for kind in kinds]
    report = {"namespace": "kinds", "name": "report", "type": "REPORT"}
    with (
        mlflow.start_run(),
        track(url=running.url, inputs=[*read, model_version("base", 1)], outputs=[report]) as run,
    ):
        pass
    running.wait_folded()
    for kind in (*kinds, "REPORT"):
        assert properties(running.database, f"dataset:kinds:{kind.lower()}")["type"] == kind
    base = MlflowClient().get_model_version("base", "1").tags["lineage_id"]
    assert (base, "FEEDS", run) in edges(running.database)
