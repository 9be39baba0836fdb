"""Deltas of dataset events, computed by hand."""

from __future__ import annotations

import pytest

from headwater.schema.headwater_facets import answer_event, artifact_event, source_event
from tests.ingest.fold.folded_events import (
    AT,
    FACET,
    NOON,
    dataset,
    delta_of,
)


def test_an_answer_and_its_citations() -> None:
    delta = delta_of(
        answer_event(
            "x", cites=[{"namespace": "db", "name": "a"}, {"answerId": "y"}], event_time=NOON
        )
    )
    assert set(delta.answers) == {"answer:x", "answer:y"}
    assert delta.answers["answer:y"].answer is None
    assert set(delta.datasets) == {"dataset:db:a"}, "the answer itself is no dataset"
    register = delta.answers["answer:x"].answer
    assert register is not None
    assert register.instant == AT


def test_registered_sources_and_artifacts() -> None:
    delta = delta_of(
        source_event("a", namespace="db", origin="CRM", event_time=NOON),
        artifact_event("t", namespace="db", run_id="r", event_time=NOON),
    )
    assert "headwater_source" in delta.datasets["dataset:db:a"].facets
    assert list(delta.runs["run:r"].outputs) == ["dataset:db:t"]
    assert delta.runs["run:r"].span is None


@pytest.mark.parametrize("run_id", ["", " ", None, 5])
def test_an_artifact_of_no_run_makes_no_run(run_id: object) -> None:
    delta = delta_of({"dataset": dataset("t", {"headwater_artifact": {**FACET, "runId": run_id}})})
    assert delta.runs == {}
    assert set(delta.datasets) == {"dataset:db:t"}


def test_a_run_event_may_describe_a_dataset_that_it_neither_reads_nor_writes() -> None:
    """The example event of the specification has a run, a job and a dataset."""
    example = {
        "eventTime": "2023-07-17T10:54:22.355067Z",
        "eventType": "COMPLETE",
        "inputs": [],
        "job": {
            "facets": {
                "sql": {"query": "SELECT 1", "_producer": "http://123", "_schemaURL": "http://123"}
            },
            "name": "dbt",
            "namespace": "food_delivery",
        },
        "outputs": [],
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/0.30.0/integration/airflow",
        "run": {"facets": {}, "runId": "f69a6e9b-9bac-3c9a-9cf6-eacb70ecc9a9"},
        "dataset": {"namespace": "123", "name": "1", "facets": {"ownership": {"owners": []}}},
        "schemaURL": "https://openlineage.io/spec/1-0-5/OpenLineage.json#/definitions/RunEvent",
    }
    delta = delta_of(example)
    (run,) = delta.runs.values()
    assert {state for _, state in run.states} == {"COMPLETE"}
    assert (run.inputs, run.outputs) == ({}, {})
    assert list(delta.jobs) == ["job:food_delivery:dbt"]
    assert list(delta.datasets["dataset:123:1"].facets) == ["ownership"]
