"""The regular days of the shop, before anything unusual happens.

    raw.orders* -> load_orders -> orders* ------> build_lines -> order_lines -> build_revenue -> revenue**
    raw.prices  -> load_prices -> prices ------------^                               ^             |
    raw.returns -> load_returns -> returns ------------------------------------------'    revenue-report (answer)
    raw.returns -> audit_returns -> returns_audit                    revenue -> nightly_export -> feed
    raw.customers_2023 -> load_customers -> customers -> build_features -> churn_features
                                      orders* ----------------^       churn_features -> train_churn -> churn_model (a model)
    raw.legacy_stock -> load_stock -> stock -> report_stock -> stock_report <- stock-dashboard (answer)
    revenue -> check_revenue      raw.budget -> load_budget -> budget (Monday to Friday)           raw.clicks -> sessionize -> sessions (a stream)

`*` is certified, `**` is of the critical tier. Every night each job runs once; times are UTC.
"""

from __future__ import annotations

from typing import Any

from headwater.schema import headwater_facets as native
from tests.health.findings.thirty_days.plan import (
    DAYS,
    Delivery,
    Output,
    Plan,
    Run,
    at,
    dataset_event,
    text,
)

ORDERS = {"order_id": "long", "amount": "decimal(10,2)", "quantity": "int", "discount": "decimal(10,2)", "legacy_flag": "string"}  # fmt: skip
RETURNS = {"order_id": "long", "amount": "decimal(10,2)"}
CUSTOMERS = {"customer_id": "long", "email": "string", "since": "date", "city": "varchar(20)"}
SCHEMAS = {
    "raw.orders": ORDERS,
    "orders": ORDERS,
    "raw.prices": {"sku": "string", "price": "decimal(10,2)"},
    "prices": {"sku": "string", "price": "decimal(10,2)"},
    "raw.returns": RETURNS,
    "returns": RETURNS,
    "returns_audit": RETURNS,
    "raw.customers_2023": CUSTOMERS,
    "customers": CUSTOMERS,
    "raw.legacy_stock": {"sku": "string", "quantity": "int"},
    "stock": {"sku": "string", "quantity": "int"},
    "stock_report": {"sku": "string", "quantity": "int"},
    "order_lines": {"order_id": "long", "amount": "decimal(10,2)", "quantity": "int", "discount": "decimal(10,2)", "price": "decimal(10,2)"},
    "revenue": {"branch": "string", "revenue": "decimal(12,2)", "returned": "decimal(12,2)"},
    "feed": {"branch": "string", "revenue": "decimal(12,2)"},
    "churn_features": {"customer_id": "long", "tenure": "double", "orders": "long"},
    "budget": {"branch": "string", "budget": "decimal(12,2)"},
}  # fmt: skip


def same(source: str, *names: str) -> dict[str, list[tuple[str, str]]]:
    """Return the lineage of columns that keep their names."""
    return {name: [(source, name)] for name in names}


SOURCES = {
    "orders": same("raw.orders", "order_id", "amount", "quantity", "discount"),
    "prices": same("raw.prices", "sku", "price"),
    "returns": same("raw.returns", "order_id", "amount"),
    "returns_audit": same("raw.returns", "order_id", "amount"),
    "customers": same("raw.customers_2023", "customer_id", "email", "since", "city"),
    "stock": same("raw.legacy_stock", "sku", "quantity"),
    "stock_report": same("stock", "sku", "quantity"),
    "order_lines": same("orders", "order_id", "amount", "quantity", "discount")
    | same("prices", "price"),
    "revenue": {
        "revenue": [("order_lines", "amount"), ("order_lines", "discount")],
        "returned": [("returns", "amount")],
    },
    "feed": same("revenue", "branch", "revenue"),
    "churn_features": {
        "customer_id": [("customers", "customer_id")],
        "tenure": [("customers", "since")],
        "orders": [("orders", "order_id")],
    },
    "budget": same("raw.budget", "branch", "budget"),
}

# Job -> start, minutes, inputs, output (or "" for none), owner.
JOBS: dict[str, tuple[str, float, list[str], str, str]] = {
    "load_orders": ("02:00", 5, ["raw.orders"], "orders", "team:shop"),
    "load_prices": ("02:10", 5, ["raw.prices"], "prices", "team:pricing"),
    "load_customers": ("02:20", 5, ["raw.customers_2023"], "customers", "team:crm"),
    "load_returns": ("02:30", 5, ["raw.returns"], "returns", "team:shop"),
    "load_stock": ("02:40", 5, ["raw.legacy_stock"], "stock", "team:stock"),
    "build_lines": ("03:00", 5, ["orders", "prices"], "order_lines", "team:finance"),
    "report_stock": ("03:15", 5, ["stock"], "stock_report", "team:stock"),
    "build_revenue": ("03:30", 5, ["order_lines", "returns"], "revenue", "team:finance"),
    "check_revenue": ("03:45", 5, ["revenue"], "", "team:finance"),
    "build_features": ("04:00", 10, ["customers", "orders"], "churn_features", "team:science"),
    "train_churn": ("05:00", 20, ["churn_features"], "churn_model", "team:science"),
    "nightly_export": ("05:00", 5, ["revenue"], "feed", "team:finance"),
    "audit_returns": ("05:30", 5, ["raw.returns"], "returns_audit", "team:audit"),
    "load_budget": ("06:00", 5, ["raw.budget"], "budget", "team:finance"),
}
# Source -> time of its delivery.
DELIVERIES = {
    "raw.orders": "01:00",
    "raw.prices": "01:10",
    "raw.returns": "01:20",
    "raw.customers_2023": "01:30",
    "raw.legacy_stock": "01:40",
    "raw.budget": "01:50",
}
MODEL = {"datasetType": {"datasetType": "MODEL"}}
_REPORTED = "06:30"


