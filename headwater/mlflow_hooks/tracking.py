"""`track` and `attach`: report MLflow's runs and model versions to Headwater, and tag them with
their urns.

A run has the id of its MLflow run, written as a UUID. Its job is the experiment, unless `job` names
it: MLflow invents a new run name every time, and repeated trainings are one job. The tag
`lineage_id` of the MLflow run and of each of its model versions is the urn in Headwater: `headwater
lineage <lineage_id>`. The tag `lineage_uri` of a model version is the address of the model's page.

Wrong arguments raise before the training begins. Later nothing raises: failures are logged,
Headwater gets two seconds at the end, and MLflow's own client applies its own timeouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import Any
from urllib.parse import quote

import mlflow
from mlflow import MlflowClient

from headwater.client import Artifact
from headwater.errors import SettingsError
from headwater.mlflow_hooks.datasets import (
    DatasetLike,
    Reference,
    logged,
    references,
    run_uuid,
    server_namespace,
    unique,
)
from headwater.mlflow_hooks.delivery import SECONDS, Delivery, log
from headwater.mlflow_hooks.events import MODEL, Training, instant, run_event
from headwater.mlflow_hooks.features import Feature, logged_data, model_features
from headwater.schema.headwater_facets import now
from headwater.schema.urns import artifact_urn, dataset_urn, run_urn

LINEAGE_ID = "lineage_id"
# The address of the page of the model in Headwater.
LINEAGE_URI = "lineage_uri"
# Tags of the MLflow run, so that a later `attach` of its model version names the same job.
LINEAGE_JOB = "lineage_job"
LINEAGE_NAMESPACE = "lineage_namespace"
ENDINGS = {"FINISHED": "COMPLETE", "FAILED": "FAIL", "KILLED": "ABORT"}


@contextmanager
def _log_failure(event: str, **fields: str) -> Iterator[None]:
    """Log an error of MLflow or its server instead of raising it."""
    try:
        yield
    except Exception as fault:  # a training must not fail because of its lineage
        details = "".join(f" {key}={value}" for key, value in fields.items())
        log.warning("%s%s reason=%s", event, details, fault)


@contextmanager
def track(
    *,
    url: str,
    inputs: Iterable[DatasetLike] = (),
    outputs: Iterable[DatasetLike] = (),
    job: str | None = None,
    namespace: str | None = None,
    api_key: str | None = None,
) -> Iterator[str]:
    """Report the active MLflow run, from the beginning to the end of a `with` block.

    The run reads `inputs` and the inputs of `mlflow.log_input`. It writes `outputs` and every
    version of a model that was registered from it.

    Args:
        url: Address of Headwater.
        inputs: Datasets that the training reads: paths, results of `headwater.client` or of
            `model_version`, or mappings with `namespace` and `name`.
        outputs: Datasets that the training writes, in the same forms.
        job: Name of the job; by default that of the experiment.
        namespace: Namespace of the job; by default that of the MLflow server.
        api_key: API key, if Headwater needs one.

    Yields:
        The urn of the run.

    Raises:
        SettingsError: No MLflow run is active, or an argument is wrong.
    """
    run = mlflow.active_run()
    if run is None:
        raise SettingsError(
            "no MLflow run is active", hint="Write `with mlflow.start_run(), track(...):`."
        )
    reporter = _RunReporter(
        Delivery(url, api_key), run.info.run_id, references(inputs), references(outputs)
    )
    with _log_failure("run_start_not_reported"):
        reporter.begin(job, namespace)
    try:
        yield reporter.urn
    except BaseException as fault:
        with _log_failure("run_end_not_reported"):
            reporter.end(
                "FAIL" if isinstance(fault, Exception) else "ABORT",
                f"{type(fault).__name__}: {fault}",
            )
        raise
    with _log_failure("run_end_not_reported"):
        reporter.end("COMPLETE")


class _RunReporter:
    """Reports one run, from its beginning to its end."""

    def __init__(
        self,
        delivery: Delivery,
        mlflow_id: str,
        inputs: list[Reference],
        outputs: list[Reference],
    ) -> None:
        self.urn = run_urn(run_uuid(mlflow_id))
        self._delivery = delivery
        self._id = mlflow_id
        self._inputs, self._outputs = inputs, outputs
        self._client = MlflowClient()
        self._features: dict[str, tuple[Feature, ...]] = {}
        self._start_thread: Thread | None = None

    def begin(self, job: str | None, namespace: str | None) -> None:
        """Tag the MLflow run and report its start in the background."""
        tags = {LINEAGE_ID: self.urn, LINEAGE_JOB: job, LINEAGE_NAMESPACE: namespace}
        for key, value in tags.items():
            if value:
                with _log_failure("mlflow_run_not_tagged", tag=key):
                    self._client.set_tag(self._id, key, value)
        run = self._client.get_run(self._id)
        event = run_event(
            _training(self._client, run, job, namespace),
            "START",
            instant(run.info.start_time),
            inputs=self._inputs,
            outputs=self._outputs,
        )
        self._start_thread = self._delivery.send_in_background(event)

    def end(self, state: str, error: str | None = None) -> None:
        """Report the end of the run with the model versions that it registered."""
        ended_at = now()
        run = self._client.get_run(self._id)
        models = self._models()
        event = run_event(
            replace(_training(self._client, run), features=self._features),
            state,
            ended_at,
            inputs=unique([*self._inputs, *_logged(run)]),
            outputs=unique([*self._outputs, *models]),
            error=error,
        )
        self._delivery.send(event)
        if self._start_thread is not None:
            self._start_thread.join(SECONDS)

    def _models(self) -> list[Reference]:
        """Tag the model versions registered from this run; return the newest of each model."""
        with _log_failure("model_versions_not_found"):
            versions = list(self._client.search_model_versions(f"run_id='{self._id}'"))
            for version in versions:
                _tag(self._client, version, self._delivery)
            newest_first = sorted(versions, key=lambda version: int(version.version), reverse=True)
            for version in newest_first:
                self._features.setdefault(version.name, _features(version))
            return unique(map(_reference, newest_first))
        return []


def attach(
    name: str,
    version: str | int,
    *,
    url: str,
    inputs: Iterable[DatasetLike] = (),
    job: str | None = None,
    namespace: str | None = None,
    api_key: str | None = None,
) -> bool:
    """Report a model version that was registered elsewhere.

    If MLflow has a run of the version, that run made it, as MLflow recorded it. Otherwise a job of
    its own made it from `inputs` when it was registered.

    Args:
        name: Name of the registered model.
        version: Number of the version.
        url: Address of Headwater.
        inputs: Datasets that the version was made from, as in `track`.
        job: Name of the job; by default that of the experiment, or `register <name>`.
        namespace: Namespace of the job; by default that of the MLflow server.
        api_key: API key, if Headwater needs one.

    Returns:
        True if Headwater accepted all events.

    Raises:
        SettingsError: An argument is wrong.
    """
    delivery, read = Delivery(url, api_key), references(inputs)
    is_complete = False
    with _log_failure("model_version_not_reported", model=name, version=str(version)):
        client = MlflowClient()
        model = client.get_model_version(name, str(version))
        events = _attach_events(client, model, read, job, namespace)
        # Send all of them, even if one is not accepted.
        accepted = [delivery.send(event) for event in events]
        is_complete = all(accepted)
        _tag(client, model, delivery)
    return is_complete


def model_version(name: str, version: str | int) -> Artifact:
    """Return a registered model version, to be cited by an answer or read by another training.

    Args:
        name: Name of the registered model.
        version: Number of the version.

    Returns:
        The version, under its name in Headwater.

    Raises:
        mlflow.exceptions.MlflowException: There is no such version.
    """
    return _artifact(MlflowClient().get_model_version(name, str(version)))


def _training(
    client: MlflowClient, run: Any, job: str | None = None, namespace: str | None = None
) -> Training:
    tags = dict(run.data.tags)
    experiment = client.get_experiment(run.info.experiment_id).name
    mine = {LINEAGE_ID, LINEAGE_JOB, LINEAGE_NAMESPACE}
    return Training(
        run_id=run_uuid(run.info.run_id),
        namespace=namespace
        or tags.get(LINEAGE_NAMESPACE)
        or server_namespace(mlflow.get_tracking_uri()),
        job=job or tags.get(LINEAGE_JOB) or experiment,
        mlflow_version=mlflow.__version__,
        mlflow_run_id=run.info.run_id,
        name=run.info.run_name or "",
        experiment=experiment,
        params=run.data.params,
        metrics=run.data.metrics,
        tags={key: value for key, value in tags.items() if key not in mine},
        data=logged_data(run.inputs.dataset_inputs) if run.inputs else (),
    )


def _attach_events(
    client: MlflowClient, model: Any, read: list[Reference], job: str | None, namespace: str | None
) -> list[dict[str, Any]]:
    outputs, features = [_reference(model)], {model.name: _features(model)}
    if not model.run_id:
        server = namespace or server_namespace(mlflow.get_registry_uri())
        training = Training(
            _artifact(model).run_id,
            server,
            job or f"register {model.name}",
            mlflow.__version__,
            features=features,
        )
        return [
            run_event(
                training,
                "COMPLETE",
                instant(model.creation_timestamp),
                inputs=read,
                outputs=outputs,
            )
        ]
    run = client.get_run(model.run_id)
    training = replace(_training(client, run, job, namespace), features=features)
    read = unique([*read, *_logged(run)])
    events = [
        run_event(training, "START", instant(run.info.start_time), inputs=read, outputs=outputs)
    ]
    if run.info.status in ENDINGS and run.info.end_time:
        ending = ENDINGS[run.info.status]
        events.append(
            run_event(training, ending, instant(run.info.end_time), inputs=read, outputs=outputs)
        )
    return events


def _logged(run: Any) -> list[Reference]:
    return logged(run.inputs.dataset_inputs) if run.inputs else []


def _artifact(model: Any) -> Artifact:
    namespace = server_namespace(mlflow.get_registry_uri())
    own = model.run_id or f"{namespace}/{model.name}/{model.version}"
    return Artifact(namespace, model.name, run_uuid(own))


def _reference(model: Any) -> Reference:
    artifact = _artifact(model)
    return {
        "namespace": artifact.namespace,
        "name": artifact.name,
        "type": MODEL,
        "version": str(model.version),
    }


def _features(model: Any) -> tuple[Feature, ...]:
    """Return the features of a model version; empty if its files cannot be read."""
    with _log_failure("model_features_not_read", model=model.name, version=str(model.version)):
        return model_features(model.name, str(model.version))
    return ()


def _tag(client: MlflowClient, model: Any, delivery: Delivery) -> None:
    """Set the urn of a model version and the address of the page of its model as tags."""
    artifact = _artifact(model)
    urn = artifact_urn(artifact.namespace, artifact.name, artifact.run_id)
    page = dataset_urn(artifact.namespace, artifact.name)
    tags = {LINEAGE_ID: urn, LINEAGE_URI: f"{delivery.origin}/datasets/{quote(page, safe='')}"}
    for key, value in tags.items():
        with _log_failure(
            "model_version_not_tagged", model=model.name, version=str(model.version), tag=key
        ):
            client.set_model_version_tag(model.name, str(model.version), key, value)
