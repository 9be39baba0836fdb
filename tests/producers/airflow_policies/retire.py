"""A DAG that drops a table, once the policies of a Headwater allow it.

Airflow reads this file in its own environment; mypy has no Airflow.
"""

# mypy: ignore-errors

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from airflow.sdk import DAG, task

from headwater.airflow.policies import PolicyOperator

with DAG("retire", schedule=None, start_date=datetime(2026, 1, 1), catchup=False):
    may_drop = PolicyOperator(task_id="may_drop", action="drop", dataset=os.environ["RETIRED"])

    @task
    def drop_table() -> None:
        Path(os.environ["DROPPED"]).touch()

    may_drop >> drop_table()
