"""A real MLflow without a server: its file store, with its model registry in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import mlflow

# MLflow wants this said since it keeps its file store only for those who have one; the registry of
# its small package has no other.
ALLOWED = {"MLFLOW_ALLOW_FILE_STORE": "true"}


@contextmanager
def file_store(folder: Path, experiment: str) -> Iterator[str]:
    uri = (folder / "mlruns").as_uri()
    with patch.dict(os.environ, ALLOWED):
        mlflow.set_tracking_uri(uri)
        mlflow.set_registry_uri(uri)
        mlflow.set_experiment(experiment)
        yield uri
        while mlflow.active_run():
            mlflow.end_run()
