"""The run history behind the tables: a -> clean -> b -> report -> c, forty times and twice."""

from __future__ import annotations

from typing import Any

from neo4j import Driver

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from tests.conftest import erase
from tests.run_builders import answer, at, run, write_events

RUNS = 40
# So long that its urn is a hash.
LONG = "x" * 3_000


def history() -> list[list[dict[str, Any]]]:
    days = [run(f"r{k:02}", "clean", ["a"], ["b"], minute=10 * k, rows=k) for k in range(RUNS)]
    report = run("report-1", "report", ["b"], ["c"], minute=500, derived={"c": ["b"]})
    failed = run(
        "report-2", "report", ["b"], ["c"], minute=510, status="FAIL", error="no more room"
    )
    reads = [{"namespace": "db", "name": "c"}]
    elsewhere = native.run_events(
        "e1", pipeline_name="copy", namespace="ops", inputs=reads, started_at=at(520)
    )
    long = native.source_event(LONG, namespace="db", event_time=at(1))
    other = native.source_event("plain", namespace="db2", row_count=7, captured_at=at(2))
    return [
        *days,
        report,
        failed,
        elsewhere,
        [long, other],
        answer("q1", "c", minute=530, content="forty"),
    ]


def write_story(database: Database, driver: Driver) -> Database:
    with driver.session() as session:
        session.run(erase).consume()
    write_events(database, *history())
    return database
