"""Convert an MLflow run to OpenLineage events. Pure.

The facet `executionParameters` has the parameters, `headwater_mlflow` the metrics and the digests
of the training data, and `tags` MLflow's ids and the tags of users. A registered version of a model
is an output of type MODEL with the facet `version`. Its features are its `schema`; `columnLineage`
leads from each to the columns of the training data with that name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from headwater.mlflow_hooks.datasets import Reference
from headwater.mlflow_hooks.features import Data, Feature
from headwater.schema.headwater_facets import ARTIFACT_FACET, PRODUCER

MLFLOW_FACET = "headwater_mlflow"
VALUES_MAX = 500
CHARACTERS_MAX = 500
MODEL = "MODEL"

_SPEC = "https://openlineage.io/spec"
_NAMES = {
    "columnLineage": ("1-2-0", "ColumnLineageDatasetFacet"),
    "datasetType": ("1-0-1", "DatasetTypeDatasetFacet"),
    "errorMessage": ("1-0-1", "ErrorMessageRunFacet"),
    "executionParameters": ("1-0-0", "ExecutionParametersRunFacet"),
    "jobType": ("2-0-4", "JobTypeJobFacet"),
    "processing_engine": ("1-1-1", "ProcessingEngineRunFacet"),
    "lineage": ("1-0-0", "LineageDatasetFacet"),
    "schema": ("1-1-1", "SchemaDatasetFacet"),
    "tags": ("1-0-0", "TagsRunFacet"),
    "version": ("1-0-1", "DatasetVersionDatasetFacet"),
}

Event = dict[str, Any]


@dataclass(frozen=True)
class Training:
    """A training run, as MLflow recorded it."""

    run_id: str
    namespace: str
    job: str
    mlflow_version: str
    mlflow_run_id: str = ""
    name: str = ""
    experiment: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    # By the name of a model, its features; and what MLflow logged about the training data.
    features: Mapping[str, tuple[Feature, ...]] = field(default_factory=dict)
    data: tuple[Data, ...] = ()


def instant(milliseconds: int) -> str:
    """Return an instant of MLflow (milliseconds since 1970) as ISO 8601."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_event(
    training: Training,
    state: str,
    event_time: str,
    *,
    inputs: Sequence[Reference] = (),
    outputs: Sequence[Reference] = (),
    error: str | None = None,
) -> Event:
    """Return one event of a training: START, RUNNING, COMPLETE, FAIL or ABORT."""
    facets = _run_facets(training)
    if error is not None:
        facets |= _facet("errorMessage", message=error, programmingLanguage="python")
    kind = _facet("jobType", processingType="BATCH", integration="MLFLOW", jobType="JOB")
    return {
        "eventType": state,
        "eventTime": event_time,
        "producer": PRODUCER,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": training.run_id, "facets": facets},
        "job": {"namespace": training.namespace, "name": training.job, "facets": kind},
        "inputs": [_dataset(reference, is_input=True) for reference in inputs],
        "outputs": [_output(reference, training, inputs) for reference in outputs],
    }


def _facet(key: str, **fields: Any) -> dict[str, Any]:
    if key in _NAMES:
        version, name = _NAMES[key]
        file = "LineageFacet" if key == "lineage" else name
        schema = f"{_SPEC}/facets/{version}/{file}.json#/$defs/{name}"
    else:
        schema = f"{PRODUCER}/facets/{key}.json"
    return {key: {"_producer": PRODUCER, "_schemaURL": schema, **fields}}


def _dataset(reference: Reference, *, is_input: bool) -> Event:
    facets: dict[str, Any] = {}
    if reference.get("type"):
        facets |= _facet("datasetType", datasetType=reference["type"])
    if reference.get("version"):
        facets |= _facet("version", datasetVersion=reference["version"])
    dataset: Event = {
        "namespace": reference["namespace"],
        "name": reference["name"],
        "facets": facets,
    }
    if is_input and reference.get("runId"):
        dataset["inputFacets"] = _facet(ARTIFACT_FACET, runId=reference["runId"])
    return dataset


def _output(reference: Reference, training: Training, inputs: Sequence[Reference]) -> Event:
    """Return an output; a model with its features and where they come from."""
    dataset = _dataset(reference, is_input=False)
    features = training.features.get(reference["name"], ())
    if reference.get("type") != MODEL or not features:
        return dataset
    fields = [{"name": feature.name, "type": feature.type} for feature in features]
    facets = _facet("schema", fields=fields)
    origins = _origins(features, training.data)
    if origins:
        facets |= _facet("columnLineage", fields=origins)
        # Inputs without known columns are origins of the model too.
        known = [
            {"namespace": one["namespace"], "name": one["name"], "type": "DATASET"}
            for one in inputs
        ]
        facets |= _facet("lineage", inputs=known)
    dataset["facets"] |= facets
    return dataset


def _origins(features: Sequence[Feature], data: Sequence[Data]) -> dict[str, Any]:
    """Return the columns of the training data that have the name of each feature."""
    origins: dict[str, Any] = {}
    for feature in features:
        columns = [
            {"namespace": one.namespace, "name": one.name, "field": feature.name}
            for one in data
            if feature.name in one.columns
        ]
        if columns:
            origins[feature.name] = {"inputFields": columns}
    return origins


def _run_facets(training: Training) -> dict[str, Any]:
    facets = _facet("processing_engine", version=training.mlflow_version, name="MLflow")
    own = {
        "mlflow.run_id": training.mlflow_run_id,
        "mlflow.run_name": training.name,
        "mlflow.experiment": training.experiment,
    }
    # MLflow's own tags identify a person and a machine: only tags of users are sent.
    user_tags = {
        key: value for key, value in training.tags.items() if not key.startswith("mlflow.")
    }
    tags = [
        {"key": key, "value": value, "source": "MLFLOW"}
        for key, value in _truncated({**own, **user_tags}).items()
        if value
    ]
    facets |= _facet("tags", tags=tags) if tags else {}
    if training.params:
        pairs = [
            {"key": key, "name": key, "value": value}
            for key, value in _truncated(training.params).items()
        ]
        facets |= _facet("executionParameters", parameters=pairs)
    digests = [
        {"namespace": one.namespace, "name": one.name, "digest": one.digest[:CHARACTERS_MAX]}
        for one in training.data[:VALUES_MAX]
        if one.digest
    ]
    own_facet: dict[str, Any] = {"data": digests} if digests else {}
    if training.metrics:
        own_facet["metrics"] = _numbers(training.metrics)
    return facets | (_facet(MLFLOW_FACET, **own_facet) if own_facet else {})


def _truncated(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the first values, shortened, so that the event stays within the accepted size."""
    return {key: str(texts[key])[:CHARACTERS_MAX] for key in list(texts)[:VALUES_MAX]}


def _numbers(metrics: Mapping[str, float]) -> dict[str, float | str]:
    """Return the first metrics, NaN and infinity as text: JSON has no such numbers."""
    limited = {key: metrics[key] for key in sorted(metrics)[:VALUES_MAX]}
    return {key: value if math.isfinite(value) else str(value) for key, value in limited.items()}
