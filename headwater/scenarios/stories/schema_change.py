"""A producer renames a column without a word, and the consumers stand still.

    raw.orders -> load_orders -> orders -> build_revenue -> revenue -> revenue-report (an answer)

Tonight the delivery has total_amount in place of order_total. load_orders fails, and build_revenue
makes the report of tonight from the orders of yesterday.
"""

from __future__ import annotations

from headwater.scenarios.investigation import compare_tables
from headwater.scenarios.stage import Stage
from headwater.scenarios.story import Story
from headwater.scenarios.truth import Cause, Truth
from headwater.scenarios.workshop import Job, Rows, Workshop, select

NIGHTS = 8
ORDERS = {"order_id": "int", "branch": "string", "order_total": "double"}
RENAMED = {"order_id": "int", "branch": "string", "total_amount": "double"}
REVENUE = {"branch": "string", "revenue": "double"}


def raw_orders(night: int, column: str = "order_total") -> Rows:
    """Return the orders of a night."""
    return [
        {
            "order_id": number,
            "branch": f"B{number % 5}",
            column: 10.0 + (number * 3 + night) % 20,
        }
        for number in range(200)
    ]


def load(orders: Rows) -> Rows:
    """Copy the columns that the revenue needs."""
    return select(orders, ORDERS)


def load_renamed(orders: Rows) -> Rows:
    """Copy the columns under their old names, whatever the producer calls the total."""
    return load([{"order_total": row.get("total_amount"), **row} for row in orders])


def revenue(orders: Rows) -> Rows:
    """Return the revenue of each branch."""
    sums: dict[str, float] = {}
    for row in orders:
        sums[row["branch"]] = sums.get(row["branch"], 0.0) + row["order_total"]
    return [{"branch": branch, "revenue": total} for branch, total in sorted(sums.items())]


def loading(total: str = "order_total") -> Job:
    """Return the job that copies the orders, with the name of the column of the total."""
    columns = {name: [("raw.orders", name)] for name in ("order_id", "branch")}
    columns["order_total"] = [("raw.orders", total)]
    is_new = total != "order_total"
    return Job(
        "load_orders",
        ("raw.orders",),
        "orders",
        load_renamed if is_new else load,
        ORDERS,
        columns,
        owner="team:shop",
        version="2.0" if is_new else "1.0",
    )


BUILD = Job(
    "build_revenue",
    ("orders",),
    "revenue",
    revenue,
    REVENUE,
    {"branch": [("orders", "branch")], "revenue": [("orders", "order_total")]},
    owner="team:finance",
)


def batch(shop: Workshop, night: int, load_job: Job, minute: float = 0) -> None:
    """Run both jobs and write the report; without new orders, the old ones are used again."""
    shop.run(load_job, shop.night(night, minute + 5))
    shop.run(BUILD, shop.night(night, minute + 10))
    when = shop.night(night, minute + 15)
    shop.answer("revenue-report", f"The revenue of night {night}.", "revenue", when, "team:finance")


def prepare(shop: Workshop) -> None:
    for night in range(NIGHTS, 0, -1):
        shop.deliver("raw.orders", raw_orders(night), ORDERS, shop.night(night))
        batch(shop, night, loading())


def inject(shop: Workshop) -> None:
    shop.deliver("raw.orders", raw_orders(0, "total_amount"), RENAMED, shop.night(0))
    batch(shop, 0, loading())
    shop.replay_from("job:load_orders")


def repair(shop: Workshop) -> None:
    batch(shop, 0, loading("total_amount"), minute=120)


def check_revenue(stage: Stage) -> None:
    expected = revenue(raw_orders(0))
    found = stage.workshop.read("revenue")
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
    fault="raw.orders arrives with total_amount in place of order_total",
    repaired="load_orders reads the new name, and both jobs run again",
    origin="seed 2, L95",
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
            Cause("FAILED", ("load_orders", "order_total")),
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
        answers=frozenset({"dataset:raw.orders"}),
    ),
)
