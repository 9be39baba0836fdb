"""A real MLflow without a server: its file store, with its model registry in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import mlflow

# MLflow's file store requires this opt-in; MLflow's small package has no other registry.
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
