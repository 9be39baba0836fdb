"""What one event says, worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.ingest.fold import fold
from headwater.ingest.fold.canonical_facets import FACET_BYTES_MAX, NESTING_MAX
from headwater.schema.events import parse, parse_instant
from headwater.schema.facts import (
    ColumnKey,
    Derivation,
    DerivationKey,
    GraphDelta,
    LwwRegister,
    Name,
    Span,
)
from headwater.schema.headwater_facets import answer_event, artifact_event, source_event

NOON = "2026-01-01T12:00:00Z"
AT = parse_instant(NOON)
FACET = {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/s"}
JOB = {"namespace": "etl", "name": "load"}
A, B, T = Name("db", "a"), Name("db", "b"), Name("db", "t")


def dataset(name: str, facets: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"namespace": "db", "name": name, **({"facets": facets} if facets else {}), **more}


def told(*events: dict[str, Any]) -> GraphDelta:
    return fold(
        parse(json.dumps({"eventTime": NOON, **event}).encode(), received=0) for event in events
    )


def run_event(state: str = "COMPLETE", **more: Any) -> dict[str, Any]:
    return {
        "eventType": state,
        "run": {"runId": "r", "facets": more.pop("facets", None)},
        "job": JOB,
        **more,
    }


def test_nothing_says_nothing() -> None:
    assert fold([]) == GraphDelta()


def test_a_run_its_job_and_its_datasets() -> None:
    delta = told(run_event(inputs=[dataset("a")], outputs=[dataset("t")]))
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
    assert told(run_event(state)).runs["run:r"].states == set()


def test_a_missing_type_changes_no_state_but_its_datasets_count() -> None:
    event = run_event(inputs=[dataset("a")])
    del event["eventType"]
    run = told(event).runs["run:r"]
    assert run.states == set()
    assert list(run.inputs) == ["dataset:db:a"]


def test_one_run_however_its_id_is_written() -> None:
    lower = {**run_event("START"), "run": {"runId": "0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"}}
    upper = {**run_event("FAIL"), "run": {"runId": "0198C2F4-7B1C-7D3E-9F00-AABBCCDDEEFF"}}
    assert told(lower, upper).runs["run:0198c2f4-7b1c-7d3e-9f00-aabbccddeeff"].states == {
        (AT, "START"),
        (AT, "FAIL"),
    }


def test_column_lineage_makes_column_edges_and_derivations() -> None:
    identity, join = (
        {"type": "DIRECT", "subtype": "IDENTITY"},
        {"type": "INDIRECT", "subtype": "JOIN", "masking": True},
    )
    key = {"namespace": "db", "name": "a", "field": "key", "transformations": [identity]}
    other = {
        "namespace": "db",
        "name": "b",
        "field": "f",
        "transformations": [join, {"type": "INDIRECT"}],
    }
    old = {
        "inputFields": [{"namespace": "db", "name": "a", "field": "k"}],
        "transformationType": "MASKED",
    }
    lineage = {
        **FACET,
        "fields": {"id": {"inputFields": [key, other]}, "old": old},
        "dataset": [{"namespace": "db", "name": "c", "field": "month"}],
    }
    delta = told(run_event(outputs=[dataset("t", {"columnLineage": lineage})]))
    assert delta.columns == {
        ColumnKey(A, "key", T, "id", "job:etl:load"): Derivation(
            AT, frozenset({"DIRECT:IDENTITY"})
        ),
        ColumnKey(B, "f", T, "id", "job:etl:load"): Derivation(
            AT, frozenset({"INDIRECT:JOIN:masked", "INDIRECT"})
        ),
        ColumnKey(A, "k", T, "old", "job:etl:load"): Derivation(AT, frozenset({"DIRECT:MASKED"})),
        ColumnKey(Name("db", "c"), "month", T, "", "job:etl:load"): Derivation(
            AT, frozenset({"DIRECT"})
        ),
    }
    assert set(delta.derivations) == {
        DerivationKey(T, name, "job:etl:load") for name in (A, B, Name("db", "c"))
    }
    assert delta.runs["run:r"].outputs["dataset:db:t"].derived == {A, B, Name("db", "c")}
    assert delta.datasets["dataset:db:c"].span is None, "only mentioned"
    assert "columnLineage" not in delta.datasets["dataset:db:t"].facets


@pytest.mark.parametrize(
    "lineage",
    [
        5,
        [],
        {"fields": []},
        {"fields": {"id": {}}},
        {"fields": {"id": {"inputFields": [{"namespace": "db", "field": "x"}]}}},
        {"fields": {"id": {"inputFields": [{"namespace": "db", "name": " ", "field": "x"}]}}},
        {"fields": {"": {"inputFields": [{"namespace": "db", "name": "a", "field": "x"}]}}},
    ],
)
def test_a_column_lineage_that_is_none_leaves_the_event_whole(lineage: object) -> None:
    delta = told(run_event(outputs=[dataset("t", {"columnLineage": lineage})]))
    assert not delta.columns
    assert delta.runs["run:r"].outputs["dataset:db:t"].derived == set()


def test_a_parent_is_known_by_name_and_job_and_nothing_is_said_of_its_state() -> None:
    parent = {**FACET, "run": {"runId": "p"}, "job": {"namespace": "etl", "name": "dag"}}
    delta = told(run_event("FAIL", facets={"parent": parent}))
    assert delta.runs["run:r"].parents == {"run:p": "p"}
    above = delta.runs["run:p"]
    assert (above.states, above.span, list(above.jobs)) == (set(), None, ["job:etl:dag"])
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
def test_a_parent_that_is_none_or_the_run_itself(parent: object) -> None:
    assert told(run_event(facets={"parent": parent})).runs["run:r"].parents == {}


def test_a_parent_without_a_job() -> None:
    delta = told(run_event(facets={"parent": {"run": {"runId": "p"}}}))
    assert delta.runs["run:p"].jobs == {}


def test_one_event_may_name_a_dataset_twice() -> None:
    rows = {"outputStatistics": {**FACET, "rowCount": 5}}
    run = told(run_event(outputs=[dataset("t"), dataset("t", outputFacets=rows)])).runs["run:r"]
    assert list(run.outputs) == ["dataset:db:t"]
    assert "outputStatistics" in run.outputs["dataset:db:t"].facets


def test_a_job_event_declares_lineage_without_a_run() -> None:
    delta = told({"job": JOB, "inputs": [dataset("a")], "outputs": [dataset("t")]})
    assert delta.runs == {}
    job = delta.jobs["job:etl:load"]
    assert {urn: claim.name for urn, claim in job.inputs.items()} == {"dataset:db:a": A}
    assert {urn: claim.name for urn, claim in job.outputs.items()} == {"dataset:db:t": T}
    assert job.declared_inputs is not None
    assert job.declared_inputs.value == '["dataset:db:a"]'


def test_an_answer_and_what_it_cites() -> None:
    delta = told(
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


def test_sources_and_artifacts_of_our_own() -> None:
    delta = told(
        source_event("a", namespace="db", origin="CRM", event_time=NOON),
        artifact_event("t", namespace="db", run_id="r", event_time=NOON),
    )
    assert "headwater_source" in delta.datasets["dataset:db:a"].facets
    assert list(delta.runs["run:r"].outputs) == ["dataset:db:t"]
    assert delta.runs["run:r"].span is None


@pytest.mark.parametrize("run_id", ["", " ", None, 5])
def test_an_artifact_of_no_run_makes_no_run(run_id: object) -> None:
    delta = told({"dataset": dataset("t", {"headwater_artifact": {**FACET, "runId": run_id}})})
    assert delta.runs == {}
    assert set(delta.datasets) == {"dataset:db:t"}


def facet(value: str, name: str = "f") -> LwwRegister | None:
    body = f'{{"eventTime":"{NOON}","dataset":{{"namespace":"db","name":"t","facets":{{"{name}":{value}}}}}}}'
    return fold([parse(body.encode(), received=0)]).datasets["dataset:db:t"].facets.get(name)


def test_facets_are_kept_as_canonical_json() -> None:
    one, other = facet('{"b": 1,  "a": [1, 2]}'), facet('{"a":[1,2],"b":1}')
    assert one == other == LwwRegister(AT, 1, '{"a":[1,2],"b":1}')
    assert facet('{"_deleted": true}') == LwwRegister(AT, 1, "")


@pytest.mark.parametrize(
    "value",
    ["null", "5", '"x"', "[]", '{"a": 1e999}', '{"a": %s}' % ("9" * 5_000)],
    ids=["null", "number", "text", "list", "infinite", "5,000 digits"],
)
def test_what_is_no_facet_is_left_out(value: str) -> None:
    assert facet(value) is None


def test_half_a_character_does_not_cost_the_facet() -> None:
    assert facet('{"a": "\\ud800"}') == LwwRegister(AT, 1, '{"a":"\ufffd"}')


def test_facets_nested_too_deep_are_left_out_whatever_is_around_them() -> None:
    deep = NESTING_MAX
    assert facet('{"a":' * deep + "1" + "}" * deep) is not None
    assert facet('{"a":' * (deep + 1) + "1" + "}" * (deep + 1)) is None
    wide = json.dumps({"fields": [{"name": f"c{i}"} for i in range(deep * 3)]})
    assert facet(wide) is not None, "many, but not deep"


def test_of_a_long_facet_the_short_values_stay() -> None:
    long = json.dumps({"message": "boom", "stackTrace": "at x\n" * 20_000, "rest": [0] * 20_000})
    kept = facet(long, "errorMessage")
    assert kept is not None
    said = json.loads(kept.value)
    assert said["message"] == "boom"
    assert said["stackTrace"].startswith("at x\n")
    assert said["_bytes"] == len(long)
    assert "rest" not in said
    assert len(kept.value) < FACET_BYTES_MAX


def test_a_facet_of_very_many_values_stays_only_as_its_size() -> None:
    many = json.dumps({f"key {i}": i for i in range(20_000)})
    kept = facet(many)
    assert kept is not None
    assert json.loads(kept.value) == {"_bytes": len(many)}


def test_a_long_schema_stays_whole() -> None:
    fields = [{"name": f"column {i}", "type": "string"} for i in range(3_000)]
    kept = facet(json.dumps({"fields": fields}), "schema")
    assert kept is not None
    assert json.loads(kept.value)["fields"] == fields
