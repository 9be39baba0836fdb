"""Datasets of runs with unusual times: started during the first version, or without any time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.cypher.driver.database import Database
from headwater.ingest.fold import fold
from headwater.ingest.write.transaction import Checkpoint, WriteRequest, write
from headwater.lineage.questions.lineage import trace
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.events import parse
from tests.canonical import edges, empty
from tests.event_builders import columns, dataset, run_event, write_batch

pytestmark = pytest.mark.neo4j


def write_backwards(database: Database, *events: dict[str, Any]) -> None:
    """Write each event in its own transaction, the last event first: this order repairs most."""
    empty(database)
    for position, event in enumerate(reversed(events)):
        delta = fold([parse(json.dumps(event).encode(), received=0)])
        before, after = Checkpoint(position, position, 0), Checkpoint(position + 1, position + 1, 0)
        write(
            database,
            WriteRequest(
                delta,
                spool="s",
                before=Checkpoint() if position == 0 else before,
                after=after,
                holder="t",
            ),
        )


def run(run_id: str, start: str, end: str, reads: str, writes: str) -> list[dict[str, Any]]:
    return native.run_events(
        run_id,
        pipeline_name=run_id,
        started_at=f"2026-01-01T{start}:00Z",
        finished_at=f"2026-01-01T{end}:00Z",
        inputs=[{"namespace": "default", "name": reads}],
        outputs=[{"namespace": "default", "name": writes}],
    )


def answer(answer_id: str, dataset: str, generated_at: str) -> dict[str, Any]:
    return native.answer_event(
        answer_id, cites=[{"namespace": "default", "name": dataset}], generated_at=generated_at
    )


def sources(view: GraphView, answer_id: str) -> tuple[list[str], list[str]]:
    found = trace(view, answer_id)
    return [row["name"] for row in found.sources], sorted(row["runId"] for row in found.runs)


def test_a_reader_during_the_first_version_has_its_true_source(
    database: Database,
    view: GraphView,
) -> None:
    write_backwards(
        database,
        *run("first", "01:00", "03:00", "raw", "clean"),
        *run("second", "02:00", "04:00", "clean", "mart"),
        answer("a", "mart", "2026-01-01T05:00:00Z"),
    )
    assert sources(view, "a") == (["raw"], ["first", "second"])


def test_an_earlier_version_precedes_an_unfinished_one(database: Database, view: GraphView) -> None:
    write_backwards(
        database,
        *run("yesterday", "00:10", "00:20", "old", "clean"),
        *run("first", "01:00", "03:00", "raw", "clean"),
        *run("second", "02:00", "04:00", "clean", "mart"),
        answer("a", "mart", "2026-01-01T05:00:00Z"),
    )
    assert sources(view, "a") == (["old"], ["second", "yesterday"])


def test_an_answer_just_before_the_end_of_its_run(database: Database, view: GraphView) -> None:
    write_backwards(
        database,
        *run("only", "01:00", "01:30", "raw", "mart"),
        answer("a", "mart", "2026-01-01T01:29:59Z"),
    )
    assert sources(view, "a") == (["raw"], ["only"])


def test_a_reader_before_anything_began_read_a_source(database: Database, view: GraphView) -> None:
    write_backwards(
        database,
        *run("late", "06:00", "07:00", "raw", "mart"),
        answer("a", "mart", "2026-01-01T05:00:00Z"),
    )
    assert sources(view, "a") == (["mart"], [])


def test_a_run_without_times_takes_those_of_its_versions(
    database: Database, view: GraphView
) -> None:
    undated = native.run_events(
        "undated", pipeline_name="summary", inputs=[{"namespace": "default", "name": "clean"}]
    )
    made = native.artifact_event("report", run_id="undated", created_at="2025-04-01T08:00:00Z")
    write_backwards(
        database,
        *undated,
        made,
        # A failure a month later does not change the earlier versions.
        *native.run_events(
            "broken",
            pipeline_name="enrich",
            status="failed",
            started_at="2025-05-01T00:00:00Z",
            finished_at="2025-05-01T01:00:00Z",
            outputs=[{"namespace": "default", "name": "clean"}],
        ),
        answer("a", "report", "2025-04-02T09:00:00Z"),
    )
    assert sources(view, "a") == (["clean"], ["undated"])
    found = trace(view, "a").runs[0]
    assert (found["startedAt"].isoformat(), found["status"]) == (
        "2025-04-01T08:00:00+00:00",
        "COMPLETE",
    )


def test_a_failed_run_without_times_is_one_attempt(database: Database) -> None:
    failed = native.run_events("r", pipeline_name="p", status="failed", error="no")
    repeated = native.run_events("r", pipeline_name="p", status="success")
    write_backwards(database, *failed, *repeated)
    row = database.ask(
        "MATCH (r:PipelineRun) RETURN r.status AS status, r.attempts AS attempts", {}
    )[0]
    assert row == {"status": "FAIL", "attempts": None}


def test_a_reader_whose_earlier_versions_are_its_own_reads_the_unfinished_one(
    database: Database,
) -> None:
    # The job reads its own output. Its end is before its start, so it produced a version before.
    reader = [
        run_event("reader", None, 4, outputs=["raw", dataset("report", columns(a=[("raw", "a")]))]),
        run_event("reader", "START", 4),
        run_event("reader", "COMPLETE", 0, outputs=["raw"]),
    ]
    empty(database)
    write_batch(database, reader)
    write_batch(
        database,
        [
            run_event("other", None, 5, job="other", outputs=["raw"]),
            run_event("other", None, 3, job="other"),
        ],
    )
    read = [edge for edge in edges(database, "FEEDS") if edge[2] == "run:reader"]
    assert read == [("artifact:db:raw:other", "FEEDS", "run:reader")]
