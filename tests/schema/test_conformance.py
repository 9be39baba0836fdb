"""Findings: each rule reports its violation once per event, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.errors import EventError
from headwater.schema.conformance import FINDINGS_MAX, findings, invalid_facets
from headwater.schema.conformance_rules import RULES
from headwater.schema.events import parse, parse_instant

CAPTURES = Path(__file__).parent.parent / "captures"
UUID = "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"
TIME = "2026-01-31T12:00:00Z"
RECEIVED = parse_instant(TIME) + 1
SIGNED = {"_producer": "https://a", "_schemaURL": "https://b"}
JOB = {"namespace": "etl", "name": "load"}
DATASET = {"namespace": "db", "name": "t"}
SOURCE = {"namespace": "db", "name": "s"}


def run_event(**fields: Any) -> dict[str, Any]:
    return {
        "eventTime": TIME,
        "eventType": "START",
        "producer": "https://example.com/etl",
        "schemaURL": "https://example.com/RunEvent",
        "run": {"runId": UUID},
        "job": JOB,
        **fields,
    }


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in run_event().items() if key != name}


def run_facet(key: str, value: Any, **fields: Any) -> dict[str, Any]:
    return run_event(run={"runId": UUID, "facets": {key: value}}, **fields)


def output(**facets: Any) -> dict[str, Any]:
    return {**DATASET, "facets": {key: {**SIGNED, **value} for key, value in facets.items()}}


def findings_of(event: object, future_seconds: int = 60) -> list[tuple[str, str]]:
    body = json.dumps(event).encode()
    found = findings(
        body,
        parse(body, received=RECEIVED),
        received=RECEIVED,
        future_seconds=future_seconds,
    )
    return [(finding.rule, finding.field) for finding in found]


def lineage_of(field: str, source_field: str) -> dict[str, Any]:
    return {"fields": {field: {"inputFields": [{**SOURCE, "field": source_field}]}}}


def schema(*names: str) -> dict[str, Any]:
    return {"fields": [{"name": name} for name in names]}


PARENT = {**SIGNED, "run": {"runId": "0198c2f4-7a3b-7c11-9d5e-000000000000"}, "job": JOB}
STRUCT = {"fields": [{"name": "Outer", "fields": [{"name": "inner"}]}]}
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("missing-producer", "producer", without("producer")),
    ("missing-producer", "producer", run_event(producer=7)),
    ("producer-is-no-uri", "producer", run_event(producer="my script")),
    ("missing-schema-url", "schemaURL", without("schemaURL")),
    ("missing-event-time", "eventTime", without("eventTime")),
    ("naive-event-time", "eventTime", run_event(eventTime="2026-01-31T12:00:00")),
    ("naive-event-time", "eventTime", run_event(eventTime="2026-01-31")),
    ("event-from-the-future", "eventTime", run_event(eventTime="2026-01-31T12:02:00Z")),
    ("missing-event-type", "eventType", without("eventType")),
    ("lower-case-event-type", "eventType", run_event(eventType="start")),
    ("run-id-no-uuid", "run.runId", run_event(run={"runId": "scheduled__2026"})),
    ("failure-without-a-reason", "run.facets.errorMessage", run_event(eventType="FAIL")),
    ("lone-surrogate", "", run_event(inputs=[{**DATASET, "name": "caf\ud8e9"}])),
    ("dataset-twice", "outputs[]", run_event(outputs=[DATASET, DATASET, DATASET])),
    ("facet-not-an-object", "run.facets.nominalTime", run_facet("nominalTime", [])),
    (
        "facet-breaks-its-schema",
        "outputs[].facets.dataSource.uri",
        run_event(outputs=[output(dataSource={"uri": "file"})]),
    ),
    (
        "facet-without-producer",
        "run.facets.errorMessage",
        run_facet(
            "errorMessage", {"_schemaURL": "u:b", "message": "m", "programmingLanguage": "l"}
        ),
    ),
    (
        "facet-without-schema-url",
        "run.facets.processing_engine",
        run_facet("processing_engine", {"_producer": "u:b", "version": "4"}),
    ),
    ("facet-without-prefix", "run.facets.airflow", run_facet("airflow", SIGNED)),
    (
        "facet-misplaced",
        "outputs[].facets.outputStatistics",
        run_event(outputs=[output(outputStatistics={"rowCount": 1})]),
    ),
    ("old-parent-key", "run.facets.parentRun", run_facet("parentRun", PARENT)),
    (
        "half-given-parent",
        "run.facets.parent",
        run_facet("parent", {**SIGNED, "run": {"runId": "p"}}),
    ),
    ("half-given-parent", "run.facets.parent", run_facet("parent", {**SIGNED, "job": JOB})),
    (
        "own-parent",
        "run.facets.parent.run.runId",
        run_facet("parent", {**PARENT, "run": {"runId": UUID.upper()}}),
    ),
    (
        "empty-owner",
        "outputs[].facets.ownership.owners[].name",
        run_event(outputs=[output(ownership={"owners": [{"name": "ann"}, {"name": " "}]})]),
    ),
    (
        "unknown-column",
        "outputs[].facets.columnLineage.fields",
        run_event(outputs=[output(columnLineage=lineage_of("x", "s"), schema=schema("a"))]),
    ),
    (
        "unknown-source-column",
        "outputs[].facets.columnLineage.fields[].inputFields[].field",
        run_event(
            inputs=[{**SOURCE, "facets": {"schema": {**SIGNED, **schema("a")}}}],
            outputs=[output(columnLineage=lineage_of("x", "s"))],
        ),
    ),
]

FINE: list[tuple[str, dict[str, Any]]] = [
    ("a plain event", run_event()),
    (
        "another zone, as Java writes it",
        run_event(eventTime="2026-01-31T13:00:00+01:00[Europe/Paris]"),
    ),
    ("a little ahead", run_event(eventTime="2026-01-31T12:00:59Z")),
    ("a parent", run_facet("parent", PARENT)),
    ("a facet with a prefix", run_facet("acme_costs", SIGNED)),
    ("a deleted facet", run_event(outputs=[output(version={"_deleted": True})])),
    ("a failure with Spark's reason", run_facet("spark_exception", SIGNED, eventType="COMPLETE")),
    (
        "no schema to hold columns against",
        run_event(outputs=[output(columnLineage=lineage_of("x", "s"))]),
    ),
    (
        "a field in a struct, in another case",
        run_event(outputs=[output(columnLineage=lineage_of("outer.INNER", "s"), schema=STRUCT)]),
    ),
]


@pytest.mark.parametrize(
    ("rule", "field", "event"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)]
)
def test_a_rule_fires_and_no_other(rule: str, field: str, event: dict[str, Any]) -> None:
    assert findings_of(event) == [(rule, field)]


@pytest.mark.parametrize("event", [event for _, event in FINE], ids=[name for name, _ in FINE])
def test_correct_events_have_no_findings(event: dict[str, Any]) -> None:
    assert findings_of(event) == []


def test_every_rule_is_tried_and_explained() -> None:
    # A refused event is not stored, so it is counted among the dead letters.
    assert {rule for rule, _, _ in CASES} == RULES.keys() - {"refused"}
    for rule in RULES.values():
        assert rule.severity in {"error", "info"}
        assert rule.meaning.endswith(".")
        assert rule.hint.endswith(".")


def test_how_far_ahead_is_the_future_is_a_setting() -> None:
    event = run_event(eventTime="2026-01-31T12:02:00Z")
    assert findings_of(event, future_seconds=121) == []
    assert findings_of(event, future_seconds=0) == [("event-from-the-future", "eventTime")]


def test_a_job_or_a_dataset_alone_has_no_state_to_miss() -> None:
    dressed = {"eventTime": TIME, "producer": "https://a", "schemaURL": "https://b"}
    assert findings_of({**dressed, "job": JOB}) == []
    assert findings_of({**dressed, "dataset": DATASET}) == []


def test_the_findings_of_one_event_are_bounded() -> None:
    facets = {f"f{number}": 7 for number in range(10 * FINDINGS_MAX)}
    assert len(findings_of(run_event(run={"runId": "r", "facets": facets}))) == FINDINGS_MAX


def test_broken_facets_are_those_that_break_their_schema() -> None:
    body = json.dumps(
        run_event(outputs=[output(dataSource={"uri": "file"}, version={"datasetVersion": "1"})])
    ).encode()
    [(facet, fault)] = invalid_facets(parse(body, received=RECEIVED))
    assert (facet.entity, facet.place, facet.key, fault.path) == (
        "dataset",
        "outputs[].facets",
        "dataSource",
        "uri",
    )


@pytest.mark.parametrize("capture", sorted(CAPTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_real_producers_break_the_specification_in_known_ways_only(capture: Path) -> None:
    rules: set[str] = set()
    for line in capture.read_bytes().splitlines():
        for finding in findings(
            line, parse(line, received=RECEIVED), received=2**60, future_seconds=60
        ):
            rules |= {finding.rule} if RULES[finding.rule].severity == "error" else set()
    assert rules <= {"facet-breaks-its-schema"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["parent", "parentRun", "ownership", "columnLineage", "schema", "x", "_deleted"]
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.dictionaries(KEYS, VALUES, max_size=3))
def test_no_facet_makes_it_fail(run: dict[str, Any], dataset: dict[str, Any]) -> None:
    event = run_event(run={"runId": UUID, "facets": run}, outputs=[{**DATASET, "facets": dataset}])
    body = json.dumps(event).encode()
    try:
        parsed = parse(body, received=RECEIVED)
    except EventError:
        return
    for finding in findings(body, parsed, received=RECEIVED, future_seconds=60):
        assert finding.rule in RULES
