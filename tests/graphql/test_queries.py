"""Every question of the schema on the real Neo4j; the names clients rely on, and results worked out by hand."""

from __future__ import annotations

import pytest

from headwater.cypher.database import Database
from headwater.schema import native
from tests.graphql.conftest import Ask
from tests.stories import answer, at, ds, job, run, run_of, tell, version

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

PRODUCER_COLUMNS = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]


@pytest.fixture
def told(database: Database, clean_graph: object) -> Database:
    """raw -> load -> a -> build -> b -> publish -> d, cited by `report`; then build fails."""
    load = run("load-1", "load", ["raw"], ["a"], minute=0, version="v7", rows=3_000_000_000)
    load[1]["outputs"][0]["facets"] = {"schema": {"_producer": "p", "_schemaURL": "s", "fields": PRODUCER_COLUMNS}}
    del clean_graph
    tell(
        database,
        load,
        [native.source_event("raw", namespace="db", origin="CRM", format="csv", row_count=14_200, captured_at=at(0))],
        run("build-1", "build", ["a"], ["b"], minute=10, parent="dag-1"),
        run("publish-1", "publish", ["b"], ["d"], minute=20),
        answer("report", "d", minute=25, content="churn fell"),
        run("build-2", "build", ["a"], ["b"], minute=30, status="FAIL", error="disk full", parent="dag-1"),
    )
    return database


@pytest.mark.usefixtures("told")
def test_run(data: Ask) -> None:
    query = """query ($id: String!) { run(runId: $id) {
      runId urn status startedAt finishedAt inputs { namespace name } outputs { namespace name }
      error attempts durationSeconds version pipelineName hasFailedChild childFailures facets
      job { namespace name } parents { runId } children { runId }
      artifacts { name rowCount complete createdAt } readSources { name origin } readArtifacts { name }
    } }"""
    assert data(query, id="load-1")["run"] == {
        "runId": "load-1",
        "urn": "run:load-1",
        "status": "COMPLETE",
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T00:01:00Z",
        "inputs": [{"namespace": "db", "name": "raw"}],
        "outputs": [{"namespace": "db", "name": "a"}],
        "error": None,
        "attempts": 1,
        "durationSeconds": 60.0,
        "version": "v7",
        "pipelineName": "load",
        "hasFailedChild": False,
        "childFailures": 0,
        "facets": {"headwater_run": {**_facet("headwater_run"), "version": "v7"}},
        "job": {"namespace": "etl", "name": "load"},
        "parents": [],
        "children": [],
        "artifacts": [{"name": "a", "rowCount": 3_000_000_000, "complete": True, "createdAt": "2026-01-01T00:01:00Z"}],
        "readSources": [{"name": "raw", "origin": "CRM"}],
        "readArtifacts": [],
    }
    parent = data(query, id="dag-1")["run"]
    assert (parent["status"], parent["hasFailedChild"], parent["childFailures"]) == ("RUNNING", True, 1)
    assert parent["children"] == [{"runId": "build-1"}, {"runId": "build-2"}]
    assert data(query, id="build-2")["run"]["parents"] == [{"runId": "dag-1"}]
    assert data(query, id="unknown")["run"] is None


def _facet(name: str) -> dict[str, str]:
    return {"_producer": native.PRODUCER, "_schemaURL": f"{native.PRODUCER}/facets/{name}.json"}


def test_a_failed_grandchild_shows(database: Database, data: Ask) -> None:
    tell(
        database,
        run("middle", "m", [], [], minute=1, parent="top"),
        run("bottom", "b", [], [], minute=2, status="FAIL", parent="middle"),
    )
    assert data('{ run(runId: "top") { hasFailedChild childFailures } }')["run"] == {
        "hasFailedChild": True,
        "childFailures": 1,
    }


@pytest.mark.usefixtures("told")
def test_trace(data: Ask) -> None:
    query = """{ trace(answerId: "report") {
      answer { answerId type content generatedAt generatedBy citations { urn artifact { name } } }
      sources { namespace name origin format rowCount capturedAt checksum dataset { urn } }
      artifacts { name runId run { status } } runs { runId status } edges { source target type } truncated } }"""
    found = data(query)["trace"]
    assert found["answer"]["content"] == "churn fell"
    assert found["answer"]["generatedAt"] == "2026-01-01T00:25:00Z"
    assert found["answer"]["citations"] == [{"urn": version("d", "publish-1"), "artifact": {"name": "d"}}]
    assert found["sources"] == [
        {
            "namespace": "db",
            "name": "raw",
            "origin": "CRM",
            "format": "csv",
            "rowCount": 14_200,
            "capturedAt": "2026-01-01T00:00:00Z",
            "checksum": None,
            "dataset": {"urn": ds("raw")},
        }
    ]
    assert [artifact["name"] for artifact in found["artifacts"]] == ["d", "b", "a"]
    assert [entry["runId"] for entry in found["runs"]] == ["publish-1", "build-1", "load-1"]
    assert {"source": version("d", "publish-1"), "target": "answer:report", "type": "CITED_BY"} in found["edges"]
    assert len(found["edges"]) == 7
    assert found["truncated"] is False


