"""Trainings of a real MLflow and their events: never an error, never a wait, nothing made up."""

from __future__ import annotations

import json
import logging
import time
from typing import Any
from uuid import UUID

import mlflow
import msgspec
import pytest
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput
from mlflow.models import Model, ModelSignature
from mlflow.types.schema import ColSpec, Schema

from headwater.errors import SettingsError
from headwater.mlflow_hooks import attach, delivery, model_version, track
from headwater.mlflow_hooks.datasets import server_namespace
from headwater.schema.events import parse
from headwater.schema.facets import FACETS, Entity, fault_of
from tests.spark_hooks.servers import Recorder, closed_port, recorder, silent_server

pytestmark = pytest.mark.usefixtures("mlflow_uri")

Event = dict[str, Any]


def register(name: str, run_id: str | None) -> int:
    client = MlflowClient()
    if not client.search_registered_models(f"name='{name}'"):
        client.create_registered_model(name)
    return int(client.create_model_version(name, f"runs:/{run_id}/model", run_id=run_id).version)


def log_input(run_id: str, source_type: str, **source: str) -> None:
    dataset = Dataset(name="d", digest="abc", source_type=source_type, source=json.dumps(source))
    MlflowClient().log_inputs(run_id, [DatasetInput(dataset)])


def by_state(server: Recorder) -> dict[str, Event]:
    return {event["eventType"]: event for event in server.events}


def names(datasets: list[Event]) -> list[tuple[str, str]]:
    return [(dataset["namespace"], dataset["name"]) for dataset in datasets]


def faults(event: Event) -> list[str]:
    """Return each violation of a facet's schema in an event."""
    parse(msgspec.json.encode(event), received=0)
    parts: list[tuple[Entity, Event]] = [
        ("run", event["run"]["facets"]),
        ("job", event["job"]["facets"]),
    ]
    parts += [("dataset", dataset["facets"]) for dataset in (*event["inputs"], *event["outputs"])]
    return [
        f"{entity} {key}: {fault}"
        for entity, facets in parts
        for key, facet in facets.items()
        if (fault := fault_of(entity, key, msgspec.json.encode(facet)))
    ]


def test_the_events_of_a_training_have_all_that_mlflow_logged(mlflow_uri: str) -> None:
    with (
        recorder() as server,
        mlflow.start_run(run_name="r") as run,
        track(url=server.url, inputs=["/lake/features/credit"]) as urn,
    ):
        log_input(run.info.run_id, "local", uri="/data/credit.csv")
        mlflow.log_param("depth", 7)
        mlflow.log_metrics({"auc": 0.8, "loss": float("nan")})
        mlflow.set_tag("team", "risk")
        version = register("credit_risk", run.info.run_id)
    events = by_state(server)
    assert list(events) == ["START", "COMPLETE"]
    assert [faults(event) for event in events.values()] == [[], []]
    run_id = str(UUID(run.info.run_id))
    assert {event["run"]["runId"] for event in events.values()} == {run_id}
    assert events["COMPLETE"]["job"]["namespace"] == server_namespace(mlflow_uri)
    assert events["COMPLETE"]["job"]["name"] == "credit"
    facets = events["COMPLETE"]["run"]["facets"]
    assert facets["headwater_mlflow"]["metrics"] == {"auc": 0.8, "loss": "nan"}
    assert facets["executionParameters"]["parameters"] == [
        {"key": "depth", "name": "depth", "value": "7"}
    ]
    tags = {tag["key"]: tag["value"] for tag in facets["tags"]["tags"]}
    assert tags == {
        "mlflow.run_id": run.info.run_id,
        "mlflow.run_name": "r",
        "mlflow.experiment": "credit",
        "team": "risk",
    }
    assert names(events["START"]["inputs"]) == [("file", "/lake/features/credit")]
    assert names(events["COMPLETE"]["inputs"]) == [
        ("file", "/lake/features/credit"),
        ("file", "/data/credit.csv"),
    ]
    [model] = events["COMPLETE"]["outputs"]
    assert (model["namespace"], model["name"]) == (server_namespace(mlflow_uri), "credit_risk")
    assert model["facets"]["datasetType"]["datasetType"] == "MODEL"
    assert model["facets"]["version"]["datasetVersion"] == str(version) == "1"
    assert urn == f"run:{run_id}"


def test_mlflow_gets_the_links_to_headwater() -> None:
    with recorder() as server, mlflow.start_run() as run, track(url=server.url) as urn:
        register("credit_risk", run.info.run_id)
    client = MlflowClient()
    assert client.get_run(run.info.run_id).data.tags["lineage_id"] == urn
    tags = client.get_model_version("credit_risk", "1").tags
    run_id = str(UUID(run.info.run_id))
    assert tags["lineage_id"].startswith("artifact:mlflow%3A//")
    assert tags["lineage_id"].endswith(f":credit_risk:{run_id}")
    page = f"{server.url}/datasets/dataset%3Amlflow%253A%2F%2F"
    assert tags["lineage_uri"].startswith(page)
    assert tags["lineage_uri"].endswith("%3Acredit_risk")
    assert model_version("credit_risk", 1).run_id == run_id


