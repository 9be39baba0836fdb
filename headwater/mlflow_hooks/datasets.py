"""Resolve the inputs and outputs of a training to datasets, from user arguments or from MLflow.
Pure.

A dataset is a path (or URI of a file), a result of `headwater.client` or `model_version`, or a
mapping with `namespace` and `name`. A mapping may also have `type` (FEATURE, VIEW, TOPIC, FILE,
REPORT, MODEL, ...), `version` (the producer's name of the version) and `runId` (the run that made
it). A path gets the name that Spark's listener gives it, so that a training reads the tables that
Spark wrote.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from headwater.client import Artifact, Source
from headwater.errors import SettingsError
from headwater.spark_hooks.naming import dataset_name

DatasetLike = str | os.PathLike[str] | Source | Artifact | Mapping[str, str]
Reference = dict[str, str]

KEYS = frozenset({"namespace", "name", "type", "version", "runId"})
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:/")
_MLFLOW_ID = re.compile(r"[0-9a-f]{32}", re.IGNORECASE | re.ASCII)
# The field of an MLflow source that has its location, by type; file systems have `uri`, with a
# scheme.
_LOCATION_FIELDS = {"local": "uri", "http": "url", "delta_table": "path", "spark": "path"}


def run_uuid(mlflow_id: str) -> str:
    """Return the run id of an MLflow run, whose own id is a UUID without its dashes."""
    return str(
        UUID(mlflow_id)
        if _MLFLOW_ID.fullmatch(mlflow_id)
        else uuid5(NAMESPACE_URL, f"mlflow:{mlflow_id}")
    )


def server_namespace(uri: str) -> str:
    """Return the namespace of an MLflow server or store: its address without scheme, user and
    password.
    """
    parts = urlsplit(uri)
    host = parts.netloc.rpartition("@")[2]
    if not host and not parts.path.strip("/"):
        return f"mlflow://{parts.scheme or 'local'}"
    path = parts.path if parts.scheme or host else os.path.abspath(parts.path)
    return f"mlflow://{host.lower()}{'/' if path.strip('/') else ''}{path.strip('/')}"


def references(datasets: Iterable[DatasetLike]) -> list[Reference]:
    """Return each dataset once, in order.

    Raises SettingsError for a value that is no dataset.
    """
    if isinstance(datasets, (str, os.PathLike, Mapping)):
        raise SettingsError("inputs and outputs must be lists of datasets")
    return unique(_reference(dataset) for dataset in datasets)


def unique(references: Iterable[Reference]) -> list[Reference]:
    """Return the first reference to each dataset, in order."""
    once: dict[tuple[str, str], Reference] = {}
    for reference in references:
        once.setdefault((reference["namespace"], reference["name"]), reference)
    return list(once.values())


def _reference(dataset: DatasetLike) -> Reference:
    if isinstance(dataset, (Source, Artifact)):
        return dataset.reference
    if isinstance(dataset, Mapping):
        unknown = dataset.keys() - KEYS
        if unknown or not dataset.get("namespace") or not dataset.get("name"):
            raise SettingsError(
                "a dataset must have namespace and name, and may have type, version and runId:"
                f" {dict(dataset)!r}"
            )
        return {key: str(value) for key, value in dataset.items()}
    if isinstance(dataset, (str, os.PathLike)) and os.fspath(dataset).strip():
        return _file_reference(os.fspath(dataset))
    raise SettingsError(f"{dataset!r} is neither a path nor a dataset")


def _file_reference(path: str) -> Reference:
    namespace, name = dataset_name(path if _SCHEME.match(path) else os.path.abspath(path))
    return {"namespace": namespace, "name": name}


def logged(inputs: Iterable[Any]) -> list[Reference]:
    """Return the datasets of the inputs that `mlflow.log_input` logged.

    A table without its catalog, a snippet of code and rows made in the program have no location.
    They are omitted.
    """
    references: list[Reference] = []
    for input in inputs:
        references += _logged(input.dataset.source_type, input.dataset.source)
    return unique(references)


def _logged(source_type: str, source: str) -> list[Reference]:
    try:
        fields = json.loads(source)
    except (ValueError, RecursionError):
        return []
    if not isinstance(fields, dict):
        return []
    location = fields.get(_LOCATION_FIELDS.get(source_type, "uri"))
    if not isinstance(location, str) or not location.strip():
        return []
    return (
        [_file_reference(location)]
        if source_type in _LOCATION_FIELDS or _SCHEME.match(location)
        else []
    )
