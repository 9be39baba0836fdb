"""Findings on the history of stories.py, as the detectors report them."""

from __future__ import annotations

from urllib.parse import quote

from headwater.cypher.driver.database import Database
from headwater.health.findings.models import Consumer, Finding, Tier
from tests.health.findings.builders import episode, finding, save
from tests.run_builders import ds, job, version

REPORT = Consumer("answer:best-customer", "ANSWER", ("team:board",), is_critical=True)
TABLE = Consumer(ds("report"), "DATASET", ("team:report",), is_critical=False)
FAILED = finding(
    episode(
        "failed-run",
        job("load_orders"),
        121,
        key="run:bad",
        run="run:bad",
        error="no space left",
        attempt=1,
        failures=1,
        outputs=[ds("orders")],
    ),
    Tier.P1,
    owners=["team:orders"],
    datasets=2,
    jobs=1,
    answers=1,
    critical=2,
    consumers=[REPORT, TABLE],
)
STALE = finding(
    episode(
        "stale-dataset",
        ds("orders"),
        180,
        200,
        key="2026-01-01T03:00:00+00:00",
        due="2026-01-01T03:00:00Z",
        periodSeconds=3600,
    ),
    Tier.P2,
    root=FAILED.id,
    owners=["team:orders"],
    answers=1,
    consumers=[REPORT],
)
ROWS = finding(
    episode(
        "row-count",
        ds("orders"),
        61,
        61,
        end=119,
        by=version("orders", "r3"),
        key=version("orders", "r2"),
        begunBy=version("orders", "r2"),
        items=[
            {"column": "", "measure": "rowCount", "value": 120, "mean": 200.5, "deviation": 10.25},
            {"column": "note", "measure": "nullShare", "value": 0.5, "mean": 0.01, "share": 0.49},
        ],
        count=2,
    ),
    Tier.P2,
)
DRIFT = finding(
    episode(
        "schema-drift",
        ds("orders"),
        62,
        key=version("orders", "r2"),
        columns=[
            {"name": "note", "before": "string", "after": None, "users": [job("make_report")]},
            {"name": "amount", "before": "int", "after": "double", "users": []},
        ],
        before=["hash-1"],
        after=["hash-2"],
    ),
    Tier.P3,
)
FOUND: list[tuple[Finding, list[str]]] = [
    (FAILED, ["etl"]),
    (STALE, ["db"]),
    (ROWS, ["db"]),
    (DRIFT, ["db"]),
]


def save_findings(database: Database) -> None:
    save(database, FOUND)


def path_of(one: Finding) -> str:
    """Return the address of the page of a finding."""
    return f"/finding?id={quote(one.id, safe='')}"
