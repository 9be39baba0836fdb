"""Each facet has its properties in the graph; other facets are stored unchanged. No graph is
needed.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.ingest.fold import fold
from headwater.ingest.project import dataset_view, job_properties, run_view
from headwater.schema.delta import GraphDelta
from headwater.schema.events import parse
from tests.event_builders import dataset, run_event
from tests.run_builders import Event, ds, job, run_of, version

OWNERS = {"owners": [{"name": "team:sales", "type": "MAINTAINER"}, {"name": "ada"}]}
TAGS = {
    "tags": [{"key": "pii", "value": "true"}, {"key": "tier", "value": "gold", "source": "USER"}]
}
MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)
CODE = {
    "type": "git",
    "url": "https://git/x",
    "repoUrl": "git@x",
    "path": "a.py",
    "version": "c0ffee",
    "branch": "main",
}
ASSERTIONS = {
    "assertions": [
        {"assertion": "not_null", "success": False, "column": "id"},
        {"assertion": "unique", "success": True},
    ]
}

# (entity, facet, content, properties). The properties of an input or output are on its edge or
# version.
SHOWN: list[tuple[str, str, Event, dict[str, Any]]] = [
    ("run", "errorMessage", {"message": "no", "programmingLanguage": "JVM"}, {"error": "no"}),
    ("run", "spark.exception", {"message": "no", "stackTrace": "at x"}, {"error": "no"}),
    (
        "run",
        "externalQuery",
        {"externalQueryId": "q-1", "source": "bigquery"},
        {"externalQueryId": "q-1"},
    ),
    (
        "run",
        "extractionError",
        {"totalTasks": 2, "failedTasks": 1, "errors": [{"errorMessage": "cannot parse"}]},
        {"extractionErrors": ["cannot parse"]},
    ),
    (
        "run",
        "nominalTime",
        {"nominalStartTime": "2026-01-01T00:00:00Z", "nominalEndTime": "2026-01-01T00:00:00Z"},
        {"nominalStart": MIDNIGHT, "nominalEnd": MIDNIGHT},
    ),
    ("run", "processing_engine", {"name": "spark", "version": "3.5.1"}, {"engine": "spark 3.5.1"}),
    ("run", "tags", TAGS, {"tags": ["pii", "tier=gold"]}),
    (
        "run",
        "test",
        {"tests": [{"name": "a", "status": "pass"}, {"name": "b", "status": "fail"}]},
        {"testsPassed": 1, "testsFailed": 1, "failedTests": ["b"]},
    ),
    ("job", "documentation", {"description": "daily"}, {"description": "daily"}),
    (
        "job",
        "jobType",
        {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"},
        {"type": "SQL_JOB", "processing": "BATCH", "integration": "SPARK"},
    ),
    ("job", "ownership", OWNERS, {"owners": ["team:sales", "ada"]}),
    (
        "job",
        "sourceCode",
        {"language": "py", "sourceCode": "1"},
        {"language": "py", "sourceCode": "1"},
    ),
    (
        "job",
        "sourceCodeLocation",
        CODE,
        {
            "codeUrl": "https://git/x",
            "codeRepo": "git@x",
            "codePath": "a.py",
            "codeVersion": "c0ffee",
            "codeBranch": "main",
        },
    ),
    ("job", "sql", {"query": "SELECT 1"}, {"sql": "SELECT 1"}),
    ("job", "tags", TAGS, {"tags": ["pii", "tier=gold"]}),
    (
        "dataset",
        "catalog",
        {"framework": "iceberg", "type": "glue", "name": "lake"},
        {"catalog": "lake"},
    ),
    (
        "dataset",
        "dataSource",
        {"name": "db", "uri": "db://x"},
        {"sourceName": "db", "sourceUri": "db://x"},
    ),
    (
        "dataset",
        "datasetType",
        {"datasetType": "VIEW", "subType": "M"},
        {"type": "VIEW", "subType": "M"},
    ),
    ("dataset", "documentation", {"description": "orders"}, {"description": "orders"}),
    (
        "dataset",
        "hierarchy",
        {"hierarchy": [{"name": "p", "type": "DATABASE"}]},
        {"hierarchy": ["p"]},
    ),
    ("dataset", "ownership", OWNERS, {"owners": ["team:sales", "ada"]}),
    (
        "dataset",
        "storage",
        {"storageLayer": "delta", "fileFormat": "parquet"},
        {"storage": "delta", "fileFormat": "parquet"},
    ),
    (
        "dataset",
        "tags",
        {"tags": [{"key": "pii", "value": "true", "field": "mail"}]},
        {"tags": ["mail:pii"]},
    ),
    ("input", "inputStatistics", {"rowCount": 7, "size": 70}, {"rowCount": 7, "bytes": 70}),
    (
        "output",
        "outputStatistics",
        {"rowCount": 7, "size": 70, "fileCount": 2},
        {"rowCount": 7, "bytes": 70, "fileCount": 2},
    ),
    (
        "check",
        "dataQualityAssertions",
        ASSERTIONS,
        {"testsPassed": 1, "testsFailed": 1, "failedTests": ["not_null.id"]},
    ),
]

# Facets without properties, which are stored unchanged in the facets of their node or its facts.
STORED = [
    ("run", "environmentVariables"),
    ("run", "executionParameters"),
    ("run", "environment-properties"),
    ("run", "spark_properties"),
    ("run", "spark_applicationDetails"),
    ("run", "spark_jobDetails"),
    ("run", "spark.logicalPlan"),
    ("run", "spark_unknown"),
    ("run", "unknownSourceAttribute"),
    ("run", "airflow"),
    ("run", "airflowDagRun"),
    ("run", "airflowState"),
    ("run", "airflow_mappedTask"),
    ("run", "dbt_version"),
    ("run", "dbt_run"),
    ("run", "hive_properties"),
    ("run", "hive_query"),
    ("run", "hive_session"),
    ("run", "flink_job"),
    ("run", "checkpoints"),
    ("run", "testRun"),
    ("run", "debug"),
    ("run", "gcp_composer_run"),
    ("run", "gcp_dataproc"),
    ("run", "gcp_dataproc_spark"),
    ("job", "airflow"),
    ("job", "dbt_node"),
    ("job", "gcp_composer_job"),
    ("job", "gcp_lineage"),
    ("dataset", "dataQualityMetrics"),
    ("dataset", "dataQualityAssertions"),
    ("dataset", "dbt_model"),
    ("input", "dataQualityMetrics"),
    ("input", "icebergScanReport"),
    ("output", "icebergCommitReport"),
]


def delta_with(entity: str, key: str, facet: Event) -> GraphDelta:
    """Return the delta of one run event with this facet."""
    facets = {key: facet}
    run, about, of_job = (
        facets if entity == which else None for which in ("run", "dataset", "job")
    )
    read, made = (
        facets if entity in which else None for which in (("input", "check"), ("output",))
    )
    event = run_event(
        "r",
        "FAIL",
        1,
        inputs=[dataset("in", usage=read, side="input")],
        outputs=[dataset("t", about, usage=made)],
        facets=run,
        job_facets=of_job,
    )
    return fold([parse(json.dumps(event).encode(), received=0)])


def shown(entity: str, delta: GraphDelta) -> dict[str, Any]:
    """Return the properties of the node or edge that shows a facet."""
    view = run_view(delta.runs[run_of("r")], {})
    if entity == "job":
        return job_properties(delta.jobs[job("j")])
    if entity == "dataset":
        return dataset_view(delta.datasets[ds("t")]).node
    if entity == "input":
        return view.reads[0].properties
    return view.artifacts[version("t", "r")] if entity == "output" else view.node


@pytest.mark.parametrize(
    ("entity", "key", "facet", "expected"), SHOWN, ids=[f"{one[0]}-{one[1]}" for one in SHOWN]
)
def test_each_facet_has_its_properties(
    entity: str, key: str, facet: Event, expected: dict[str, Any]
) -> None:
    found = shown(entity, delta_with(entity, key, facet))
    assert {name: found[name] for name in expected} == expected


def registers_of(entity: str, delta: GraphDelta) -> Any:
    run = delta.runs[run_of("r")]
    if entity == "job":
        return delta.jobs[job("j")].facets
    if entity == "dataset":
        return delta.datasets[ds("t")].facets
    if entity == "run":
        return run.facets
    return run.inputs[ds("in")].facets if entity == "input" else run.outputs[ds("t")].facets


@pytest.mark.parametrize(("entity", "key"), STORED)
def test_facets_without_properties_are_stored_unchanged(entity: str, key: str) -> None:
    sent = {"any": ["thing", {"deep": 1}]}
    stored = registers_of(entity, delta_with(entity, key, sent))[key].value
    assert json.loads(stored).items() >= sent.items()


@pytest.mark.parametrize(
    ("key", "name"), [("dataQualityAssertions", "assertions"), ("dataQualityMetrics", "metrics")]
)
def test_quality_of_an_input_or_output_is_on_its_edge(key: str, name: str) -> None:
    sent = {"any": "thing"}
    delta = delta_with("input", key, sent)
    view = run_view(delta.runs[run_of("r")], {})
    assert json.loads(view.reads[0].properties[name]).items() >= sent.items()
    assert view.produced[version("t", "r")][name] is None
    written = run_view(delta_with("output", key, sent).runs[run_of("r")], {})
    assert json.loads(written.produced[version("t", "r")][name]).items() >= sent.items()
    assert written.reads[0].properties[name] is None


def test_a_key_on_two_entities_is_two_facets() -> None:
    delta = delta_with("dataset", "tags", {"tags": [{"key": "pii"}]})
    assert shown("run", delta)["tags"] is None
    assert shown("dataset", delta)["tags"] == ["pii"]
