"""Deltas of job events, computed by hand."""

from __future__ import annotations

from tests.ingest.fold.folded_events import (
    JOB,
    A,
    T,
    dataset,
    delta_of,
)


def test_a_job_event_declares_lineage_without_a_run() -> None:
    delta = delta_of({"job": JOB, "inputs": [dataset("a")], "outputs": [dataset("t")]})
    assert delta.runs == {}
    job = delta.jobs["job:etl:load"]
    assert {urn: claim.name for urn, claim in job.inputs.items()} == {"dataset:db:a": A}
    assert {urn: claim.name for urn, claim in job.outputs.items()} == {"dataset:db:t": T}
    assert job.declared_inputs is not None
    assert job.declared_inputs.value == '["dataset:db:a"]'
