"""The queries of the schema on the real Neo4j, with hand-worked results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.graphql.context import Context
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.cache import cache_refresher
from headwater.lineage.cache.cache_refresher import CacheRefresher
from headwater.lineage.questions import lineage
from headwater.lineage.view import GraphView
from headwater.schema import headwater_facets as native
from headwater.schema.urns import column_urn
from tests.graphql.conftest import Ask, Served
from tests.run_builders import answer, at, ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]

PRODUCER_COLUMNS = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]


@pytest.fixture
def told(database: Database, clean_graph: object) -> Database:
    """raw -> load -> a -> build -> b -> publish -> d, cited by `report`; then build fails."""
    load = run("load-1", "load", ["raw"], ["a"], minute=0, version="v7", rows=3_000_000_000)
    load[1]["outputs"][0]["facets"] = {
        "schema": {"_producer": "p", "_schemaURL": "s", "fields": PRODUCER_COLUMNS}
    }
    del clean_graph
    write_events(
        database,
        load,
        [
            native.source_event(
                "raw",
                namespace="db",
                origin="CRM",
                format="csv",
                row_count=14_200,
                captured_at=at(0),
            )
        ],
        run("build-1", "build", ["a"], ["b"], minute=10, parent="dag-1"),
        run("publish-1", "publish", ["b"], ["d"], minute=20),
        answer("report", "d", minute=25, content="churn fell"),
        run(
            "build-2",
            "build",
            ["a"],
            ["b"],
            minute=30,
            status="FAIL",
            error="disk full",
            parent="dag-1",
        ),
    )
    return database


@pytest.mark.usefixtures("told")
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


@pytest.mark.usefixtures("told")
def test_trace(data: Ask) -> None:
    query = """{ trace(answerId: "report") {
      answer { answerId type content generatedAt generatedBy citations { urn artifact { name } } }
      sources { namespace name origin format rowCount capturedAt checksum dataset { urn } }
      artifacts { name runId run { status } } runs { runId status } edges { source target type }
      truncated } }"""
    found = data(query)["trace"]
    assert found["answer"]["content"] == "churn fell"
    assert found["answer"]["generatedAt"] == "2026-01-01T00:25:00Z"
    assert found["answer"]["citations"] == [
        {"urn": version("d", "publish-1"), "artifact": {"name": "d"}}
    ]
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
    assert {
        "source": version("d", "publish-1"),
        "target": "answer:report",
        "type": "CITED_BY",
    } in found["edges"]
    assert len(found["edges"]) == 7
    assert found["truncated"] is False


@pytest.mark.usefixtures("told")
def test_a_trace_as_a_tree(data: Ask) -> None:
    fields = "{ urn kind name depth parentIndex type repeated status codeVersion rowCount }"
    found = data('{ trace(answerId: "report") { tree ' + fields + " } }")["trace"]["tree"]
    assert [
        (one["kind"], one["name"], one["depth"], one["parentIndex"], one["type"]) for one in found
    ] == [
        ("ANSWER", "report", 0, None, None),
        ("ARTIFACT", "d", 1, 0, "CITED_BY"),
        ("PIPELINE_RUN", "publish", 2, 1, "PRODUCED"),
        ("ARTIFACT", "b", 3, 2, "FEEDS"),
        ("PIPELINE_RUN", "build", 4, 3, "PRODUCED"),
        ("ARTIFACT", "a", 5, 4, "FEEDS"),
        ("PIPELINE_RUN", "load", 6, 5, "PRODUCED"),
        ("SOURCE", "raw", 7, 6, "FEEDS"),
    ]
    assert not any(one["repeated"] for one in found)
    assert found[-1]["rowCount"] == 14_200
    assert found[2]["status"] == "COMPLETE"
    assert (
        len(data('{ trace(answerId: "report") { tree(first: 2) { urn } } }')["trace"]["tree"]) == 2
    )


@pytest.mark.usefixtures("told")
def test_lineage_asked_in_many_ways(data: Ask, refused: Ask) -> None:
    asked = "query ($u: [ID!], $after: String, $filter: LineageFilter) { lineage(urns: $u, direction: DOWNSTREAM, "
    asked += "depth: 1, after: $after, filter: $filter) { starts nodes { urn distance } truncatedBy omittedCount "
    asked += "continuations { urn cursor omittedCount } } }"
    found = data(asked, u=[ds("a")])["lineage"]
    assert [(node["urn"], node["distance"]) for node in found["nodes"]] == [
        (ds("a"), 0),
        (ds("b"), 1),
        (job("build"), 1),
    ]
    assert (found["starts"], found["truncatedBy"], found["omittedCount"]) == ([ds("a")], "depth", 1)
    (continuations,) = found["continuations"]
    assert (continuations["urn"], continuations["omittedCount"]) == (ds("b"), 1)
    more = data(asked, u=[ds("a")], after=continuations["cursor"])["lineage"]
    assert {(node["urn"], node["distance"]) for node in more["nodes"]} == {
        (ds("b"), 1),
        (job("publish"), 2),
        (ds("d"), 2),
    }
    none = data(asked, u=[ds("a")], filter={"jobTypes": ["DAG"]})["lineage"]
    assert [node["urn"] for node in none["nodes"]] == [ds("a")]
    assert "cursor" in refused(asked, u=[ds("a")], after="nonsense")["message"]
    assert (
        "another question" in refused(asked, u=[ds("b")], after=continuations["cursor"])["message"]
    )


@pytest.mark.usefixtures("told")
def test_the_map_between_two_instants(data: Ask) -> None:
    times = '{from: "2025-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z"}'
    fields = "{ difference { addedNodes { name } removedNodes { name } addedEdges { type } removedEdges { type } } }"
    found = data(
        "query ($u: ID) { lineage(urn: $u, between: " + times + ") " + fields + " }", u=ds("b")
    )
    difference = found["lineage"]["difference"]
    assert {node["name"] for node in difference["addedNodes"]} == {
        "raw",
        "load",
        "a",
        "build",
        "publish",
        "d",
    }
    assert (
        difference["removedNodes"],
        difference["removedEdges"],
        len(difference["addedEdges"]),
    ) == ([], [], 6)


def test_column_lineage(database: Database, data: Ask) -> None:
    write_events(database, run("r1", "j", ["a"], ["b"], derived={"b": ["a"]}))
    fields = (
        "{ nodes { name distance } truncated omittedCount "
        "edges { source target derivations { jobUrn transformations datasetLevel masked } } }"
    )
    asked = (
        '{ columnLineage(dataset: {namespace: "db", name: "b"}, column: "id", direction: UPSTREAM) '
        + fields
        + " }"
    )
    assert data(asked)["columnLineage"] == {
        "nodes": [{"name": "b.id", "distance": 0}, {"name": "a.id", "distance": 1}],
        "edges": [
            {
                "source": column_urn("db", "a", "id"),
                "target": column_urn("db", "b", "id"),
                "derivations": [
                    {
                        "jobUrn": job("j"),
                        "transformations": ["DIRECT"],
                        "datasetLevel": False,
                        "masked": False,
                    }
                ],
            }
        ],
        "truncated": False,
        "omittedCount": 0,
    }


@pytest.mark.usefixtures("told")
def test_lineage(data: Ask) -> None:
    fields = (
        "{ nodes { urn kind namespace name } edges { source target type } truncated truncatedBy }"
    )
    by_urn = data("query ($u: ID) { lineage(urn: $u) " + fields + " }", u=ds("b"))["lineage"]
    by_name = data(
        '{ lineage(dataset: {namespace: "db", name: "b"}, direction: BOTH, depth: 10) '
        + fields
        + " }"
    )
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
    up = data(
        '{ lineage(job: {namespace: "etl", name: "build"}, direction: UPSTREAM, depth: 1) '
        + fields
        + " }"
    )
    assert [node["urn"] for node in up["lineage"]["nodes"]] == [job("build"), ds("a")]
    assert up["lineage"]["truncatedBy"] == "depth"
    history = data(
        "query ($u: ID) { lineage(urn: $u, direction: DOWNSTREAM) " + fields + " }",
        u=run_of("build-1"),
    )
    assert [node["kind"] for node in history["lineage"]["nodes"]] == [
        "PIPELINE_RUN",
        "ARTIFACT",
        "ANSWER",
        "ARTIFACT",
        "PIPELINE_RUN",
    ]


@pytest.mark.usefixtures("told")
def test_a_small_cached_lineage_is_answered_without_a_thread(
    database: Database, data: Ask, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "query($urn: ID!, $fresh: Boolean) { lineage(urn: $urn, fresh: $fresh) { nodes { urn } edges { type } } }"
    before = data(asked, urn=ds("raw"))
    handed: list[object] = []
    ask = Context.run_in_thread

    async def counted(
        self: Context, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        handed.append(function)
        return await ask(self, function, *args, **kwargs)

    monkeypatch.setattr(Context, "run_in_thread", counted)
    monkeypatch.setattr(cache_refresher, "STALE_SECONDS_MAX", 60.0)
    follower = CacheRefresher(database)
    follower.load()

    async def submit(*_: object) -> None:
        raise AssertionError("nothing is submitted here")

    cached = GraphView(database, cache=follower)
    with TestClient(served(graphql_routes(cached, submit))) as client:

        def post(**variables: Any) -> Any:
            request = {"query": asked, "variables": variables}
            return client.post("/graphql", json=request).json()["data"]

        assert post(urn=ds("raw")) == before
        assert handed == []
        # With `fresh` the request waits for the cache, so it needs a thread.
        assert post(urn=ds("raw"), fresh=True) == before
    assert handed == [lineage.lineage]


@pytest.mark.usefixtures("told")
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
        '{ job(urn: "job:etl:build") { inputs { name } outputs { name } runs { nodes { runId } } sql type } }'
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


@pytest.mark.usefixtures("told")
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
