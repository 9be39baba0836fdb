"""The history of the pages of nodes, with facets as producers send them.

    raw -> load_orders -> orders -> make_report -> report <- best-customer (answer)

| minute | run | what happens |
|---|---|---|
| 0 | r1 | load_orders writes 100 rows of orders: id, amount as int, note |
| 60 | r2 | load_orders writes 120 rows: id, amount as double, customer; one check fails |
| 70 | report | make_report reads the 120 rows and writes 7 rows of report |
| 75 | | the answer best-customer cites report |
| 120 | bad | load_orders writes 5 rows, then fails |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.run_builders import FACET, Event, answer, run

SQL = "INSERT INTO orders\nSELECT id, amount, customer\nFROM raw"
LOGS = "https://logs.example.com/bad"
_FIRST = [("id", "long"), ("amount", "int"), ("note", "string")]
_SECOND = [("id", "long"), ("amount", "double"), ("customer", "string")]
_CHECKS = [
    {"assertion": "not_null", "column": "id", "success": True},
    {"assertion": "positive", "column": "amount", "success": False, "actual": "-3"},
]


def history() -> list[list[Event]]:
    """Return the events of the history, run by run."""
    return [
        _load("r1", 0, rows=100, fields=_FIRST),
        _load("r2", 60, rows=120, fields=_SECOND, checks=_CHECKS),
        _report(),
        answer("best-customer", "report", minute=75, content="Ann bought most."),
        _failed_load("bad", 120),
    ]


def _failed_load(run_id: str, minute: int) -> list[Event]:
    """Return a run of load_orders that fails after 5 rows, with its stack trace and its logs."""
    events = _load(run_id, minute, rows=5, fields=_SECOND, status="FAIL", error="no space left")
    for event in events:
        event["run"]["facets"]["cluster"] = {**FACET, "driverLogUrl": LOGS}
        if "errorMessage" in event["run"]["facets"]:
            event["run"]["facets"]["errorMessage"]["stackTrace"] = (
                "at Loader.java:7\nat Main.java:3"
            )
    return events


def _load(
    run_id: str,
    minute: int,
    *,
    rows: int,
    fields: Sequence[tuple[str, str]],
    checks: Sequence[dict[str, Any]] = (),
    **ending: Any,
) -> list[Event]:
    events = run(run_id, "load_orders", ["raw"], ["orders"], minute=minute, rows=rows, **ending)
    for event in events:
        event["job"]["facets"] = {
            "sql": {**FACET, "query": SQL},
            "ownership": {**FACET, "owners": [{"name": "team:orders"}]},
            "documentation": {**FACET, "description": "Loads the orders of the day."},
        }
        for output in event["outputs"]:
            output["facets"] = {
                "schema": {**FACET, "fields": [{"name": n, "type": kind} for n, kind in fields]},
                "ownership": {**FACET, "owners": [{"name": "team:orders"}]},
                "documentation": {**FACET, "description": "One row for each order."},
                "tags": {
                    **FACET,
                    "tags": [
                        {"key": "certified", "value": "true", "source": "test"},
                        {"key": "pii", "value": "name", "field": "customer", "source": "test"},
                    ],
                },
            }
            if checks:
                output["facets"]["dataQualityAssertions"] = {**FACET, "assertions": list(checks)}
    return events


def _report() -> list[Event]:
    events = run("report", "make_report", ["orders"], ["report"], minute=70, rows=7)
    for event in events:
        for output in event["outputs"]:
            output["facets"] = {"ownership": {**FACET, "owners": [{"name": "team:insight"}]}}
    return events