def is_workday(day: int) -> bool:
    return day % 7 not in (6, 0)


def regular_days() -> Plan:
    """Return thirty days in which nothing unusual happens."""
    plan = Plan()
    for day in range(1, DAYS + 1):
        for name, time in DELIVERIES.items():
            if name != "raw.budget" or is_workday(day):
                schema = SCHEMAS.get(name, {})
                plan.deliveries[name, day] = Delivery(name, at(day, time), dict(schema))
        for job in JOBS:
            if job != "load_budget" or is_workday(day):
                plan.runs[job, day] = _run(job, day)
        _answer(plan, "revenue-report", "revenue", day, "team:finance")
        _answer(plan, "stock-dashboard", "stock_report", day, "team:stock")
    _measure(plan)
    _tag(plan)
    return plan


def _run(job: str, day: int) -> Run:
    time, minutes, inputs, output, owner = JOBS[job]
    written = Output(output, dict(SCHEMAS.get(output, {})), dict(SOURCES.get(output, {})))
    goes = f"INSERT OVERWRITE {output} " if output else ""
    if output == "churn_model":
        written.facets.update(MODEL)
    return Run(
        job,
        f"{job}-{day:02}",
        at(day, time),
        minutes,
        inputs=list(inputs),
        outputs=[written] if output else [],
        sql=f"{goes}SELECT * FROM {inputs[0]}",
        version="1.0",
        owner=owner,
    )


def _answer(plan: Plan, name: str, cites: str, day: int, owner: str) -> None:
    when = at(day, _REPORTED)
    event = native.answer_event(
        name,
        cites=[{"namespace": "db", "name": cites}],
        generated_at=text(when),
        content=f"As of day {day}.",
        owners=[owner],
    )
    plan.send(when, event)


def _measure(plan: Plan) -> None:
    """Give each version the measures of an ordinary day, with a little noise."""
    for day in range(1, DAYS + 1):
        noise = (day * 7) % 5 - 2
        plan.runs["load_customers", day].output.rows = 2000 + 3 * noise
        plan.runs["load_customers", day].output.measures = {
            "email": {"nullCount": 40 + noise, "distinctCount": 1950 + noise},
            "city": {"nullCount": 0, "distinctCount": 80},
        }
        features = plan.runs["build_features", day].output
        features.rows = 2000 + 3 * noise
        count = 2000 + 3 * noise
        features.measures = {
            "tenure": {"nullCount": 0, "count": count, "sum": count * (40 + 0.2 * noise)}
        }
        plan.runs["build_lines", day].output.rows = 30000 + 100 * noise
        plan.runs["load_orders", day].output.rows = 10000 + 40 * noise
        plan.runs["build_revenue", day].output.rows = 50
        checks = {"revenue_is_positive": True, "branch_is_unique": True}
        plan.runs["check_revenue", day].checks = checks
        plan.runs["report_stock", day].output.rows = 700 + noise


def _tag(plan: Plan) -> None:
    for name, tag in (
        ("raw.orders", {"key": "certified", "value": "true"}),
        ("orders", {"key": "certified", "value": "true"}),
        ("revenue", {"key": "critical", "value": "true"}),
    ):
        when = at(1, "00:30")
        facets: dict[str, Any] = {"tags": {"tags": [{**tag, "source": "steward"}]}}
        plan.send(when, dataset_event(name, when, facets))
    # Streams have a start, and never an end.
    stream = Run(
        "sessionize",
        "sessionize-1",
        at(1, "00:10"),
        status=None,
        inputs=["raw.clicks"],
        outputs=[Output("sessions", {"session_id": "string"})],
        owner="team:web",
        job_facets={
            "jobType": {"processingType": "STREAMING", "integration": "FLINK", "jobType": "JOB"}
        },
        earlier=tuple(("RUNNING", 60.0 * 24 * day + 1) for day in range(DAYS)),
    )
    plan.add(stream)
    plan.send(
        at(1, "00:05"),
        native.source_event(
            "raw.clicks", namespace="db", origin="web", captured_at=text(at(1, "00:05"))
        ),
    )
