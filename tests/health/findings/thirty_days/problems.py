"""The twelve planted problems. Each function says what goes wrong, and edits the plan.

`expected.py` lists the findings and alerts that follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headwater.schema import headwater_facets as native
from tests.health.findings.thirty_days.plan import Plan, Run, at, text
from tests.health.findings.thirty_days.shop import SCHEMAS

PROBLEMS: list[Callable[[Plan], None]] = []


def problem(edit: Callable[[Plan], None]) -> Callable[[Plan], None]:
    PROBLEMS.append(edit)
    return edit


def again(run: Run, day: int, time: str, suffix: str = "b") -> Run:
    """Return a further run of the same job on the same day."""
    outputs = [replace(one) for one in run.outputs]
    return replace(
        run,
        id=f"{run.id}{suffix}",
        start=at(day, time),
        minutes=5,
        status="COMPLETE",
        error=None,
        outputs=outputs,
    )


def fail(run: Run, error: str, minutes: float = 1) -> None:
    run.status, run.error, run.minutes = "FAIL", error, minutes


@problem
def late_retry(plan: Plan) -> None:
    """Day 9: the orders fail at 02:01, and a retry two hours later succeeds."""
    run = plan.runs["load_orders", 9]
    plan.add(again(run, 9, "04:00"))
    fail(run, "connection refused")


@problem
def failed_load(plan: Plan) -> None:
    """Day 11: the stock fails, so the report of the stock does not start.

    The next day both run. In between the stock, its report and the dashboard become stale.
    """
    fail(plan.runs["load_stock", 11], "disk full")
    plan.skip("report_stock", 11)


@problem
def dropped_column(plan: Plan) -> None:
    """Day 12: a release of build_lines loses the column discount, which the revenue is made from.

    The revenue fails at 03:31. A second release brings the column back at 09:05; the revenue
    succeeds at 09:35.
    """
    lines = plan.runs["build_lines", 12]
    plan.add(again(lines, 12, "09:00"))
    plan.add(again(plan.runs["build_revenue", 12], 12, "09:30"))
    lost = dict(lines.output.schema)
    del lost["discount"]
    sources = {name: pairs for name, pairs in lines.output.sources.items() if name != "discount"}
    lines.outputs = [replace(lines.output, schema=lost, sources=sources)]
    lines.sql, lines.version = "INSERT OVERWRITE order_lines SELECT order_id, amount", "2.0"
    fail(plan.runs["build_revenue", 12], "column discount does not exist")
    # The release after it has another version too.
    for run in plan.each("build_lines", 13):
        run.version = "2.1"


@problem
def missing_run(plan: Plan) -> None:
    """Day 14: the scheduler loses the load of the customers; it runs again on day 15."""
    plan.skip("load_customers", 14)


@problem
def retyped_source(plan: Plan) -> None:
    """Day 15: the amount of raw.returns is a string from 01:20 on, and stays one.

    Its two readers run at 02:30 and 05:30 and succeed; load_returns hands the string on.
    """
    for day in range(15, 31):
        plan.deliveries["raw.returns", day].schema = {"order_id": "long", "amount": "string"}
        run = plan.runs["load_returns", day]
        run.outputs = [replace(run.output, schema={"order_id": "long", "amount": "string"})]


@problem
def stale_source(plan: Plan) -> None:
    """Days 17 and 18: no prices are delivered. Their load waits for a delivery, so it does not run."""
    for day in (17, 18):
        del plan.deliveries["raw.prices", day]
        plan.skip("load_prices", day)


@problem
def lost_rows(plan: Plan) -> None:
    """Day 19: half of the orders are lost, and so are half of their lines."""
    plan.runs["load_orders", 19].output.rows = 5500
    plan.runs["build_lines", 19].output.rows = 16000


@problem
def failed_check(plan: Plan) -> None:
    """Day 21: the check revenue_is_positive fails; it passes again on day 22."""
    plan.runs["check_revenue", 21].checks["revenue_is_positive"] = False


@problem
def changed_code(plan: Plan) -> None:
    """From day 22 on report_stock runs other SQL; its version still says 1.0."""
    for run in plan.each("report_stock", 22):
        run.sql = "INSERT OVERWRITE stock_report SELECT sku, 2 * quantity FROM stock"


@problem
def moved_mean(plan: Plan) -> None:
    """Day 23: the mean tenure is 48 instead of 40, for one day."""
    features = plan.runs["build_features", 23].output
    features.measures = {"tenure": {"nullCount": 0, "count": 2000, "sum": 96000}}


@problem
def changed_input(plan: Plan) -> None:
    """Day 25: the customers come from the file of 2024, where a third of the e-mails is missing.

    On day 26 they come from the file of 2023 again.
    """
    run = plan.runs["load_customers", 25]
    run.inputs = ["raw.customers_2024"]
    names = SCHEMAS["customers"]
    sources = {name: [("raw.customers_2024", name)] for name in names}
    email = {"nullCount": 680.0, "distinctCount": 1950.0}
    measures = {**run.output.measures, "email": email}
    run.outputs = [replace(run.output, sources=sources, measures=measures)]


@problem
def deprecated_source(plan: Plan) -> None:
    """Day 20, 17:00: raw.legacy_stock is deprecated; load_stock reads it on."""
    when = at(20, "17:00")
    plan.send(
        when,
        native.deprecation_event(
            "db", "raw.legacy_stock", reason="Use raw.stock.", by="ann", event_time=text(when)
        ),
    )
