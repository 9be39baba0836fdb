"""A history of the last five hours for the dashboards on-call and debug.

    raw -> load_orders -> orders (certified) -> make_report -> report <- best-customer (answer)

| minute | run | what happens |
|---|---|---|
| 0 | r1 | load_orders writes 100 rows of orders: id, amount |
| 10, 20, 30 | s1, s2, s3 | sum_up takes one minute each time |
| 60 | r2 | load_orders writes 120 rows: id, amount, customer |
| 70 | report | make_report reads the 120 rows and writes 7 rows of report |
| 75 | | the answer best-customer cites report |
| 100 | crawl-1 | crawl fails; nothing reads its pages |
| 110 | crawl-2 | crawl completes |
| 120 | bad-1 | load_orders writes 5 rows, then fails |
| 130 | child | starts inside the run dag, which ends at 140; child sends no end |
| 180 | bad-2 | load_orders writes 5 rows, then fails |
| 200 | s4 | sum_up starts, and is still under way |
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tests.event_builders import run_event
from tests.run_builders import FACET, Event, answer, run

HISTORY_MINUTES = 300
_FIRST = ["id", "amount"]
_SECOND = ["id", "amount", "customer"]


def history() -> list[list[Event]]:
    """Return the events of the history, run by run."""
    begin = _begin()
    dag = {"parent": {"run": {"runId": "dag"}, "job": {"namespace": "etl", "name": "dag"}}}
    return [
        _load("r1", begin, rows=100, columns=_FIRST),
        *(run(f"s{n}", "sum_up", minute=begin + 10 * n) for n in (1, 2, 3)),
        _load("r2", begin + 60, rows=120, columns=_SECOND),
        _owned(run("report", "make_report", ["orders"], ["report"], minute=begin + 70), "insight"),
        answer("best-customer", "report", minute=begin + 75, content="Ann bought most."),
        run("crawl-1", "crawl", [], ["pages"], minute=begin + 100, status="FAIL", error="HTTP 503"),
        run("crawl-2", "crawl", [], ["pages"], minute=begin + 110),
        _failed_load("bad-1", begin + 120),
        [run_event("dag", "START", begin + 125, job="dag")],
        [run_event("child", "START", begin + 130, job="child", facets=dag)],
        [run_event("dag", "COMPLETE", begin + 140, job="dag")],
        _failed_load("bad-2", begin + 180),
        [run_event("s4", "START", begin + 200, job="sum_up")],
    ]


def new_failure(number: int) -> list[Event]:
    """Return a failure that comes after the history."""
    return _failed_load(f"late-{number}", _begin() + 240)


def _begin() -> int:
    """Return the minutes from the builders' midnight to the beginning of the history."""
    begin = datetime.now(UTC) - timedelta(minutes=HISTORY_MINUTES)
    return int((begin - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds() // 60)


def _failed_load(run_id: str, minute: int) -> list[Event]:
    error = "no space left on device"
    return _load(run_id, minute, rows=5, columns=_SECOND, status="FAIL", error=error)


def _load(
    run_id: str,
    minute: int,
    *,
    rows: int,
    columns: Sequence[str],
    status: str = "COMPLETE",
    error: str | None = None,
) -> list[Event]:
    events = run(
        run_id,
        "load_orders",
        ["raw"],
        ["orders"],
        minute=minute,
        rows=rows,
        status=status,
        error=error,
    )
    fields = [{"name": name, "type": "string"} for name in columns]
    tags = [{"key": "certified", "value": "true", "source": "test"}]
    for event in _owned(events, "orders"):
        for output in event["outputs"]:
            output["facets"]["schema"] = {**FACET, "fields": fields}
            output["facets"]["tags"] = {**FACET, "tags": tags}
    return events


def _owned(events: list[Event], team: str) -> list[Event]:
    """Give the job and the outputs of a run an owner."""
    ownership = {**FACET, "owners": [{"name": f"team:{team}"}]}
    for event in events:
        event["job"]["facets"] = {"ownership": ownership}
        for output in event["outputs"]:
            output["facets"] = {**output.get("facets", {}), "ownership": ownership}
    return events
