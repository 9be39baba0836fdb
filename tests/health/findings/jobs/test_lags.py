"""Lags of streams as the real writer folds them, in any order of the events."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.health.findings.jobs.history import LagFact, LagStart
from headwater.health.findings.jobs.reader import read_job_histories
from headwater.health.findings.jobs.stream_lag import detect_stream_lags
from headwater.lineage.view import GraphView
from tests.canonical import empty
from tests.event_builders import dataset, run_event, write_in_any_order
from tests.run_builders import ds, job, run_of, write_events

pytestmark = pytest.mark.neo4j

START = datetime(2026, 1, 1, tzinfo=UTC)


def moment(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def topic(begin: int, end: int, latest: int) -> dict[str, Any]:
    row = {"partition": 0, "startOffset": begin, "endOffset": end, "latestOffset": latest}
    return dataset("orders", usage={"headwater_stream": {"partitions": [row]}}, side="input")


def test_offsets_stand_on_the_edge_whatever_the_order(database: Database, view: GraphView) -> None:
    events = [
        run_event("r", "START", 0, inputs=[topic(0, 10, 500)], outputs=["t"]),
        run_event("r", "RUNNING", 1, inputs=[topic(10, 90, 510)]),
        run_event("r", "RUNNING", 2, inputs=["orders"]),
        run_event("r", "COMPLETE", 3, inputs=[topic(90, 520, 520)], outputs=["t"]),
    ]
    write_in_any_order(database, *events)
    [row] = database.ask(
        "MATCH (s:Source {dataset: $urn})-[e:FEEDS]->(:PipelineRun) RETURN properties(e) AS e",
        {"urn": ds("orders")},
    )
    edge = row["e"]
    assert json.loads(edge["offsets"]) == [{"partition": 0, "begin": 0, "end": 520, "latest": 520}]
    assert edge["offsetsAt"] == moment(3)
    assert edge["lags"] == [490, 420, 0]
    [found] = read_job_histories(view, [job("j")], lag_limit=100)
    assert found.runs[0].lags == (
        LagFact(ds("orders"), moment(0), 490),
        LagFact(ds("orders"), moment(1), 420),
        LagFact(ds("orders"), moment(3), 0),
    )
    [episode] = detect_stream_lags(found)
    assert (episode.first_seen, episode.resolved_at) == (moment(0), moment(3))


def test_a_long_lag_keeps_its_beginning(database: Database, view: GraphView) -> None:
    """The job caught up once, and lagged in 250 batches since: the first is long ago."""
    empty(database)
    events = [run_event("ok", "COMPLETE", 0, inputs=[topic(0, 5, 5)], outputs=["t"])]
    events += [
        run_event(f"b{number:03}", "COMPLETE", number, inputs=[topic(5, 5, 500)], outputs=["t"])
        for number in range(1, 251)
    ]
    write_events(database, events)
    [found] = read_job_histories(view, [job("j")], lag_limit=100)
    assert found.lagging_since == {ds("orders"): LagStart(run_of("b001"), moment(1))}
    [episode] = detect_stream_lags(found)
    assert (episode.first_seen, episode.resolved_at) == (moment(1), None)
    assert episode.key.startswith(run_of("b001"))
    # Without any success the first batch began it.
    [found] = read_job_histories(view, [job("j")], lag_limit=1)
    assert found.lagging_since == {ds("orders"): LagStart(run_of("b001"), moment(1))}
