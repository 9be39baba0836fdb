"""Facets: what each one's schema takes and refuses, what is saved of a broken one, and how a parent may be spelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.schema import facets
from headwater.schema.events import Event, parse
from headwater.schema.facets import (
    FACETS,
    Entity,
    Fault,
    JobName,
    Parent,
    dataset,
    fault_of,
    is_valid,
    kind_of,
    read_parent,
    salvage,
)

CAPTURES = Path(__file__).parent.parent / "captures"
UUID = "0198c2f4-7a3b-7c11-9d5e-6f1a2b3c4d5e"
NAMED = {"namespace": "db", "name": "t"}
TIME = "2026-01-31T12:00:00Z"
COMPARED = {
    "type": "compare",
    "left": {"type": "field", "field": "f"},
    "right": {"type": "literal", "value": "1"},
}
CONDITION = {**COMPARED, "comparison": "EQUAL"}
METRICS = {
    "rowCount": 3,
    "columnMetrics": {"c": {"nullCount": 0, "sum": 1.5, "quantiles": {"0.5": 2}}},
}
ENTRY = {
    **NAMED,
    "type": "DATASET",
    "fields": {"a": {"inputs": [{"type": "JOB"}, {**NAMED, "type": "DATASET"}]}},
}

# One that keeps to the schema, one that breaks it, and the path of the break.
EXAMPLES: list[tuple[Entity, str, dict[str, Any], dict[str, Any], str]] = [
    (
        "run",
        "environmentVariables",
        {"environmentVariables": [{"name": "A", "value": "b"}]},
        {},
        "environmentVariables",
    ),
    (
        "run",
        "errorMessage",
        {"message": "no", "programmingLanguage": "JVM"},
        {"message": "no"},
        "programmingLanguage",
    ),
    (
        "run",
        "executionParameters",
        {"parameters": [{"key": "k", "value": "v"}]},
        {"parameters": [{"key": "k", "colour": "red"}]},
        "parameters[]",
    ),
    (
        "run",
        "externalQuery",
        {"externalQueryId": "q", "source": "bq"},
        {"externalQueryId": 1, "source": "bq"},
        "externalQueryId",
    ),
    (
        "run",
        "extractionError",
        {"totalTasks": 2, "failedTasks": 1, "errors": [{"errorMessage": "no"}]},
        {"totalTasks": 2, "failedTasks": 1, "errors": [{"task": "t"}]},
        "errors[].errorMessage",
    ),
    (
        "run",
        "jobDependencies",
        {
            "upstream": [{"job": NAMED, "run": {"runId": UUID}, "dependency_type": "DIRECT"}],
            "trigger_rule": "ALL",
        },
        {"downstream": [{"run": {"runId": UUID}}]},
        "downstream[].job",
    ),
    (
        "run",
        "nominalTime",
        {"nominalStartTime": TIME},
        {"nominalStartTime": "today"},
        "nominalStartTime",
    ),
    (
        "run",
        "parent",
        {"run": {"runId": UUID}, "job": NAMED, "root": {"run": {"runId": UUID}, "job": NAMED}},
        {"run": {"runId": "scheduled__2026"}, "job": NAMED},
        "run.runId",
    ),
    ("run", "processing_engine", {"version": "4.1", "name": "spark"}, {"name": "spark"}, "version"),
    (
        "run",
        "tags",
        {"tags": [{"key": "k", "value": "v"}]},
        {"tags": [{"key": "k"}]},
        "tags[].value",
    ),
    (
        "run",
        "test",
        {"tests": [{"name": "unique", "status": "pass"}]},
        {"tests": [{"name": "unique"}]},
        "tests[].status",
    ),
    ("job", "documentation", {"description": "d"}, {"description": None}, "description"),
    (
        "job",
        "jobType",
        {"processingType": "BATCH", "integration": "SPARK"},
        {
            "processingType": "STREAMING",
            "integration": "FLINK",
            "emissionPattern": {"eventTrigger": "t", "eventContentMode": "m", "windowDuration": 0},
        },
        "emissionPattern.windowDuration",
    ),
    (
        "job",
        "lineage",
        {"entries": [ENTRY]},
        {"entries": [{"type": "JOB", "name": "half"}]},
        "entries[]",
    ),
    (
        "job",
        "ownership",
        {"owners": [{"name": "ann", "type": "MAINTAINER"}]},
        {"owners": [{}]},
        "owners[].name",
    ),
    (
        "job",
        "sourceCode",
        {"language": "python", "sourceCode": "pass"},
        {"language": "python"},
        "sourceCode",
    ),
    (
        "job",
        "sourceCodeLocation",
        {"type": "git", "url": "https://a/b"},
        {"type": "git", "url": "a/b"},
        "url",
    ),
    ("job", "sql", {"query": "select 1", "dialect": "ansi"}, {"query": ["select 1"]}, "query"),
    (
        "job",
        "tags",
        {"tags": [{"key": "k", "value": "v"}]},
        {"tags": [{"value": "v"}]},
        "tags[].key",
    ),
    (
        "dataset",
        "catalog",
        {"framework": "iceberg", "type": "hive", "name": "c"},
        {"type": "hive", "name": "c"},
        "framework",
    ),
    (
        "dataset",
        "columnLineage",
        {"fields": {"a": {"inputFields": [{**NAMED, "field": "b"}]}}},
        {"fields": {"a": {"inputFields": [NAMED]}}},
        "fields[].inputFields[].field",
    ),
    ("dataset", "dataQualityMetrics", METRICS, {"rowCount": 3}, "columnMetrics"),
    (
        "dataset",
        "dataSource",
        {"name": "s3://lake", "uri": "s3://lake"},
        {"name": "file", "uri": "file"},
        "uri",
    ),
    ("dataset", "datasetType", {"datasetType": "VIEW"}, {"subType": "MATERIALIZED"}, "datasetType"),
    (
        "dataset",
        "documentation",
        {"description": "d"},
        {"contentType": "text/plain"},
        "description",
    ),
    (
        "dataset",
        "hierarchy",
        {"hierarchy": [{"type": "DATABASE", "name": "db"}]},
        {"hierarchy": [{"name": "db"}]},
        "hierarchy[].type",
    ),
    (
        "dataset",
        "lifecycleStateChange",
        {"lifecycleStateChange": "RENAME", "previousIdentifier": NAMED},
        {"lifecycleStateChange": "MOVED"},
        "lifecycleStateChange",
    ),
    (
        "dataset",
        "lineage",
        {"inputs": [{**NAMED, "type": "DATASET"}]},
        {"inputs": [{**NAMED, "type": "FILE"}]},
        "inputs[].type",
    ),
    (
        "dataset",
        "ownership",
        {"owners": [{"name": "ann"}]},
        {"owners": [{"name": 7}]},
        "owners[].name",
    ),
    (
        "dataset",
        "schema",
        {
            "fields": [
                {"name": "a", "type": "struct", "ordinal_position": 1, "fields": [{"name": "b"}]}
            ]
        },
        {"fields": [{"name": "a", "fields": [{"type": "int"}]}]},
        "fields[].fields[].name",
    ),
    ("dataset", "storage", {"storageLayer": "delta"}, {"fileFormat": "parquet"}, "storageLayer"),
    (
        "dataset",
        "symlinks",
        {"identifiers": [{**NAMED, "type": "TABLE"}]},
        {"identifiers": [NAMED]},
        "identifiers[].type",
    ),
    (
        "dataset",
        "tags",
        {"tags": [{"key": "pii", "value": "true", "field": "ssn"}]},
        {"tags": {"pii": True}},
        "tags",
    ),
    ("dataset", "version", {"datasetVersion": "7"}, {"datasetVersion": 7}, "datasetVersion"),
    (
        "input",
        "dataQualityAssertions",
        {"assertions": [{"assertion": "unique", "success": True}]},
        {"assertions": [{"assertion": "unique"}]},
        "assertions[].success",
    ),
    (
        "input",
        "dataQualityMetrics",
        {**METRICS, "lastUpdated": TIME},
        {"columnMetrics": {"c": {"nullCount": 0.5}}},
        "columnMetrics[].nullCount",
    ),
    ("input", "inputStatistics", {"rowCount": 3.0, "size": 10}, {"rowCount": "3"}, "rowCount"),
    (
        "input",
        "subset",
        {
            "inputCondition": {
                "type": "binary",
                "left": CONDITION,
                "right": CONDITION,
                "operator": "AND",
            }
        },
        {"inputCondition": {**COMPARED, "type": "compare"}},
        "inputCondition.comparison",
    ),
    ("output", "outputStatistics", {"rowCount": 3, "fileCount": None}, {"size": 1.5}, "size"),
    (
        "output",
        "subset",
        {"outputCondition": {"type": "partition", "partitions": [{"dimensions": {"day": 1}}]}},
        {"outputCondition": {"type": "location", "locations": "s3://lake"}},
        "outputCondition.locations",
    ),
]


def test_every_facet_has_an_example() -> None:
    assert {(entity, key) for entity, key, *_ in EXAMPLES} == set(FACETS)


@pytest.mark.parametrize(
    ("entity", "key", "good", "bad", "path"), EXAMPLES, ids=[f"{e[0]}-{e[1]}" for e in EXAMPLES]
)
def test_a_facet_keeps_to_its_schema_or_names_where_not(
    entity: Entity, key: str, good: dict[str, Any], bad: dict[str, Any], path: str
) -> None:
    signed = {"_producer": "https://a", "_schemaURL": "https://b", "extra": {"is": "allowed"}}
    assert fault_of(entity, key, json.dumps({**good, **signed}).encode()) is None
    fault = fault_of(entity, key, json.dumps({**bad, **signed}).encode())
    assert fault is not None
    assert fault.path == path
    assert fault.message


def test_a_deleted_facet_need_say_nothing_else() -> None:
    assert is_valid("dataset", "version", b'{"_deleted": true}')
    assert not is_valid("dataset", "version", b'{"_deleted": "yes"}')


@pytest.mark.parametrize("raw", [b"null", b"[]", b'"text"', b"7", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_broken(raw: bytes) -> None:
    assert not is_valid("job", "sql", raw)
    assert salvage(FACETS["job", "sql"], raw) is None


def test_unknown_facets_break_nothing() -> None:
    assert kind_of("run", "spark_properties") is None
    assert is_valid("run", "spark_properties", b'{"properties": 7}')


def test_messages_name_the_format_and_not_its_pattern() -> None:
    fault = fault_of("dataset", "dataSource", b'{"uri": "file"}')
    assert fault is not None
    assert fault.message == "Expected a URI with its scheme"


def test_only_what_is_unreadable_of_a_column_lineage_is_skipped() -> None:
    good = {**NAMED, "field": "b"}
    steps = [{"type": 1}, {"type": "DIRECT", "masking": True}]
    inputs = [NAMED, 7, {**good, "transformations": steps}, {**good, "transformations": "none"}]
    raw = json.dumps(
        {"fields": {"a": {"inputFields": inputs}, "x": None}, "dataset": {"no": "list"}}
    )
    kept = salvage(facets.lineage.ColumnLineage, raw)
    assert kept is not None
    assert list(kept.fields) == ["a"]
    first, second = kept.fields["a"].input_fields
    assert [step.masking for step in first.transformations or ()] == [True]
    assert second.transformations is None
    assert kept.dataset is None


def test_a_lineage_input_without_a_type_is_nobodys() -> None:
    raw = json.dumps(
        {
            "entries": [
                {**ENTRY, "inputs": [NAMED, {"type": "JOB"}, {**NAMED, "type": "DATASET"}]},
                {},
            ]
        }
    )
    kept = salvage(facets.lineage.JobLineage, raw)
    assert kept is not None
    assert [len(entry.inputs or ()) for entry in kept.entries] == [2]


@pytest.mark.parametrize(
    ("entity", "key", "sent", "attribute", "value"),
    [
        ("run", "errorMessage", {"message": "no"}, "message", "no"),
        ("run", "nominalTime", {"nominalStartTime": "today"}, "nominal_start_time", "today"),
        ("job", "jobType", {"jobType": "DAG"}, "job_type", "DAG"),
        ("job", "sourceCodeLocation", {"url": "git@host:repo"}, "url", "git@host:repo"),
        ("dataset", "dataSource", {"uri": "file", "name": 5}, "uri", "file"),
        (
            "dataset",
            "lifecycleStateChange",
            {"lifecycleStateChange": "drop"},
            "lifecycle_state_change",
            "drop",
        ),
        ("dataset", "version", {"datasetVersion": 7}, "dataset_version", "7"),
        ("output", "outputStatistics", {"rowCount": "3", "size": "x"}, "row_count", 3),
    ],
)
def test_salvage_reads_a_facet_that_breaks_its_schema(
    entity: Entity, key: str, sent: dict[str, Any], attribute: str, value: object
) -> None:
    raw = json.dumps(sent).encode()
    assert not is_valid(entity, key, raw)
    facet = salvage(FACETS[entity, key], raw)
    assert getattr(facet, attribute) == value


def test_an_expected_field_is_reported_at_its_path() -> None:
    tags = {"tags": [{"key": "a", "value": "b"}, {"key": "c"}]}
    fault = fault_of("dataset", "tags", json.dumps(tags).encode())
    assert fault == Fault("tags[].value", "Object missing required field `value`")


def test_fields_are_flattened_by_their_path_parents_first() -> None:
    inner = [{"name": "city", "type": "string"}, {"name": " "}]
    sent = {"fields": [{"name": "id", "type": "int"}, {"name": "home", "fields": inner}]}
    schema = salvage(dataset.Schema, json.dumps(sent))
    assert schema is not None
    flat = dataset.flatten_fields(schema.fields)
    assert list(flat.items()) == [("id", "int"), ("home", None), ("home.city", "string")]
    assert dataset.flatten_fields(None) == {}


WORDS = st.sampled_from(
    ["fields", "inputFields", "namespace", "name", "field", "dataset", "transformations"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.text()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner), max_leaves=10
    )
)
def test_salvage_never_fails_and_what_it_saves_is_valid(value: object) -> None:
    kept = salvage(facets.lineage.ColumnLineage, json.dumps(value))
    if kept is not None:
        assert all(
            type(field.field) is str
            for output in kept.fields.values()
            for field in output.input_fields
        )


JOB = JobName("db", "t")
PARENTS: list[tuple[str, dict[str, Any], Parent | None]] = [
    ("as it should be", {"parent": {"run": {"runId": UUID}, "job": NAMED}}, Parent(UUID, JOB)),
    (
        "with a root",
        {
            "parent": {
                "run": {"runId": "r"},
                "job": NAMED,
                "root": {"run": {"runId": "q"}, "job": NAMED},
            }
        },
        Parent("r", JOB, "q", JOB),
    ),
    ("the older key", {"parentRun": {"run": {"runId": "r"}, "job": NAMED}}, Parent("r", JOB)),
    (
        "both keys",
        {"parentRun": {"run": {"runId": "old"}}, "parent": {"run": {"runId": "new"}}},
        Parent("new"),
    ),
    (
        "a broken new one",
        {"parent": {"run": 7}, "parentRun": {"run": {"runId": "old"}}},
        Parent("old"),
    ),
    ("no job", {"parent": {"run": {"runId": "r"}}}, Parent("r")),
    ("no run", {"parent": {"job": NAMED}}, Parent(None, JOB)),
    ("a job by half", {"parent": {"run": {"runId": "r"}, "job": {"name": "t"}}}, Parent("r")),
    ("snake case", {"parent": {"run": {"run_id": "r"}}}, Parent("r")),
    ("flat", {"parent": {"runId": "r", "namespace": "db", "name": "t"}}, Parent("r", JOB)),
    (
        "flat and prefixed",
        {"parent": {"parentRunId": "r", "rootParentRunId": "q"}},
        Parent("r", None, "q"),
    ),
    ("blank", {"parent": {"run": {"runId": " "}}}, None),
    ("deleted", {"parent": {"_deleted": True, "run": {"runId": "r"}}}, None),
    ("null", {"parent": None}, None),
    ("a list", {"parent": [{"runId": "r"}]}, None),
    ("none", {"nominalTime": {}}, None),
]


@pytest.mark.parametrize(
    ("sent", "parent"), [case[1:] for case in PARENTS], ids=[case[0] for case in PARENTS]
)
def test_a_parent_is_read_in_every_spelling(sent: dict[str, Any], parent: Parent | None) -> None:
    assert read_parent({key: json.dumps(value).encode() for key, value in sent.items()}) == parent


def test_no_facets_name_no_parent() -> None:
    assert read_parent(None) is None


def _sent(event: Event) -> set[tuple[Entity, str, bytes]]:
    held: list[tuple[Entity, Any]] = [
        ("run", event.run and event.run.facets),
        ("job", event.job and event.job.facets),
    ]
    held += [("dataset", dataset.facets) for dataset in (*event.inputs, *event.outputs)]
    held += [("input", dataset.input_facets) for dataset in event.inputs]
    held += [("output", dataset.output_facets) for dataset in event.outputs]
    return {
        (entity, key, bytes(raw)) for entity, found in held for key, raw in (found or {}).items()
    }


@pytest.mark.parametrize("capture", sorted(CAPTURES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_of_real_producers_only_the_local_data_source_breaks_its_schema(capture: Path) -> None:
    sent: set[tuple[Entity, str, bytes]] = set()
    for line in capture.read_bytes().splitlines():
        sent |= _sent(parse(line, received=0))
    broken = {(entity, key) for entity, key, raw in sent if not is_valid(entity, key, raw)}
    assert broken <= {("dataset", "dataSource")}
    assert {entity for entity, _, _ in sent} <= set(get_args(Entity))
