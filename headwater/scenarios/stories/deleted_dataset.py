"""A cleanup deletes a table that the nightly jobs still need.

    raw.sales -> load_sales -> staging_sales -> build_daily -> daily_sales
    daily_sales -> sales-report (an answer)
    cleanup drops staging_sales

Tonight the cleanup runs before build_daily, which finds no file.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.rows import Rows
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Workshop

NIGHTS = 8
SALES = {"sale_id": "int", "shop": "string", "amount": "double"}
DAILY = {"shop": "string", "total": "double"}


def raw_sales(night: int) -> Rows:
    """Return the sales of a night."""
    return [
        {"sale_id": number, "shop": f"S{number % 6}", "amount": 5.0 + (number + night) % 15}
        for number in range(180)
    ]


def load(sales: Rows) -> Rows:
    """Copy the sales."""
    return [dict(row) for row in sales]


def total(sales: Rows) -> Rows:
    """Return the total of each shop."""
    sums: dict[str, float] = {}
    for row in sales:
        sums[row["shop"]] = sums.get(row["shop"], 0.0) + row["amount"]
    return [{"shop": shop, "total": value} for shop, value in sorted(sums.items())]


LOAD = Job(
    "load_sales",
    ("raw.sales",),
    "staging_sales",
    load,
    SALES,
    {name: [("raw.sales", name)] for name in SALES},
    owner="team:shop",
)
BUILD = Job(
    "build_daily",
    ("staging_sales",),
    "daily_sales",
    total,
    DAILY,
    {"shop": [("staging_sales", "shop")], "total": [("staging_sales", "amount")]},
    owner="team:finance",
)


def batch(shop: Workshop, night: int, minute: float = 0, *, cleans: bool = False) -> None:
    shop.run(LOAD, shop.night(night, minute + 5))
    if cleans:
        shop.drop("cleanup", "staging_sales", shop.night(night, minute + 8))
    shop.run(BUILD, shop.night(night, minute + 12))
    when = shop.night(night, minute + 15)
    shop.answer("sales-report", f"The sales of night {night}.", "daily_sales", when, "team:sales")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        shop.deliver("raw.sales", raw_sales(night), SALES, shop.night(night))
        batch(shop, night)


def inject(shop: Workshop) -> None:
    shop.deliver("raw.sales", raw_sales(0), SALES, shop.night(0))
    batch(shop, 0, cleans=True)
    shop.replay_from("job:build_daily")


def repair(shop: Workshop) -> None:
    batch(shop, 0, minute=120)


def compare_totals(stage: Stage) -> None:
    expected = total(raw_sales(0))
    found = stage.workshop.read("daily_sales")
    compare_tables(
        stage,
        "the totals of tonight, by hand and by the jobs that ran again",
        {
            row["shop"]: (row["total"], other["total"])
            for row, other in zip(expected, found, strict=True)
        },
    )


STORY = Story(
    name="deleted-dataset",
    title="A cleanup deletes a table that a nightly job needs",
    fault="the cleanup drops staging_sales before build_daily reads it",
    repaired="the cleanup leaves the table alone, and both jobs run again",
    origin="seed 2, L99",
    prepare=prepare,
    inject=inject,
    repair=repair,
    verify=compare_totals,
    truth=Truth(
        findings=frozenset(
            {("failed-run", "job:build_daily"), ("stale-answer", "answer:sales-report")}
        ),
        root=("failed-run", "job:build_daily"),
        tier="P1",
        symptom="answer:sales-report",
        causes=(Cause("FAILED", ("build_daily", "FileNotFoundError", "staging_sales")),),
        consumers=frozenset({"dataset:daily_sales", "answer:sales-report"}),
        replay=(("job:build_daily",),),
        answers=frozenset({"job:cleanup", "dataset:staging_sales"}),
    ),
)
