"""`track` and `attach`: MLflow's runs and model versions told to Headwater, and Headwater's ids told to MLflow.

A run has the id of its MLflow run, written as a UUID. Its job is the experiment, unless it is given a name: MLflow
makes up another run name every time, and what is run again and again is one job. The tag `lineage_id` is set on the
MLflow run and on each of its model versions: the urn by which Headwater knows them, `headwater lineage <lineage_id>`.

Wrong arguments raise before the training begins. After that nothing does: what fails is logged, Headwater is given
two seconds at the end, and MLflow is asked through its own client, with that client's own timeouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import mlflow
from mlflow import MlflowClient

from headwater.client import Artifact
from headwater.errors import SettingsError
from headwater.mlflow_hooks.datasets import (
    Reference,
    Said,
    logged,
    merged,
    references,
    run_uuid,
    server_namespace,
)
from headwater.mlflow_hooks.delivery import SECONDS, Delivery, log
from headwater.mlflow_hooks.events import MODEL, Training, instant, run_event
from headwater.schema.headwater_facets import now
from headwater.schema.urns import artifact_urn, run_urn

LINEAGE_ID = "lineage_id"
# Kept on the MLflow run, so that whoever attaches a model version later tells of the same job.
LINEAGE_JOB = "lineage_job"
LINEAGE_NAMESPACE = "lineage_namespace"
ENDINGS = {"FINISHED": "COMPLETE", "FAILED": "FAIL", "KILLED": "ABORT"}


@contextmanager
def _harmless(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as fault:  # whatever MLflow or its server throws, the training goes on
        log.warning("%s: %s", what, fault)


@contextmanager
def track(
    *,
    url: str,
    inputs: Iterable[Said] = (),
    outputs: Iterable[Said] = (),
    job: str | None = None,
    namespace: str | None = None,
    api_key: str | None = None,
) -> Iterator[str]:
    """Tell Headwater at `url` of the active MLflow run; gives the run's urn.

    What it read is `inputs` and what `mlflow.log_input` was told; what it made is `outputs` and every version of a
    model that was registered from it. `namespace` is that of the job, the MLflow server when left out.
    """
    run = mlflow.active_run()
    if run is None:
        raise SettingsError("no MLflow run is active", hint="with mlflow.start_run(), track(...):")
    telling = _Telling(
        Delivery(url, api_key), run.info.run_id, references(inputs), references(outputs)
    )
    with _harmless("the start of this run was not told"):
        telling.begin(job, namespace)
    try:
        yield telling.urn
    except BaseException as fault:
        with _harmless("the end of this run was not told"):
            telling.end(
                "FAIL" if isinstance(fault, Exception) else "ABORT",
                f"{type(fault).__name__}: {fault}",
            )
        raise
    with _harmless("the end of this run was not told"):
        telling.end("COMPLETE")


class _Telling:
    """One run, from its beginning to its end."""

    def __init__(
        self, delivery: Delivery, mlflow_id: str, read: list[Reference], made: list[Reference]
    ) -> None:
        self.urn = run_urn(run_uuid(mlflow_id))
        self._delivery = delivery
        self._id = mlflow_id
        self._read, self._made = read, made
        self._client = MlflowClient()
        self._begun: Thread | None = None

    def begin(self, job: str | None, namespace: str | None) -> None:
        tags = {LINEAGE_ID: self.urn, LINEAGE_JOB: job, LINEAGE_NAMESPACE: namespace}
        for key, value in tags.items():
            if value:
                with _harmless(f"the MLflow run has no tag {key}"):
                    self._client.set_tag(self._id, key, value)
        run = self._client.get_run(self._id)
        event = run_event(
            _training(self._client, run, job, namespace),
            "START",
            instant(run.info.start_time),
            inputs=self._read,
            outputs=self._made,
        )
        self._begun = self._delivery.send_beside(event)

    def end(self, state: str, error: str | None = None) -> None:
        at = now()
        run = self._client.get_run(self._id)
        models = self._models()
        event = run_event(
            _training(self._client, run),
            state,
            at,
            inputs=merged([*self._read, *_logged(run)]),
            outputs=merged([*self._made, *models]),
            error=error,
        )
        self._delivery.send(event)
        if self._begun is not None:
            self._begun.join(SECONDS)

    def _models(self) -> list[Reference]:
        """The newest version of each model that was registered from this run; all of them are given their tag."""
        with _harmless("MLflow does not tell which models this run made"):
            found = list(self._client.search_model_versions(f"run_id='{self._id}'"))
            for version in found:
                _tag(self._client, version)
            return merged(
                map(
                    _reference,
                    sorted(found, key=lambda version: int(version.version), reverse=True),
                )
            )
        return []


def attach(
    name: str,
    version: str | int,
    *,
    url: str,
    inputs: Iterable[Said] = (),
    job: str | None = None,
    namespace: str | None = None,
    api_key: str | None = None,
) -> bool:
    """Tell Headwater of a model version that was registered elsewhere; True when Headwater has it.

    A version that MLflow has a run of comes from that run, which is told of as MLflow recorded it; any other was made
    when it was registered, by a job of its own, from `inputs`.
    """
    delivery, read = Delivery(url, api_key), references(inputs)
    sent = False
    with _harmless(f"version {version} of model {name!r} was not told"):
        client = MlflowClient()
        model = client.get_model_version(name, str(version))
        events = _recorded(client, model, read, job, namespace)
        # All of them, also where one is not taken.
        sent = sum(delivery.send(event) for event in events) == len(events)
        _tag(client, model)
    return sent


def model_version(name: str, version: str | int) -> Artifact:
    """A registered model version by its name in Headwater, to be cited by an answer or read by another training.

    Raises what MLflow raises when there is no such version.
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
    )


def _recorded(
    client: MlflowClient, model: Any, read: list[Reference], job: str | None, namespace: str | None
) -> list[dict[str, Any]]:
    made = [_reference(model)]
    if not model.run_id:
        server = namespace or server_namespace(mlflow.get_registry_uri())
        training = Training(
            _artifact(model).run_id, server, job or f"register {model.name}", mlflow.__version__
        )
        return [
            run_event(
                training, "COMPLETE", instant(model.creation_timestamp), inputs=read, outputs=made
            )
        ]
    run = client.get_run(model.run_id)
    training = _training(client, run, job, namespace)
    read = merged([*read, *_logged(run)])
    events = [run_event(training, "START", instant(run.info.start_time), inputs=read, outputs=made)]
    if run.info.status in ENDINGS and run.info.end_time:
        ending = ENDINGS[run.info.status]
        events.append(
            run_event(training, ending, instant(run.info.end_time), inputs=read, outputs=made)
        )
    return events


def _logged(run: Any) -> list[Reference]:
    return logged(run.inputs.dataset_inputs) if run.inputs else []


def _artifact(model: Any) -> Artifact:
    namespace = server_namespace(mlflow.get_registry_uri())
    own = model.run_id or f"{namespace}/{model.name}/{model.version}"
    return Artifact(namespace, model.name, run_uuid(own))


def _reference(model: Any) -> Reference:
    named = _artifact(model)
    return {
        "namespace": named.namespace,
        "name": named.name,
        "type": MODEL,
        "version": str(model.version),
    }


def _tag(client: MlflowClient, model: Any) -> None:
    named = _artifact(model)
    with _harmless(f"version {model.version} of model {model.name!r} has no tag {LINEAGE_ID}"):
        urn = artifact_urn(named.namespace, named.name, named.run_id)
        client.set_model_version_tag(model.name, str(model.version), LINEAGE_ID, urn)
