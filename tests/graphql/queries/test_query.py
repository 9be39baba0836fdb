"""The queries of the schema on the real Neo4j, with hand-worked results."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headwater.cypher.driver.database import Database
from headwater.schema import headwater_facets as native
from tests.graphql.conftest import Ask
from tests.graphql.queries.conftest import PRODUCER_COLUMNS
from tests.run_builders import ds, run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.mark.usefixtures("history")
def test_run(data: Ask, missing: Callable[[str], None]) -> None:
    query = """query ($id: ID!) { run(runId: $id) {
      runId urn status startedAt finishedAt inputs { namespace name } outputs { namespace name }
      error attempts durationSeconds version pipelineName hasFailedChild childFailures facets
      job { namespace name } parents { runId } children { runId }
      artifacts { name rowCount complete createdAt } readSources { name origin } readArtifacts {
      name }
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
        "artifacts": [
            {
                "name": "a",
                "rowCount": 3_000_000_000,
                "complete": True,
                "createdAt": "2026-01-01T00:01:00Z",
            }
        ],
        "readSources": [{"name": "raw", "origin": "CRM"}],
        "readArtifacts": [],
    }
    parent = data(query, id="dag-1")["run"]
    assert (parent["status"], parent["hasFailedChild"], parent["childFailures"]) == (
        "RUNNING",
        True,
        1,
    )
    assert parent["children"] == [{"runId": "build-1"}, {"runId": "build-2"}]
    assert data(query, id="build-2")["run"]["parents"] == [{"runId": "dag-1"}]
    missing('{ run(runId: "unknown") { runId } }')


def _facet(name: str) -> dict[str, str]:
    return {"_producer": native.PRODUCER, "_schemaURL": f"{native.PRODUCER}/facets/{name}.json"}


def test_a_failed_grandchild_shows(database: Database, data: Ask) -> None:
    write_events(
        database,
        run("middle", "m", [], [], minute=1, parent="top"),
        run("bottom", "b", [], [], minute=2, status="FAIL", parent="middle"),
    )
    assert data('{ run(runId: "top") { hasFailedChild childFailures } }')["run"] == {
        "hasFailedChild": True,
        "childFailures": 1,
    }


@pytest.mark.usefixtures("history")
def test_dataset_and_job_and_answer(data: Ask, missing: Callable[[str], None]) -> None:
    query = """query ($urn: ID) { dataset(urn: $urn) {
      urn namespace name firstSeen lastSeen type columns fields { name type } producedBy { name }
      readBy { name }
      versions(first: 5) { nodes { runId complete } } sources { name } answers { nodes { answerId
      } } facets } }"""
    found = data(query, urn=ds("a"))["dataset"]
    assert found["columns"] == ["id", "name"]
    assert found["fields"] == PRODUCER_COLUMNS
    assert (found["producedBy"], found["readBy"]) == ([{"name": "load"}], [{"name": "build"}])
    assert found["versions"]["nodes"] == [{"runId": "load-1", "complete": True}]
    assert found["facets"]["schema"]["fields"] == PRODUCER_COLUMNS
    assert found["firstSeen"] == "2026-01-01T00:00:00Z"
    b = data(query, urn=ds("b"))["dataset"]
    assert [entry["runId"] for entry in b["versions"]["nodes"]] == ["build-2", "build-1"]
    assert data(query, urn=ds("d"))["dataset"]["answers"] == {"nodes": [{"answerId": "report"}]}
    assert data(query, urn=ds("raw"))["dataset"]["sources"] == [{"name": "raw"}]
    missing('{ dataset(namespace: "db", name: "nope") { urn } }')
    found = data(
        '{ job(urn: "job:etl:build") { inputs { name } outputs { name } runs { nodes { '
        "runId } } sql type } }"
    )
    assert found["job"] == {
        "inputs": [{"name": "a"}],
        "outputs": [{"name": "b"}],
        "runs": {"nodes": [{"runId": "build-2"}, {"runId": "build-1"}]},
        "sql": None,
        "type": None,
    }
    missing('{ job(namespace: "etl", name: "nope") { urn } }')
    assert data('{ answer(answerId: "report") { content } }')["answer"] == {"content": "churn fell"}
    missing('{ answer(answerId: "nope") { content } }')


def test_names_of_any_kind(database: Database, data: Ask) -> None:
    odd = 's3://b/ünï:cödé "quoted" 日本語 \u202e'
    write_events(database, run("ru:n/ä", "jöb:x", [odd], ["y" * 3_000]))
    found = data(
        'query ($n: String!) { lineage(dataset: {namespace: "db", name: $n}) { nodes { name } } }',
        n=odd,
    )
    assert {node["name"] for node in found["lineage"]["nodes"]} == {odd, "jöb:x", "y" * 3_000}
    found = data('{ run(runId: "ru:n/ä") { inputs { name } outputs { name urn } } }')["run"]
    assert found["inputs"] == [{"name": odd}]
    assert found["outputs"][0]["name"] == "y" * 3_000
    hashed = found["outputs"][0]["urn"]
    assert len(hashed) < 100
    assert (
        data("query ($u: ID) { dataset(urn: $u) { name } }", u=hashed)["dataset"]["name"]
        == "y" * 3_000
    )


@pytest.mark.usefixtures("history")
def test_siblings_of_a_missing_node_are_answered(ask: Ask) -> None:
    found = ask(
        '{ run(runId: "nope") { runId } trace(answerId: "nope") { truncated } '
        "failedRuns { nodes { runId } } }"
    )
    assert found["data"] == {
        "run": None,
        "trace": None,
        "failedRuns": {"nodes": [{"runId": "build-2"}]},
    }
    errors = {error["path"][0]: error["extensions"] for error in found["errors"]}
    assert {path: error["code"] for path, error in errors.items()} == {
        "run": "NOT_FOUND",
        "trace": "NOT_FOUND",
    }
    assert all(error["hint"] for error in errors.values())


def test_an_id_declared_as_a_string_is_refused_with_a_hint(refused: Ask) -> None:
    error = refused("query ($id: String!) { run(runId: $id) { runId } }", id="x")
    assert "expecting type 'ID!'" in error["message"]
    assert error["extensions"]["hint"] == (
        "Identifiers are of type ID: declare the variable as ID, ID! or [ID!]."
    )
