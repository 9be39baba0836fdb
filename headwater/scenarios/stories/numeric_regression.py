"""A new version of a job has a bug in its arithmetic, and no run fails.

    raw.prices -> convert_prices -> prices_eur -> build_margins -> margins
    margins -> margin-report (an answer)

Both jobs are Spark applications with the OpenLineage listener. Version 2.0 of convert_prices keeps
the rate as a whole number: 1 in place of 1.2837.
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

# So many that a night at a weekend has an earlier one at a weekend, whichever night the fault is.
NIGHTS = 6
RATE = 1.2837
COST = 15.0
PRICES = {"sku": "string", "price": "double"}
MARGINS = {"group": "string", "margin": "double"}


def raw_prices(night: int) -> Rows:
    """Return the prices of a night, which move a little."""
    return [
        {"sku": f"{'ABCD'[number % 4]}{number:03}", "price": 20.0 + number % 50 + night % 3 / 10}
        for number in range(200)
    ]


def convert(prices: Rows) -> Rows:
    """Convert the prices, in full precision."""
    return [{"sku": row["sku"], "price": round(row["price"] * RATE, 4)} for row in prices]


def margins(prices: Rows) -> Rows:
    """Return the mean margin of each group of goods."""
    found: dict[str, list[float]] = {}
    for row in prices:
        found.setdefault(row["sku"][0], []).append(row["price"] - COST)
    return [
        {"group": group, "margin": round(sum(values) / len(values), 4)}
        for group, values in sorted(found.items())
    ]


def convert_frame(prices: DataFrame) -> DataFrame:
    """Convert the prices, in full precision."""
    return prices.selectExpr("sku", f"round(price * {RATE}D, 4) AS price")


def convert_frame_whole(prices: DataFrame) -> DataFrame:
    """Convert the prices by a rate that is cut to a whole number."""
    return prices.selectExpr("sku", f"round(price * CAST({RATE} AS INT), 4) AS price")


def mean_margins(prices: DataFrame) -> DataFrame:
    """Return the mean margin of each group of goods."""
    margin = prices.selectExpr("substring(sku, 1, 1) AS `group`", f"price - {COST} AS margin")
    means = margin.groupBy("group").avg("margin").toDF("group", "mean")
    return means.selectExpr("`group`", "round(mean, 4) AS margin")


def conversion(*, broken: bool = False) -> SparkJob:
    """Return the job of version 1.9, or the broken one of 2.0."""
    return SparkJob(
        "convert_prices",
        {"raw.prices": PRICES},
        "prices_eur",
        convert_frame_whole if broken else convert_frame,
        PRICES,
        owner="team:pricing",
        version="2.0" if broken else "1.9",
    )


BUILD = SparkJob(
    "build_margins", {"prices_eur": PRICES}, "margins", mean_margins, MARGINS, owner="team:finance"
)


def batch(shop: Workshop, night: int, convert_job: SparkJob, minute: float = 0) -> None:
    submit(shop, convert_job, shop.night(night, minute + 5))
    submit(shop, BUILD, shop.night(night, minute + 10))
    when = shop.night(night, minute + 15)
    shop.answer("margin-report", f"The margins of night {night}.", "margins", when, "team:finance")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        shop.deliver("raw.prices", raw_prices(night), PRICES, shop.night(night))
        batch(shop, night, conversion())


def inject(shop: Workshop) -> None:
    shop.deliver("raw.prices", raw_prices(0), PRICES, shop.night(0))
    batch(shop, 0, conversion(broken=True))
    shop.replay_from("job:convert_prices")


def repair(shop: Workshop) -> None:
    batch(shop, 0, conversion(), minute=60)


def compare_margins(stage: Stage) -> None:
    expected = margins(convert(raw_prices(0)))
    found = sorted(stage.workshop.read("margins"), key=lambda row: str(row["group"]))
    compare_tables(
        stage,
        "the margins of tonight, by hand and by the job that runs 1.9 again",
        {
            row["group"]: (round(row["margin"], 2), round(other["margin"], 2))
            for row, other in zip(expected, found, strict=True)
        },
    )


STORY = Story(
    name="numeric-regression",
    title="A new version of a job cuts off decimals",
    fault="version 2.0 of convert_prices takes the rate 1.2837 as 1",
    repaired="version 1.9 is back, and both jobs run again",
    origin="seed 2, L98",
    uses_spark=True,
    prepare=prepare,
    inject=inject,
    repair=repair,
    verify=compare_margins,
    truth=Truth(
        findings=frozenset({("mean", "dataset:prices_eur"), ("mean", "dataset:margins")}),
        root=("mean", "dataset:prices_eur"),
        tier="P2",
        symptom="dataset:margins",
        causes=(
            Cause("CODE_CHANGED", ("convert_prices", "ran code 2.0", "1.9")),
            Cause("COLUMN_MEASURE_CHANGED", ("prices_eur", "price")),
        ),
        consumers=frozenset({"job:build_margins", "dataset:margins", "answer:margin-report"}),
        replay=(("job:convert_prices",), ("job:build_margins",)),
        answers=frozenset({"job:convert_prices", "dataset:prices_eur"}),
    ),
)