def test_a_run_made_the_newest_of_two_versions_of_one_model() -> None:
    with recorder() as server, mlflow.start_run() as run, track(url=server.url):
        for _ in range(11):
            register("credit_risk", run.info.run_id)
    [model] = by_state(server)["COMPLETE"]["outputs"]
    assert model["facets"]["version"]["datasetVersion"] == "11"
    tags = [
        MlflowClient().get_model_version("credit_risk", version).tags for version in ("1", "11")
    ]
    assert tags[0] == tags[1] != {}


def test_a_failed_training_is_reported_and_raises_its_own_error() -> None:
    with recorder() as server:
        with (
            pytest.raises(ZeroDivisionError),
            mlflow.start_run(),
            track(url=server.url, job="nightly", namespace="risk"),
        ):
            raise ZeroDivisionError("no rows")
        with pytest.raises(KeyboardInterrupt), mlflow.start_run(), track(url=server.url):
            raise KeyboardInterrupt
    events = by_state(server)
    assert set(events) == {"START", "FAIL", "ABORT"}
    assert (
        events["FAIL"]["run"]["facets"]["errorMessage"]["message"] == "ZeroDivisionError: no rows"
    )
    assert (events["FAIL"]["job"]["namespace"], events["FAIL"]["job"]["name"]) == (
        "risk",
        "nightly",
    )
    assert [faults(event) for event in server.events] == [[]] * 4


def test_datasets_have_their_kinds_and_versions() -> None:
    features = {"namespace": "feast", "name": "customers", "type": "FEATURE", "version": "12"}
    base = {"namespace": "hub", "name": "base", "type": "MODEL", "runId": str(UUID(int=7))}
    with recorder() as server:
        report = {"namespace": "reports", "name": "credit", "type": "REPORT"}
        with (
            mlflow.start_run(),
            track(url=server.url, inputs=[features, base, base], outputs=[report]),
        ):
            pass
    events = by_state(server)["COMPLETE"]
    assert faults(events) == []
    first, second = events["inputs"]
    assert first["facets"]["datasetType"]["datasetType"] == "FEATURE"
    assert first["facets"]["version"]["datasetVersion"] == "12"
    assert second["inputFacets"]["headwater_artifact"]["runId"] == str(UUID(int=7))
    assert events["outputs"][0]["facets"]["datasetType"]["datasetType"] == "REPORT"
    assert ("dataset", "datasetType") in FACETS


@pytest.mark.parametrize(
    ("source_type", "source", "expected"),
    [
        ("local", {"uri": "file:///data/c.csv"}, [("file", "/data/c.csv")]),
        ("s3", {"uri": "s3://lake/credit/dt=2026-01-01"}, [("s3://lake", "credit")]),
        ("http", {"url": "https://host/c.csv"}, [("https://host", "/c.csv")]),
        ("spark", {"path": "s3a://lake/credit"}, [("s3://lake", "credit")]),
        ("delta_table", {"path": "/lake/credit"}, [("file", "/lake/credit")]),
        ("delta_table", {"delta_table_name": "credit"}, []),
        ("code", {"tags": "x"}, []),
        ("hugging_face", {"path": "squad"}, []),
    ],
)
def test_only_logged_inputs_with_a_location_are_inputs(
    source_type: str, source: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    with recorder() as server, mlflow.start_run() as run, track(url=server.url):
        log_input(run.info.run_id, source_type, **source)
    assert names(by_state(server)["COMPLETE"]["inputs"]) == expected


def test_a_version_has_the_features_of_its_signature_and_their_columns() -> None:
    columns = [("tenure", "long"), ("plan", "string"), ("churned", "boolean")]
    schema = {"mlflow_colspec": [{"name": name, "type": type} for name, type in columns]}
    source = json.dumps({"uri": "/data/customers.csv"})
    data = Dataset("d", "9f86d081", "local", source, schema=json.dumps(schema))
    features = Schema([ColSpec("long", "tenure"), ColSpec("double", "score")])
    with (
        recorder() as server,
        mlflow.start_run() as run,
        track(url=server.url, inputs=["/lake/scores"]),
    ):
        MlflowClient().log_inputs(run.info.run_id, [DatasetInput(data)])
        model = Model(run_id=run.info.run_id, signature=ModelSignature(inputs=features))
        mlflow.log_text(model.to_yaml(), "model/MLmodel")
        register("signed", run.info.run_id)
    event = by_state(server)["COMPLETE"]
    assert faults(event) == []
    [output] = event["outputs"]
    assert output["facets"]["schema"]["fields"] == [
        {"name": "tenure", "type": "long"},
        {"name": "score", "type": "double"},
    ]
    customers = {"namespace": "file", "name": "/data/customers.csv"}
    assert output["facets"]["columnLineage"]["fields"] == {
        "tenure": {"inputFields": [{**customers, "field": "tenure"}]}
    }
    scores = {"namespace": "file", "name": "/lake/scores"}
    known = [{**scores, "type": "DATASET"}, {**customers, "type": "DATASET"}]
    assert output["facets"]["lineage"]["inputs"] == known
    assert event["run"]["facets"]["headwater_mlflow"]["data"] == [
        {**customers, "digest": "9f86d081"}
    ]


def test_headwater_away_costs_a_training_seconds_and_only_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "SECONDS", 0.5)
    with silent_server() as silent:
        for url in (closed_port(), silent):
            began = time.monotonic()
            for _ in range(10):
                with mlflow.start_run() as run, track(url=url):
                    mlflow.log_metric("auc", 0.8)
            assert time.monotonic() - began < 6
            assert MlflowClient().get_run(run.info.run_id).info.status == "FINISHED"
    assert "lineage_not_sent" in caplog.text


