"""Who a change affects, on the real graph; every severity worked out by hand.

The story of seed 001: raw_orders -> stg_orders -> fct_orders, read by a DAG whose SQL names the column and by a Spark
job of which nobody knows the code.
"""

from __future__ import annotations

from typing import Any

import pytest
from neo4j import Driver

from headwater.cypher.database import Database
from headwater.errors import NotFoundError, QueryError
from headwater.impact.assess import assess
from headwater.impact.changes import parse_changes
from headwater.impact.report import Affected, Report, report_json
from headwater.schema.sight import Sight
from headwater.schema.urns import column_urn
from tests.conftest import erase
from tests.scenes import columns, dataset, run_event, schema, told
from tests.stories import answer, ds, job, tell

pytestmark = pytest.mark.neo4j

RAW = ds("raw_orders")
RENAME = {"type": "column_rename", "from": "order_total", "to": "total_amount"}
DROP = {"type": "column_drop", "column": "legacy_discount_code"}
Event = dict[str, Any]


def kind_of(integration: str, type: str) -> Event:
    return {"jobType": {"processingType": "BATCH", "integration": integration, "jobType": type}}


def sql(text: str) -> Event:
    return {"sql": {"query": text}}


STG_SQL = """select order_id, order_total, legacy_discount_code is not null as had_discount
from raw_orders"""
FCT_SQL = """select order_id,
  sum(order_total) as order_total
from stg_orders
group by order_id"""
RAW_COLUMNS = schema(order_id="int", order_total="decimal(10,2)", legacy_discount_code="string", note="string")


def seed() -> list[Event]:
    """stg_orders by column lineage and SQL, fct_orders and the DAG by SQL, the Spark job by nothing."""
    stg = dataset(
        "stg_orders",
        {
            **schema(order_id="int", order_total="decimal(10,2)", had_discount="boolean"),
            **columns(
                order_id=[("raw_orders", "order_id")],
                order_total=[("raw_orders", "order_total")],
                had_discount=[("raw_orders", "legacy_discount_code")],
            ),
        },
    )
    fct = dataset("fct_orders", schema(order_id="int", order_total="decimal(10,2)"))
    owner = {"ownership": {"owners": [{"name": "team:finance"}]}}
    return [
        run_event("r1", inputs=[dataset("raw_orders", RAW_COLUMNS)], outputs=[stg], job="stg_orders",
                  job_facets={**kind_of("DBT", "MODEL"), **sql(STG_SQL)}),
        run_event("r2", inputs=["stg_orders"], outputs=[fct], job="fct_orders", minute=2,
                  job_facets={**kind_of("DBT", "MODEL"), **sql(FCT_SQL)}),
        run_event("r3", inputs=["fct_orders"], outputs=["revenue"], job="daily_revenue_report", minute=4,
                  job_facets={**kind_of("AIRFLOW", "DAG"), **sql("select sum(order_total) from fct_orders"), **owner}),
        run_event("r4", inputs=["fct_orders"], job="customer_ltv_model", minute=4,
                  job_facets=kind_of("SPARK", "APPLICATION")),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def shop(database: Database, graph_driver: Driver) -> Database:
    with graph_driver.session() as session:
        session.run(erase).consume()
    told(database, seed())
    return database


def assessed(database: Database, *changes: Event, urn: str = RAW, **more: Any) -> Report:
    return assess(database, parse_changes(list(changes), urn), **more)


def named(report: Report) -> dict[str, Affected]:
    return {one.name: one for one in report.affected}


def severities(report: Report) -> dict[str, str]:
    return {one.name: one.severity for one in report.affected}


def test_the_report_of_seed_001(shop: Database) -> None:
    report = assessed(shop, RENAME, DROP)
    assert [(one.name, one.asset_type, ", ".join(one.references), one.severity) for one in report.affected] == [
        ("stg_orders", "dbt_model", "order_total, legacy_discount_code", "breaking"),
        ("fct_orders", "dbt_model", "order_total", "breaking"),
        ("daily_revenue_report", "dag", "order_total", "breaking"),
        ("customer_ltv_model", "spark_job", "order_total", "warning"),
    ]
    assert (report.risk_level, report.affected_count, report.truncated) == ("high", 4, "")
    assert [one.distance for one in report.affected] == [1, 2, 3, 3]
    assert report.owners == ["team:finance"]
