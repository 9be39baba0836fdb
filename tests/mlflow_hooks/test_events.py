"""Events of a training."""

from __future__ import annotations

import json

from headwater.mlflow_hooks.events import CHARACTERS_MAX, VALUES_MAX, Training, instant, run_event
from headwater.schema.facets import FACETS, Entity, fault_of

NOON = "2026-01-01T12:00:00.000Z"


def test_an_instant_is_iso_8601_in_utc() -> None:
    assert instant(1_767_268_800_000) == NOON


def test_metrics_without_a_json_number_are_text_and_values_are_bounded() -> None:
    params = {f"p{number:04}": "x" * 1_000 for number in range(VALUES_MAX + 1)}
    training = Training(
        "r",
        "mlflow://h",
        "churn",
        "3.0",
        params=params,
        metrics={"loss": float("nan"), "auc": 0.5},
        tags={"mlflow.user": "somebody", "team": "growth"},
    )
    facets = run_event(training, "COMPLETE", NOON)["run"]["facets"]
    assert facets["headwater_mlflow"]["metrics"] == {"auc": 0.5, "loss": "nan"}
    parameters = facets["executionParameters"]["parameters"]
    assert (len(parameters), len(parameters[0]["value"])) == (VALUES_MAX, CHARACTERS_MAX)
    assert [tag["key"] for tag in facets["tags"]["tags"]] == ["team"]


def test_an_input_has_the_run_that_made_it_and_an_output_its_version() -> None:
    read = {"namespace": "db", "name": "t", "runId": "q"}
    model = {"namespace": "mlflow://h", "name": "m", "type": "MODEL", "version": "3"}
    training = Training("r", "mlflow://h", "churn", "3.0")
    event = run_event(training, "FAIL", NOON, inputs=[read], outputs=[model], error="no")
    assert event["inputs"][0]["inputFacets"]["headwater_artifact"]["runId"] == "q"
    assert event["outputs"][0]["facets"]["version"]["datasetVersion"] == "3"
    assert event["run"]["facets"]["errorMessage"]["message"] == "no"
    facets = [("run", event["run"]["facets"]), ("job", event["job"]["facets"])]
    for entity, owned in facets:
        for key, facet in owned.items():
            kind: Entity = "run" if entity == "run" else "job"
            assert (kind, key) in FACETS
            assert fault_of(kind, key, json.dumps(facet).encode()) is None
