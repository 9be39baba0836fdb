"""Traversals, traces and column lineage over GraphQL, with hand-worked results."""

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
from headwater.schema.urns import column_urn
from tests.graphql.conftest import Ask, Served
from tests.run_builders import ds, job, run, run_of, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.mark.usefixtures("history")
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


@pytest.mark.usefixtures("history")
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


@pytest.mark.usefixtures("history")
def test_starts_filters_and_continuations(data: Ask, refused: Ask) -> None:
    query = (
        "query ($u: [ID!], $after: String, $filter: LineageFilter) { lineage(urns: $u, "
        "direction: DOWNSTREAM, "
    )
    query += (
        "depth: 1, after: $after, filter: $filter) { starts nodes { urn distance } "
        "truncatedBy omittedCount "
    )
    query += "continuations { urn cursor omittedCount } } }"
    found = data(query, u=[ds("a")])["lineage"]
    assert [(node["urn"], node["distance"]) for node in found["nodes"]] == [
        (ds("a"), 0),
        (ds("b"), 1),
        (job("build"), 1),
    ]
    assert (found["starts"], found["truncatedBy"], found["omittedCount"]) == ([ds("a")], "depth", 1)
    (continuations,) = found["continuations"]
    assert (continuations["urn"], continuations["omittedCount"]) == (ds("b"), 1)
    more = data(query, u=[ds("a")], after=continuations["cursor"])["lineage"]
    assert {(node["urn"], node["distance"]) for node in more["nodes"]} == {
        (ds("b"), 1),
        (job("publish"), 2),
        (ds("d"), 2),
    }
    none = data(query, u=[ds("a")], filter={"jobTypes": ["DAG"]})["lineage"]
    assert [node["urn"] for node in none["nodes"]] == [ds("a")]
    assert "cursor" in refused(query, u=[ds("a")], after="nonsense")["message"]
    assert (
        "another question" in refused(query, u=[ds("b")], after=continuations["cursor"])["message"]
    )


@pytest.mark.usefixtures("history")
def test_the_lineage_graph_between_two_instants(data: Ask) -> None:
    times = '{from: "2025-01-01T00:00:00Z", to: "2027-01-01T00:00:00Z"}'
    fields = (
        "{ difference { addedNodes { name } removedNodes { name } addedEdges { type } "
        "removedEdges { type } } }"
    )
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
    query = (
        '{ columnLineage(dataset: {namespace: "db", name: "b"}, column: "id", direction: UPSTREAM) '
        + fields
        + " }"
    )
    assert data(query)["columnLineage"] == {
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


@pytest.mark.usefixtures("history")
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


@pytest.mark.usefixtures("history")
def test_a_small_cached_lineage_is_answered_without_a_thread(
    database: Database, data: Ask, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = (
        "query($urn: ID!, $fresh: Boolean) { lineage(urn: $urn, fresh: $fresh) { nodes "
        "{ urn } edges { type } } }"
    )
    before = data(query, urn=ds("raw"))
    handed: list[object] = []
    run_in_thread = Context.run_in_thread

    async def counted(
        self: Context, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        handed.append(function)
        return await run_in_thread(self, function, *args, **kwargs)

    monkeypatch.setattr(Context, "run_in_thread", counted)
    monkeypatch.setattr(cache_refresher, "STALE_SECONDS_MAX", 60.0)
    follower = CacheRefresher(database)
    follower.load()

    async def submit(*_: object) -> None:
        raise AssertionError("nothing is submitted here")

    cached = GraphView(database, cache=follower)
    with TestClient(served(graphql_routes(cached, submit))) as client:

        def post(**variables: Any) -> Any:
            request = {"query": query, "variables": variables}
            return client.post("/graphql", json=request).json()["data"]

        assert post(urn=ds("raw")) == before
        assert handed == []
        # With `fresh` the request waits for the cache, so it needs a thread.
        assert post(urn=ds("raw"), fresh=True) == before
    assert handed == [lineage.lineage]


OVERVIEW = """query($urn: ID!, $asOf: DateTime, $between: TimeComparison, $nodesMax: Int! = 60) {
  lineage(urn: $urn, depth: 2, asOf: $asOf, between: $between, nodesMax: $nodesMax) {
    truncatedBy
    nodes { urn overview { state stateSince stateCause lastRunAt lastRunId updatedAt rowCount
      owners tags type columnCount failedChecks upstreamCount downstreamCount } }
    difference { removedNodes { urn overview { state } } }
  } }"""


def test_overviews(database: Database, data: Ask) -> None:
    """build failed after its first success: what lies downstream waits for it."""
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0, rows=5),
        run("build-1", "build", ["a"], ["b"], minute=10),
        run("build-2", "build", ["a"], [], minute=20, status="FAIL"),
    )
    found = data(OVERVIEW, urn=ds("a"))["lineage"]
    overviews = {node["urn"]: node["overview"] for node in found["nodes"]}
    assert overviews[job("build")] == {
        "state": "FAILED",
        "stateSince": "2026-01-01T00:21:00Z",
        "stateCause": None,
        "lastRunAt": "2026-01-01T00:20:00Z",
        "lastRunId": "build-2",
        "updatedAt": None,
        "rowCount": None,
        "owners": [],
        "tags": [],
        "type": None,
        "columnCount": None,
        "failedChecks": None,
        "upstreamCount": 1,
        "downstreamCount": 1,
    }
    assert overviews[ds("b")]["state"] == "STALE"
    assert overviews[ds("b")]["stateCause"] == job("build")
    assert overviews[ds("b")]["updatedAt"] == "2026-01-01T00:11:00Z"
    assert (overviews[ds("a")]["rowCount"], overviews[ds("a")]["failedChecks"]) == (5, 0)
    past = data(OVERVIEW, urn=ds("a"), asOf="2026-01-01T00:15:00Z")["lineage"]
    assert {node["overview"]["state"] for node in past["nodes"]} == {"OK", "UNKNOWN"}


def test_nodes_max(database: Database, data: Ask) -> None:
    outputs = [f"o{number}" for number in range(30)]
    write_events(database, run("load-1", "load", ["raw"], outputs, minute=0))
    found = data(OVERVIEW, urn=ds("raw"), nodesMax=10)["lineage"]
    assert found["truncatedBy"] == "nodes"
    assert len(found["nodes"]) <= 10


def test_the_paths_between_two_nodes(database: Database, data: Ask) -> None:
    write_events(
        database,
        run("1", "load", ["raw"], ["a"], minute=0),
        run("2", "build", ["a"], ["b"], minute=10),
        run("3", "aside", ["a"], ["c"], minute=20),
    )
    query = """query($urn: ID!, $to: ID!, $after: String) {
      lineage(urn: $urn, to: $to, after: $after) { starts nodes { urn } edges { target } } }"""
    found = data(query, urn=ds("raw"), to=ds("b"))["lineage"]
    urns = {node["urn"] for node in found["nodes"]}
    assert urns == {ds("raw"), job("load"), ds("a"), job("build"), ds("b")}
    assert len(found["edges"]) == 4
    assert data(query, urn=ds("b"), to=ds("c"))["lineage"]["nodes"] == []
