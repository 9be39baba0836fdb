"""What runs beside a team's MLflow: trainings become runs, model versions become versions of datasets.

    from headwater.mlflow_hooks import track

    with mlflow.start_run(), track(url="http://headwater:8000", inputs=["/lake/features/credit"]):
        ...
        mlflow.register_model(f"runs:/{run_id}/model", "credit_risk")

`track` tells of the active run, `attach` of a model version that was registered elsewhere, `model_version` names one
so that an answer can cite it. Lineage never costs a training its result: what can not be sent is logged, and what
Headwater may cost is seconds.
"""

from headwater.mlflow_hooks.tracking import attach, model_version, track

__all__ = ["attach", "model_version", "track"]
