"""`schema/graph.py` documents every label, property and edge type of the real graph."""

from __future__ import annotations

import re

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
    symlinks,
    write_batch,
)
from tests.run_builders import Event, answer, at

pytestmark = pytest.mark.neo4j

WORDS = set(re.findall(r"\w+", graph.__doc__ or ""))


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
    return [
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


def test_every_label_property_and_edge_is_documented(database: Database) -> None:
    empty(database)
    write_batch(database, everything())
    rows = database.ask(
        "MATCH (n) WHERE n.urn IS NOT NULL UNWIND labels(n) + keys(n) AS word RETURN DISTINCT word",
        {},
    )
    lines = database.ask(
        "MATCH ()-[e]->() UNWIND [type(e)] + keys(e) AS word RETURN DISTINCT word", {}
    )
    found = {row["word"] for row in (*rows, *lines)}
    assert found - WORDS == set()
    of_pipelines = {"ABOUT", "SUMMARY_OF"}
    types = set(re.findall(r"\[:(\w+)", graph.__doc__ or ""))
    assert types - found == of_pipelines, "documented edge types that do not exist"
