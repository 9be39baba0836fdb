"""A day of a shop in Airflow: two SQL tasks, one that succeeds at its second try, one that fails.

Airflow reads this file in its own environment; Headwater does not import it, and mypy has no
Airflow.
"""

# mypy: ignore-errors

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.sdk import DAG, Asset, task

SHOP = Path(os.environ["SHOP"])
ONCE_MORE = {"retries": 1, "retry_delay": timedelta(0)}
ORDERS = [
    "create table if not exists orders (order_id integer, customer text, amount real)",
    "insert into orders values (10, 'Ada', 12.5), (11, 'Ada', 40.0), (12, 'Grace', 7.25)",
]
SPENT = [
    "create table if not exists spent (customer text, amount real)",
    "insert into spent select customer, sum(amount) from orders group by customer",
]


def asset(name: str) -> Asset:
    """Return an asset, which each task declares, because SQL on SQLite reports no tables."""
    return Asset(f"file://{SHOP}/{name}")


with DAG("shop", schedule=None, start_date=datetime(2026, 1, 1), catchup=False, tags=["shop"]):
    load = SQLExecuteQueryOperator(
        task_id="load_orders", conn_id="till", sql=ORDERS, outlets=[asset("orders")]
    )
    spend = SQLExecuteQueryOperator(
        task_id="sum_orders",
        conn_id="till",
        sql=SPENT,
        inlets=[asset("orders")],
        outlets=[asset("spent")],
    )

    @task(inlets=[asset("spent"), asset("prices")], outlets=[asset("labels")], **ONCE_MORE)
    def print_labels() -> None:
        marker = SHOP / "tried"
        if not marker.exists():
            marker.touch()
            raise ConnectionError("the printer is asleep")

    @task(inlets=[asset("labels")], outlets=[asset("report")], **ONCE_MORE)
    def write_report() -> None:
        raise ValueError("the printer is out of paper")

    load >> spend >> print_labels() >> write_report()
