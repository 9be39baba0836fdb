"""A training of a real MLflow with lineage: its features, its model version, a prediction that
cites it.

Run it beside `headwater up` and an MLflow server, which MLFLOW_TRACKING_URI names:

    python examples/mlflow_training.py http://127.0.0.1:8000
"""

from __future__ import annotations

import sys

import mlflow
from mlflow import MlflowClient

from headwater import Headwater
from headwater.mlflow_hooks import model_version, track

ROWS = [(0.2, False), (0.3, False), (0.5, True), (0.9, True)]
FEATURES = {"namespace": "feast", "name": "credit_features", "type": "FEATURE"}


def train(url: str, model: str = "credit_risk") -> str:
    """Train, register and return the new version's number."""
    with (
        mlflow.start_run(run_name="credit") as run,
        track(url=url, inputs=[FEATURES, "/lake/clean/defaults"]),
    ):
        threshold = min(utilisation for utilisation, defaulted in ROWS if defaulted)
        hits = sum((utilisation >= threshold) == defaulted for utilisation, defaulted in ROWS)
        mlflow.log_param("rows", len(ROWS))
        mlflow.log_metric("accuracy", hits / len(ROWS))
        registry = MlflowClient()
        if not registry.search_registered_models(f"name='{model}'"):
            registry.create_registered_model(model)
        return str(
            registry.create_model_version(
                model, f"runs:/{run.info.run_id}/model", run.info.run_id
            ).version
        )


def predict(url: str, version: str, model: str = "credit_risk") -> str:
    """Record a prediction, with the model version that made it."""
    cited = model_version(model, version)
    return Headwater(url).answer(
        "loan-4711", type="prediction", content="will default: 0.81", cites=[cited]
    )


if __name__ == "__main__":
    mlflow.set_experiment("credit scoring")
    print(predict(sys.argv[1], train(sys.argv[1])))
