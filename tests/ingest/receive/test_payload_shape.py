"""The table of the graph has every label, property and edge of a real graph, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import graph
from headwater.schema import headwater_facets as native
from tests.canonical import empty
from tests.event_builders import (
    columns,
    dataset,
    dataset_event,
    job_event,
    parent,
    run_event,
    schema,
    source,
    source_job,
    symlinks,
    write_batch,
)
from tests.repo.repository import text, tracked
from tests.run_builders import Event, answer, at

pytestmark = pytest.mark.neo4j

CAPTURES = Path(__file__).parents[2] / "captures"
TYPES = graph.load_graph_types()
# Bytes have no type in Cypher; an empty list has another.
NODE_PROPERTIES = """
MATCH (n) WHERE NOT n:Migration
UNWIND keys(n) AS key
WITH labels(n)[0] AS label, key, CASE key WHEN 'facts' THEN 'BYTES'
  ELSE replace(valueType(n[key]), ' NOT NULL', '') END AS type
WHERE type <> 'LIST<NOTHING>'
RETURN DISTINCT label, key, type
"""
EDGE_PROPERTIES = """
MATCH (a)-[e]->(b)
UNWIND keys(e) + [''] AS key
RETURN DISTINCT labels(a)[0] AS source, type(e) AS edge, labels(b)[0] AS target, key,
  CASE key WHEN '' THEN '' ELSE replace(valueType(e[key]), ' NOT NULL', '') END AS type
