"""A producer renames a column without a word, and the consumers stand still.

    web.orders -> export_orders -> raw.orders -> load_orders -> orders
    orders -> build_revenue -> revenue -> revenue-report (an answer)

Each job is a Spark application with the OpenLineage listener. Tonight version 2.0 of export_orders
writes total_amount in place of order_total. load_orders declares its columns, so Spark refuses the
file, and the run fails. build_revenue makes the report of tonight from the orders of yesterday.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.spark_workshop import SparkJob, submit
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Workshop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NIGHTS = 3
ORDERS = {"order_id": "integer", "branch": "string", "order_total": "double"}
RENAMED = {"order_id": "integer", "branch": "string", "total_amount": "double"}
REVENUE = {"branch": "string", "revenue": "double"}


def web_orders(night: int) -> Rows:
    """Return the orders of a night."""
    return [
        {
            "order_id": number,
            "branch": f"B{number % 5}",
            "order_total": 10.0 + (number * 3 + night) % 20,
        }
        for number in range(200)
    ]


def export(orders: DataFrame) -> DataFrame:
    """Return the orders as the web shop has them."""
    return orders


def export_renamed(orders: DataFrame) -> DataFrame:
    """Return the orders, with a new name for the total."""
    return orders.withColumnRenamed("order_total", "total_amount")


def load(orders: DataFrame) -> DataFrame:
    """Return the columns that the revenue needs."""
    return orders.select("order_id", "branch", "order_total")


def load_renamed(orders: DataFrame) -> DataFrame:
    """Return the columns under their old names."""
    return orders.selectExpr("order_id", "branch", "total_amount AS order_total")


def sum_revenue(orders: DataFrame) -> DataFrame:
    """Return the revenue of each branch."""
    return orders.groupBy("branch").sum("order_total").toDF("branch", "revenue")


def revenue(orders: Rows) -> Rows:
    """Return the revenue of each branch."""
    sums: dict[str, float] = {}
    for row in orders:
        sums[row["branch"]] = sums.get(row["branch"], 0.0) + row["order_total"]
    return [{"branch": branch, "revenue": total} for branch, total in sorted(sums.items())]


def exporting(*, renamed: bool = False) -> SparkJob:
    """Return the job of the producer, or its version 2.0."""
    return SparkJob(
        "export_orders",
        {"web.orders": ORDERS},
        "raw.orders",
        export_renamed if renamed else export,
        RENAMED if renamed else ORDERS,
        owner="team:web",
        version="2.0" if renamed else "1.0",
        format="csv",
    )


def loading(*, renamed: bool = False) -> SparkJob:
    """Return the job that copies the orders, or its version for the new column."""
    return SparkJob(
        "load_orders",
        {"raw.orders": RENAMED if renamed else ORDERS},
        "orders",
        load_renamed if renamed else load,
        ORDERS,
        owner="team:shop",
        version="2.0" if renamed else "1.0",
    )


BUILD = SparkJob(
    "build_revenue", {"orders": ORDERS}, "revenue", sum_revenue, REVENUE, owner="team:finance"
)


def batch(shop: Workshop, night: int, load_job: SparkJob, minute: float = 0) -> None:
    """Run both jobs and write the report; without new orders, the old ones are used again."""
    submit(shop, load_job, shop.night(night, minute + 5))
    submit(shop, BUILD, shop.night(night, minute + 10))
    when = shop.night(night, minute + 15)
    shop.answer("revenue-report", f"The revenue of night {night}.", "revenue", when, "team:finance")


def deliver(shop: Workshop, night: int, export_job: SparkJob) -> None:
    shop.deliver("web.orders", web_orders(night), ORDERS, shop.night(night))
    submit(shop, export_job, shop.night(night, 1))


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        deliver(shop, night, exporting())
        batch(shop, night, loading())


def inject(shop: Workshop) -> None:
    deliver(shop, 0, exporting(renamed=True))
    batch(shop, 0, loading())
    shop.replay_from("job:load_orders")


def repair(shop: Workshop) -> None:
    batch(shop, 0, loading(renamed=True), minute=120)


def check_revenue(stage: Stage) -> None:
    expected = revenue(web_orders(0))
    found = sorted(stage.workshop.read("revenue"), key=lambda row: str(row["branch"]))
    compare_tables(
        stage,
        "the revenue of tonight, by hand and by the repaired job",
        {
            row["branch"]: (row["revenue"], other["revenue"])
            for row, other in zip(expected, found, strict=True)
        },
    )


STORY = Story(
    name="schema-change",
    title="A producer renames a column without a word",
    fault="version 2.0 of export_orders writes total_amount in place of order_total",
    repaired="load_orders reads the new name, and both jobs run again",
    origin="seed 2, L95",
    uses_spark=True,
    prepare=prepare,
    inject=inject,
    repair=repair,
    verify=check_revenue,
    truth=Truth(
        findings=frozenset(
            {
                ("schema-drift", "dataset:raw.orders"),
                ("failed-run", "job:load_orders"),
                ("stale-answer", "answer:revenue-report"),
            }
        ),
        root=("schema-drift", "dataset:raw.orders"),
        tier="P1",
        symptom="answer:revenue-report",
        causes=(
            Cause("FAILED", ("load_orders",)),
            Cause("SCHEMA_CHANGED", ("raw.orders", "dropped: order_total", "total_amount")),
        ),
        consumers=frozenset(
            {
                "job:load_orders",
                "dataset:orders",
                "job:build_revenue",
                "dataset:revenue",
                "answer:revenue-report",
            }
        ),
        replay=(("job:load_orders",), ("job:build_revenue",)),
        answers=frozenset({"dataset:raw.orders", "job:export_orders"}),
    ),
)
