"""Deltas of run events, computed by hand."""

from __future__ import annotations

import pytest

from headwater.schema.facts import Name, Span
from tests.ingest.fold.folded_events import (
    AT,
    FACET,
    JOB,
    dataset,
    delta_of,
    run_event,
)


def test_a_run_its_job_and_its_datasets() -> None:
    delta = delta_of(run_event(inputs=[dataset("a")], outputs=[dataset("t")]))
    run = delta.runs["run:r"]
    assert (run.run_id, run.span, run.states) == ("r", Span(AT, AT), {(AT, "COMPLETE")})
    assert run.jobs == {"job:etl:load": Name("etl", "load")}
    assert list(run.inputs) == ["dataset:db:a"]
    assert list(run.outputs) == ["dataset:db:t"]
    assert set(delta.datasets) == {"dataset:db:a", "dataset:db:t"}
    assert delta.datasets["dataset:db:a"].span == Span(AT, AT)
    assert set(delta.jobs) == {"job:etl:load"}
    assert not delta.columns
    assert not delta.derivations


@pytest.mark.parametrize("state", ["RUNNING", "OTHER"])
def test_running_and_other_change_no_state(state: str) -> None:
    assert delta_of(run_event(state)).runs["run:r"].states == set()


def test_a_missing_type_changes_no_state_but_its_datasets_count() -> None:
    event = run_event(inputs=[dataset("a")])
    del event["eventType"]
    run = delta_of(event).runs["run:r"]
    assert run.states == set()
    assert list(run.inputs) == ["dataset:db:a"]


def test_every_spelling_of_a_run_id_is_one_run() -> None:
    lower = {**run_event("START"), "run": {"runId": "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"}}
    upper = {**run_event("FAIL"), "run": {"runId": "0198C2F4-7B1C-7D3E-9F00-AABBCCDDEEFF"}}
    assert delta_of(lower, upper).runs["run:0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"].states == {
        (AT, "START"),
        (AT, "FAIL"),
    }


def test_a_parent_has_a_name_and_a_job_but_no_state() -> None:
    parent = {**FACET, "run": {"runId": "p"}, "job": {"namespace": "etl", "name": "dag"}}
    delta = delta_of(run_event("FAIL", facets={"parent": parent}))
    assert delta.runs["run:r"].parents == {"run:p": "p"}
    above = delta.runs["run:p"]
    assert (above.states, above.span, list(above.named_jobs)) == (set(), None, ["job:etl:dag"])
    assert above.jobs == {}
    assert delta.jobs["job:etl:dag"].span is None


@pytest.mark.parametrize(
    "parent",
    [
        {"run": {"runId": " "}},
        {"run": {"runId": "r"}},
        {"run": {}},
        {"job": JOB},
        {"run": {"runId": 5}},
        "p",
        None,
    ],
)
def test_a_malformed_parent_or_the_run_itself_is_ignored(parent: object) -> None:
    assert delta_of(run_event(facets={"parent": parent})).runs["run:r"].parents == {}


def test_a_parent_without_a_job() -> None:
    delta = delta_of(run_event(facets={"parent": {"run": {"runId": "p"}}}))
    assert delta.runs["run:p"].jobs == {}