@pytest.mark.usefixtures("told")
def test_lineage(data: Ask) -> None:
    fields = "{ nodes { urn kind namespace name } edges { source target type } truncated truncatedBy }"
    by_urn = data("query ($u: String) { lineage(urn: $u) " + fields + " }", u=ds("b"))["lineage"]
    by_name = data('{ lineage(dataset: {namespace: "db", name: "b"}, direction: BOTH, depth: 10) ' + fields + " }")
    assert by_urn == by_name["lineage"]
    assert {(node["kind"], node["name"]) for node in by_urn["nodes"]} == {
        ("DATASET", "raw"),
        ("JOB", "load"),
        ("DATASET", "a"),
        ("JOB", "build"),
        ("DATASET", "b"),
        ("JOB", "publish"),
        ("DATASET", "d"),
    }
    assert len(by_urn["edges"]) == 6
    up = data('{ lineage(job: {namespace: "etl", name: "build"}, direction: UPSTREAM, depth: 1) ' + fields + " }")
    assert [node["urn"] for node in up["lineage"]["nodes"]] == [job("build"), ds("a")]
    assert up["lineage"]["truncatedBy"] == "depth"
    history = data("query ($u: String) { lineage(urn: $u, direction: DOWNSTREAM) " + fields + " }", u=run_of("build-1"))
    assert [node["kind"] for node in history["lineage"]["nodes"]] == [
        "PIPELINE_RUN",
        "ARTIFACT",
        "ANSWER",
        "ARTIFACT",
        "PIPELINE_RUN",
    ]


@pytest.mark.usefixtures("told")
def test_dataset_and_job_and_answer(data: Ask) -> None:
    query = """query ($urn: String) { dataset(urn: $urn) {
      urn namespace name firstSeen lastSeen type columns fields { name type } producedBy { name } readBy { name }
      versions(first: 5) { runId complete } sources { name } answers { answerId } facets } }"""
    found = data(query, urn=ds("a"))["dataset"]
    assert found["columns"] == ["id", "name"]
    assert found["fields"] == PRODUCER_COLUMNS
    assert (found["producedBy"], found["readBy"]) == ([{"name": "load"}], [{"name": "build"}])
    assert found["versions"] == [{"runId": "load-1", "complete": True}]
    assert found["facets"]["schema"]["fields"] == PRODUCER_COLUMNS
    assert found["firstSeen"] == "2026-01-01T00:00:00Z"
    b = data(query, urn=ds("b"))["dataset"]
    assert [entry["runId"] for entry in b["versions"]] == ["build-2", "build-1"]
    assert data(query, urn=ds("d"))["dataset"]["answers"] == [{"answerId": "report"}]
    assert data(query, urn=ds("raw"))["dataset"]["sources"] == [{"name": "raw"}]
    assert data('{ dataset(namespace: "db", name: "nope") { urn } }')["dataset"] is None
    found = data(
        '{ job(namespace: "etl", name: "build") { inputs { name } outputs { name } runs { runId } sql type } }'
    )
    assert found["job"] == {
        "inputs": [{"name": "a"}],
        "outputs": [{"name": "b"}],
        "runs": [{"runId": "build-2"}, {"runId": "build-1"}],
        "sql": None,
        "type": None,
    }
    assert data('{ job(namespace: "etl", name: "nope") { urn } }')["job"] is None
    assert data('{ answer(answerId: "report") { content } }')["answer"] == {"content": "churn fell"}
    assert data('{ answer(answerId: "nope") { content } }')["answer"] is None


def test_names_of_any_kind(database: Database, data: Ask) -> None:
    odd = 's3://b/ünï:cödé "quoted" 日本語 \u202e'
    tell(database, run("ru:n/ä", "jöb:x", [odd], ["y" * 3_000]))
    found = data('query ($n: String!) { lineage(dataset: {namespace: "db", name: $n}) { nodes { name } } }', n=odd)
    assert {node["name"] for node in found["lineage"]["nodes"]} == {odd, "jöb:x", "y" * 3_000}
    found = data('{ run(runId: "ru:n/ä") { inputs { name } outputs { name urn } } }')["run"]
    assert found["inputs"] == [{"name": odd}]
    assert found["outputs"][0]["name"] == "y" * 3_000
    hashed = found["outputs"][0]["urn"]
    assert len(hashed) < 100
    assert data("query ($u: String) { dataset(urn: $u) { name } }", u=hashed)["dataset"]["name"] == "y" * 3_000