def test_an_error_of_mlflow_in_the_hook_does_not_fail_the_training(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the registry is gone")

    for name in ("search_model_versions", "set_tag"):
        monkeypatch.setattr(MlflowClient, name, broken)
    with (
        caplog.at_level(logging.WARNING),
        recorder() as server,
        mlflow.start_run(),
        track(url=server.url),
    ):
        pass
    assert set(by_state(server)) == {"START", "COMPLETE"}
    assert caplog.text.count("the registry is gone") == 2
    monkeypatch.setattr(MlflowClient, "get_run", broken)
    with (
        recorder() as server,
        pytest.raises(ZeroDivisionError),
        mlflow.start_run(),
        track(url=server.url),
    ):
        raise ZeroDivisionError
    assert server.events == []


def test_wrong_arguments_are_refused_before_the_training() -> None:
    with pytest.raises(SettingsError, match="no MLflow run"), track(url="http://h:1"):
        pass
    with mlflow.start_run():
        for wrong in (
            "/lake/a",
            [{"name": "x"}],
            [""],
            [{"namespace": "a", "name": "b", "versoin": "1"}],
        ):
            with pytest.raises(SettingsError), track(url="http://h:1", inputs=wrong):
                pass
        with pytest.raises(SettingsError, match="no http or https address"), track(url="ftp://h"):
            pass


def test_a_version_registered_later_is_linked_to_its_run() -> None:
    with recorder() as server:
        with mlflow.start_run() as run, track(url=server.url, job="nightly"):
            pass
        version = register("credit_risk", run.info.run_id)
        server.events.clear()
        assert attach("credit_risk", version, url=server.url)
    events = by_state(server)
    assert set(events) == {"START", "COMPLETE"}
    assert {event["job"]["name"] for event in server.events} == {"nightly"}
    assert events["COMPLETE"]["outputs"][0]["facets"]["version"]["datasetVersion"] == "1"
    assert "lineage_id" in MlflowClient().get_model_version("credit_risk", "1").tags


def test_a_version_of_no_run_is_made_by_its_registration() -> None:
    version = register("bought", None)
    with recorder() as server:
        assert attach("bought", version, url=server.url, inputs=["/vendor/model.bin"])
        assert attach("bought", version, url=server.url, inputs=["/vendor/model.bin"])
    first, second = server.events
    assert first == second
    assert faults(first) == []
    assert first["run"]["runId"] == model_version("bought", 1).run_id
    assert first["job"]["name"] == "register bought"
    assert names(first["inputs"]) == [("file", "/vendor/model.bin")]


def test_attaching_an_unknown_version_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    with recorder() as server:
        assert not attach("nobody", 1, url=server.url)
    assert "nobody" in caplog.text
    assert server.events == []


@pytest.mark.parametrize(
    ("uri", "namespace"),
    [
        ("http://MLflow:5000", "mlflow://mlflow:5000"),
        ("https://me:secret@host/mlflow/", "mlflow://host/mlflow"),
        ("postgresql://me:secret@db:5432/mlflow", "mlflow://db:5432/mlflow"),
        ("sqlite:////srv/mlflow.db", "mlflow:///srv/mlflow.db"),
        ("file:///srv/mlruns", "mlflow:///srv/mlruns"),
        ("databricks", "mlflow:///databricks"),
    ],
)
def test_a_server_is_named_by_its_address_alone(uri: str, namespace: str) -> None:
    if "://" in uri:
        assert server_namespace(uri) == namespace
    assert "secret" not in server_namespace(uri)
