"""Lineage from a team's MLflow: trainings become runs, model versions become versions of datasets.

    from headwater.mlflow_hooks import track

    with mlflow.start_run(), track(url="http://headwater:8000", inputs=["/lake/features/credit"]):
        ...
        mlflow.register_model(f"runs:/{run_id}/model", "credit_risk")

`track` reports the active run, `attach` a model version that was registered elsewhere.
`model_version` names a version so that an answer can cite it. A training never fails because of
Headwater, and waits for it for seconds at most. A failure to send is logged.
"""

from headwater.mlflow_hooks.tracking import attach, model_version, track

__all__ = ["attach", "model_version", "track"]