"""
NONE = graph.Property("", "", "", "", "")
# What the worker, the pipelines and an erasure write without an event, with the files that do so.
OTHER_WRITERS = {
    "Analysis": ("headwater/lineage/questions/analyses.py",),
    "Artifact.rolledUp": ("headwater/cypher/write/maintenance/roll_up.cypher",),
    "Artifact.derivedFrom": ("headwater/cypher/write/maintenance/roll_up.cypher",),
    "Checkpoint.settled": ("headwater/cypher/write/maintenance/save_checkpoint.cypher",),
    "ConformanceFinding": ("headwater/ingest/producer_stats_writer.py",),
    "Delivery": ("headwater/health/alerts/outbox.py", "headwater/cypher/write/alerts/"),
    "Detector": ("headwater/cypher/write/findings/",),
    "FigureSnapshot": ("headwater/health/figures/snapshots.py",),
    "Finding": ("headwater/health/findings/store.py",),
    "Migration": ("headwater/cypher/write/maintenance/record_migration.cypher",),
    "PipelineRun.heartbeatLost": ("headwater/cypher/write/runs/abandon_lost_heartbeats.cypher",),
    "Producer": ("headwater/ingest/producer_stats_writer.py",),
    "Receipt": ("headwater/cypher/write/maintenance/receipts.cypher",),
    "Retention": ("headwater/cypher/write/maintenance/",),
    "RunSummary": ("headwater/pipelines/rollup_plan.py", "headwater/cypher/write/maintenance/"),
    "ServiceLevelSample": ("headwater/health/service_levels/samples.py",),
    "WriteLock.erasing": ("headwater/cypher/write/maintenance/begin_erasure.cypher",),
    "WriteLock.erasedAt": ("headwater/cypher/write/maintenance/end_erasure.cypher",),
}
OTHER_EDGES = {"ABOUT", "SUMMARY_OF"}


def everything() -> list[Event]:
    """Return a run history with every label, edge and property that is not the copy of a facet."""
    slot = {"nominalTime": {"nominalStartTime": at(0)}}
    after = {"jobDependencies": {"upstream": [{"job": source("first"), "run": {"runId": "a"}}]}}
    into_me = {
        "lineage": {
            "entries": [{"type": "JOB", "inputs": [{**source("feeder", runId="f"), "type": "JOB"}]}]
        }
    }
    made = dataset(
        "t", {**schema(id="int"), **columns(id=[("raw", "id")]), "version": {"datasetVersion": "7"}}
    )
    read = dataset("t", {"version": {"datasetVersion": "7"}})
    drop = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
    model = dataset("churn", {"datasetType": {"datasetType": "MODEL"}})
    return [
        run_event("m", "COMPLETE", 2, job="train", inputs=["raw"], outputs=[model]),
        run_event("a", "FAIL", 1, job="first", inputs=["raw"], outputs=[made], facets=slot),
        run_event("b", "COMPLETE", 2, job="first", inputs=["raw"], outputs=[made], facets=slot),
        run_event(
            "c",
            "START",
            3,
            inputs=[read],
            outputs=[dataset("u", {"lineage": {"inputs": []}})],
            facets=after,
        ),
        run_event(
            "d",
            "COMPLETE",
            4,
            inputs=["raw"],
            outputs=["u"],
            facets=parent("p", "dag"),
            job_facets=into_me,
        ),
        run_event("x", "COMPLETE", 5, job="drop", outputs=[dataset("old", drop)]),
        job_event(
            "planned",
            6,
            inputs=["t"],
            outputs=[dataset("u", {"lineage": {"inputs": [source("t")]}})],
        ),
        dataset_event("view", 7, {"lineage": {"inputs": [source("t", field="id")]}}),
        dataset_event("t", 8, symlinks("alias")),
        run_event("e", "COMPLETE", 9, job="last", inputs=["alias"]),
        *answer("one", "t", {"namespace": "db", "name": "t", "runId": "b"}, minute=9, content="42"),
        native.source_event("raw", namespace="db", origin="CRM", event_time=at(0)),
    ]


def described() -> list[Event]:
    """Return events with the facets that real producers in the captures do not send."""
    check = {"assertions": [{"assertion": "not_null", "column": "id", "success": False}]}
    metrics = {"rowCount": 1, "columnMetrics": {}, "lastUpdated": at(1)}
    place = {"type": "git", "url": "g", "repoUrl": "r", "path": "p", "version": "v", "branch": "b"}
    owners = {"owners": [{"name": "ada"}]}
    of_dataset = {
        "datasetType": {"datasetType": "VIEW", "subType": "MATERIALIZED"},
        "hierarchy": {"hierarchy": [{"name": "shop", "type": "DATABASE"}]},
        "ownership": owners,
        "tags": {"tags": [{"key": "gold"}, {"key": "pii", "field": "mail"}]},
        "headwater_asset": {"sourceRef": "models/t.sql"},
        "headwater_contract_orders": {"contractId": "orders", "version": "1", "columns": []},
        "headwater_inventory_shop": {"inventory": "shop", "namespace": "db", "name": "t"},
        "dataQualityAssertions": check,
        "lineage": {"inputs": [{**source_job("maker"), "type": "JOB"}]},
    }
    of_job = {
        "documentation": {"description": "d"},
        "sourceCode": {"language": "python", "sourceCode": "x"},
        "sourceCodeLocation": place,
    }
    of_run = {
        "externalQuery": {"externalQueryId": "q", "source": "s"},
        "extractionError": {"totalTasks": 1, "failedTasks": 1, "errors": [{"errorMessage": "e"}]},
        "headwater_run": {"version": "v", "triggeredBy": "t"},
        "traceparent": {"traceparent": f"00-{'4b' * 16}-{'0c' * 8}-01"},
    }
    usage = {
        "dataQualityAssertions": check,
        "dataQualityMetrics": metrics,
        "subset": {"inputCondition": {"type": "partition", "partitions": []}},
    }
    written = {**usage, "subset": {"outputCondition": {"type": "partition", "partitions": []}}}
    partition = {"namespace": "file", "name": "/lake/parts/day=1"}
    derived = {"lineage": {"inputs": [{**source("origin"), "type": "DATASET"}]}}
    return [
        dataset_event("whole", 1, of_dataset),
        run_event(
            "full",
            minute=2,
            job="full",
            inputs=[dataset("raw", usage=usage, side="input"), partition],
            outputs=[dataset("full", usage=written), partition],
            facets=of_run,
            job_facets=of_job,
        ),
        run_event("long", "START", 1, job="long", outputs=["slow"]),
        run_event("long", "COMPLETE", 90, job="long", outputs=["slow"]),
        run_event("undated", None, 1, job="late", outputs=[dataset("made", derived)]),
        native.artifact_event(
            "model", run_id="m", type="model", storage_path="p", schema="s", event_time=at(1)
        ),
        native.source_event(
            "file",
            namespace="db",
            format="csv",
            row_count=3,
            captured_at=at(0),
            checksum="c",
            event_time=at(0),
        ),
        native.tag_event("pii", description="personal data", event_time=at(1)),
        dataset_event("gone", 1),
        job_event("ended", 1),
        native.answer_event(
            "board",
            cites=[],
            type="report",
            generated_at=at(1),
            generated_by="ada",
            url="u",
            owners=["ada"],
        ),
        *streamed(),
        *edited(),
        *answer("two", "file", {"answerId": "one"}, minute=9),
        *answer("three", {"namespace": "db", "name": "t", "field": "id"}, minute=9),
        *answer("four", {"namespace": "db", "name": "t", "runId": "nobody"}, minute=9),
    ]


def streamed() -> list[Event]:
    """Return a run with offsets and lags on both sides, and a job that takes datasets in turns."""
    offsets = {"startOffset": 1, "endOffset": 4, "latestOffset": 9}
    stream = {"my_stream": {"partitions": [{"partition": 0, **offsets}]}}
    topic = dataset("orders", usage=stream, side="input")
    kept = dataset("orders-kept", usage=stream)
    turns = [
        run_event(
            f"turn{n}", "COMPLETE", n, job="turns", inputs=[f"in{n % 2}"], outputs=[f"o{n % 2}"]
        )
        for n in range(4)
    ]
    return [
        run_event("streamed", "COMPLETE", 3, job="stream", inputs=[topic], outputs=[kept]),
        *turns,
    ]


def edited() -> list[Event]:
    """Return events of people: a dataset and a job deleted, deprecated and approved."""
    return [
        event
        for namespace, name, is_job in (("db", "gone", False), ("etl", "ended", True))
        for event in (
            native.deletion_event(namespace, name, is_job=is_job, event_time=at(2)),
            native.deprecation_event(
                namespace, name, reason="Old.", is_job=is_job, event_time=at(2)
            ),
            native.approval_event(
                namespace, name, policy="keep", reason="Audit.", is_job=is_job, event_time=at(2)
            ),
        )
    ]


def captured() -> list[Event]:
    """Return the events of real producers."""
    return [
        json.loads(line)
        for path in sorted(CAPTURES.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def is_written(label: str, key: str) -> bool:
    """Return True if a file that writes such nodes without an event names the property."""
    places = OTHER_WRITERS.get(f"{label}.{key}") or OTHER_WRITERS.get(label, ())
    files = [name for name in tracked() if name.startswith(places)] if places else []
    return any(re.search(rf"\b{key}\b", text(name)) for name in files)


@pytest.fixture(scope="module")
def filled(database: Database) -> Iterator[Database]:
    empty(database)
    write_batch(database, [*everything(), *described(), *captured()])
    yield database
    empty(database)


def test_every_property_in_the_graph_is_documented_with_its_type(filled: Database) -> None:
    found = {(row["label"], row["key"], row["type"]) for row in filled.ask(NODE_PROPERTIES, {})}
    documented = {
        (label.name, one.name, one.type) for label in TYPES.labels for one in label.properties
    }
    assert found - documented == set()
    missing = {(label, key) for label, key, _ in documented - found}
    unwritten = [f"{label}.{key}" for label, key in sorted(missing) if not is_written(label, key)]
    assert unwritten == [], "documented properties that nothing writes"
    known = {
        label if f"{label}.{key}" not in OTHER_WRITERS else f"{label}.{key}"
        for label, key in missing
    }
    assert known == OTHER_WRITERS.keys()


def test_every_edge_in_the_graph_is_documented_with_its_properties(filled: Database) -> None:
    found = {
        (row["source"], row["edge"], row["target"], row["key"], row["type"])
        for row in filled.ask(EDGE_PROPERTIES, {})
    }
    documented = {
        (source, edge.type, target, one.name, one.type)
        for edge in TYPES.edges
        for source, target in product(edge.source, edge.target)
        for one in (*edge.properties, NONE)
    }
    assert found - documented == set()
    written = {(source, edge, target) for source, edge, target, *_ in found}
    ends = {(source, edge, target) for source, edge, target, *_ in documented}
    assert {edge for _, edge, _ in ends - written} == OTHER_EDGES
    properties = {(edge, key) for _, edge, _, key, _ in found}
    described = {(edge, key) for _, edge, _, key, _ in documented if edge not in OTHER_EDGES}
    assert described - properties == set()
