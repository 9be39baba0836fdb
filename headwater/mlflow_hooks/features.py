"""The features of models and the columns and digests of their training data, as MLflow has them.

The features of a model version are the inputs of its signature. The columns of training data are
those of the schema that `mlflow.log_input` logged. Features and columns with the same name are the
same: MLflow's flavours select the columns of a table by the names in the signature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from headwater.mlflow_hooks.datasets import logged

FEATURES_MAX = 2_000


class Feature(NamedTuple):
    """An input of the signature of a model, with MLflow's name of its type."""

    name: str
    type: str


class Data(NamedTuple):
    """What MLflow logged about a dataset: its digest and its columns."""

    namespace: str
    name: str
    digest: str
    columns: tuple[str, ...]


def model_features(name: str, version: str) -> tuple[Feature, ...]:
    """Return the features of a registered model version; empty without a signature with names.

    Raises:
        mlflow.exceptions.MlflowException: The files of the version cannot be read.
    """
    # The module loads numpy and pandas, which a program without models need not have.
    from mlflow.models import get_model_info

    signature = get_model_info(f"models:/{name}/{version}").signature
    fields = signature.inputs.to_dict() if signature and signature.inputs else []
    return tuple(
        Feature(str(field["name"]), str(field.get("type", "")))
        for field in fields[:FEATURES_MAX]
        if field.get("name")
    )


def logged_data(inputs: Iterable[Any]) -> tuple[Data, ...]:
    """Return the inputs of `mlflow.log_input` that have a location, with digests and columns."""
    found = []
    for input in inputs:
        for reference in logged([input]):
            columns = _columns(input.dataset.schema)
            digest = str(input.dataset.digest or "")
            found.append(Data(reference["namespace"], reference["name"], digest, columns))
    return tuple(found)


def _columns(schema: str | None) -> tuple[str, ...]:
    """Return the names of the columns in the schema of a logged dataset."""
    try:
        decoded = json.loads(schema or "null")
    except (ValueError, RecursionError):
        return ()
    fields = decoded.get("mlflow_colspec") if isinstance(decoded, Mapping) else None
    if not isinstance(fields, list):
        return ()
    names = [field.get("name") for field in fields if isinstance(field, Mapping)]
    return tuple(name for name in names[:FEATURES_MAX] if isinstance(name, str) and name)
