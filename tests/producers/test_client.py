"""Clients of openlineage-python send many compressed runs; the graph has the end of each.

`tests/ingest/test_clients.py` tests the receipt of their events; here the graph is checked.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import error_message_run
from openlineage.client.transport.async_http import AsyncHttpConfig, AsyncHttpTransport
from openlineage.client.transport.http import HttpCompression, HttpConfig, HttpTransport

from tests.producers.conftest import Shop

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]

RUNS = 30
START = datetime(2026, 1, 1, tzinfo=UTC)


def story(job: str, number: int) -> list[RunEvent]:
    """Return START, RUNNING and an end; every third run fails, and only the end names datasets."""
    run = Run(str(uuid.uuid5(uuid.NAMESPACE_URL, f"{job}/{number}")))
    failed = number % 3 == 0
    ended = Run(
        run.runId,
        {"errorMessage": error_message_run.ErrorMessageRunFacet("no till", "python")}
        if failed
        else {},
    )
    states = [RunState.START, RunState.RUNNING, RunState.FAIL if failed else RunState.COMPLETE]
    return [
        RunEvent(
            eventTime=(START + timedelta(hours=number, seconds=second)).isoformat(),
            eventType=state,
            run=ended if second == 2 else run,
            job=Job("client", job),
            producer="https://example.com/till",
            inputs=[InputDataset("client", f"{job}/day {number}")] if second == 2 else [],
            outputs=[OutputDataset("client", f"{job}/sales")] if second == 2 else [],
        )
        for second, state in enumerate(states)
    ]


def check(shop: Shop, job: str) -> None:
    runs = shop.runs_of("client", job)
    assert [run["status"] for run in runs] == [
        "FAIL" if number % 3 == 0 else "COMPLETE" for number in range(RUNS)
    ]
    assert {run["attempts"] for run in runs} == {1}
    assert {run["error"] for run in runs if run["status"] == "FAIL"} == {"no till"}
    newest = max(number for number in range(RUNS) if number % 3)
    assert shop.upstream("client", f"{job}/sales") == {f"{job}/day {newest}"}, (
        "the inputs of the newest successful run are current"
    )
    rows = shop.rows(
        (
            "MATCH (d:Dataset)-[:FEEDS]->(j:Job {namespace: 'client', name: $job}) RETURN "
            "d.name AS name"
        ),
        job=job,
    )
    assert {row["name"] for row in rows} == {f"{job}/day {number}" for number in range(RUNS)}, (
        "the edges of all runs are stored"
    )
    assert shop.dead_letter_count() == 0


def test_the_sync_client(shop: Shop) -> None:
    transport = HttpTransport(HttpConfig(url=shop.url, compression=HttpCompression.GZIP))
    client = OpenLineageClient(transport=transport)
    for number in range(RUNS):
        for event in story("sync", number):
            client.emit(event)
    client.close()
    check(shop, "sync")


def test_the_async_client_sends_events_out_of_order(shop: Shop) -> None:
    transport = AsyncHttpTransport(AsyncHttpConfig(url=shop.url, compression=HttpCompression.GZIP))
    client = OpenLineageClient(transport=transport)
    for number in range(RUNS):
        for event in story("async", number):
            client.emit(event)
    assert client.close(timeout=30)
    assert transport.event_stats == {"pending": 0, "success": 3 * RUNS, "failed": 0}
    check(shop, "async")
