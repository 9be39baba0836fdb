"""Failed runs over GraphQL, with hand-worked results."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.view import GraphView
from tests.conftest import Neo4jServer
from tests.graphql.conftest import Ask, Served
from tests.run_builders import FACET, answer, at, run, version, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.fixture
def history(database: Database, clean_graph: object) -> Database:
    """Write raw -> load -> a -> build -> b -> publish -> d, cited by `report`; then build fails."""
    del clean_graph
    write_events(
        database,
        run("load-1", "load", ["raw"], ["a"], minute=0),
        run("build-1", "build", ["a"], ["b"], minute=10),
        run("publish-1", "publish", ["b"], ["d"], minute=20),
        answer("report", "d", minute=25, content="churn fell"),
        run("build-2", "build", ["a"], ["b"], minute=30, status="FAIL", error="disk full"),
    )
    return database


@pytest.mark.usefixtures("history")
def test_failed_runs(data: Ask) -> None:
    query = """{ failedRuns { edges { cursor node { runId status failedAt error downstream {
      datasets { namespace name } jobs { namespace name } answers { answerId content }
      artifacts { name complete } runs { runId } truncated truncatedBy } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
    found = data(query)["failedRuns"]
    (edge,) = found["edges"]
    assert edge["node"] == {
        "runId": "build-2",
        "status": "FAIL",
        "failedAt": "2026-01-01T00:31:00Z",
        "error": "disk full",
        "downstream": {
            "datasets": [{"namespace": "db", "name": "b"}, {"namespace": "db", "name": "d"}],
            "jobs": [{"namespace": "etl", "name": "publish"}],
            "answers": [{"answerId": "report", "content": "churn fell"}],
            "artifacts": [{"name": "b", "complete": False}],
            "runs": [],
            "truncated": False,
            "truncatedBy": None,
        },
    }
    assert found["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": False,
        "startCursor": edge["cursor"],
        "endCursor": edge["cursor"],
    }


def test_failed_runs_in_pages(database: Database, data: Ask) -> None:
    write_events(
        database,
        *(run(f"f{n}", f"p{n % 2}", [], ["d"], minute=n // 3, status="FAIL") for n in range(9)),
    )
    query = """query ($after: String, $pipeline: String, $since: DateTime, $until: DateTime) {
      failedRuns(first: 4, after: $after, pipeline: $pipeline, since: $since, until: $until) {
        edges { node { runId } } pageInfo { hasNextPage hasPreviousPage endCursor } } }"""
    listed: list[str] = []
    pages: list[tuple[bool, bool]] = []
    after = None
    for _ in range(3):
        page = data(query, after=after)["failedRuns"]
        listed.extend(edge["node"]["runId"] for edge in page["edges"])
        pages.append((page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]))
        after = page["pageInfo"]["endCursor"]
    assert listed == ["f6", "f7", "f8", "f3", "f4", "f5", "f0", "f1", "f2"]
    assert pages == [(False, True), (True, True), (True, False)]

    def ids(**variables: Any) -> list[str]:
        return [edge["node"]["runId"] for edge in data(query, **variables)["failedRuns"]["edges"]]

    assert ids(pipeline="p1") == ["f7", "f3", "f5", "f1"]
    assert ids(since="2026-01-01T00:03:00+00:00") == ["f6", "f7", "f8"]
    assert ids(until="2026-01-01 00:02") == ["f0", "f1", "f2"]
    assert ids(until="2026-01-01T02:02:00+02:00") == ["f0", "f1", "f2"]


@pytest.mark.usefixtures("history")
def test_two_lists_and_the_owners_to_notify(database: Database, data: Ask) -> None:
    ownership = {**FACET, "owners": [{"name": "pia", "type": "OWNER"}]}
    named = {"namespace": "etl", "facets": {"ownership": ownership}}
    write_events(
        database,
        run("publish-2", "publish", ["b"], ["d"], minute=40),
        [{"eventTime": at(0), "job": {**named, "name": name}} for name in ("build", "publish")],
    )
    touched = """{ datasets { name } jobs { name } runs { runId } artifacts { urn complete }
    answers { answerId }
      owners truncated truncatedBy }"""
    query = (
        "{ failedRuns { edges { node { error attempt retried owners resolved resolvedAt "
        "resolvedBy { runId } partial "
    )
    found = data(query + touched + " stale " + touched + " } } } }")["failedRuns"]["edges"][0][
        "node"
    ]
    assert found == {
        "error": "disk full",
        "attempt": None,
        "retried": False,
        "owners": ["pia"],
        "resolved": False,
        "resolvedAt": None,
        "resolvedBy": None,
        "partial": {
            "datasets": [{"name": "b"}, {"name": "d"}],
            "jobs": [{"name": "publish"}],
            "runs": [{"runId": "publish-2"}],
            "artifacts": [
                {"urn": version("b", "build-2"), "complete": False},
                {"urn": version("d", "publish-2"), "complete": True},
            ],
            "answers": [],
            "owners": ["pia"],
            "truncated": False,
            "truncatedBy": None,
        },
        "stale": {
            "datasets": [{"name": "b"}, {"name": "d"}],
            "jobs": [{"name": "publish"}],
            "runs": [{"runId": "publish-2"}],
            "artifacts": [{"urn": version("d", "publish-2"), "complete": True}],
            "answers": [{"answerId": "report"}],
            "owners": ["pia"],
            "truncated": False,
            "truncatedBy": None,
        },
    }


@pytest.mark.usefixtures("history")
def test_a_resolved_failure(database: Database, data: Ask) -> None:
    write_events(database, run("build-3", "build", ["a"], ["b"], minute=50))
    found = data(
        "{ failedRuns { edges { node { resolved resolvedAt resolvedBy { runId } stale { "
        "jobs { name } } } } } }"
    )
    assert found["failedRuns"]["edges"][0]["node"] == {
        "resolved": True,
        "resolvedAt": "2026-01-01T00:51:00Z",
        "resolvedBy": {"runId": "build-3"},
        "stale": {"jobs": []},
    }


PAGE = """query ($first: Int!, $after: String, $namespace: String) {
  failedRuns(first: $first, after: $after, namespace: $namespace) {
    edges { node { runId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


def test_an_empty_page_has_no_cursors(database: Database, data: Ask) -> None:
    """By the Relay specification the cursors are those of the first and the last edge."""
    write_events(
        database, *(run(f"f{n}", "p", [], ["d"], minute=n, status="FAIL") for n in range(3))
    )
    no_cursors = {"startCursor": None, "endCursor": None}
    empty = data(PAGE, first=0)["failedRuns"]
    assert empty["edges"] == []
    assert empty["pageInfo"] == {"hasNextPage": True, "hasPreviousPage": False, **no_cursors}
    second = data(PAGE, first=2)["failedRuns"]["pageInfo"]["endCursor"]
    between = data(PAGE, first=0, after=second)["failedRuns"]["pageInfo"]
    assert between == {"hasNextPage": True, "hasPreviousPage": True, **no_cursors}
    last = data(PAGE, first=2, after=second)["failedRuns"]
    assert [edge["node"]["runId"] for edge in last["edges"]] == ["f0"]
    end = last["pageInfo"]["endCursor"]
    over = data(PAGE, first=2, after=end)["failedRuns"]["pageInfo"]
    assert over == {"hasNextPage": False, "hasPreviousPage": True, **no_cursors}


def test_only_one_namespace(database: Database, data: Ask) -> None:
    other = run("theirs", "p", [], ["d"], minute=1, status="FAIL")
    for event in other:
        event["job"]["namespace"] = "theirs"
    write_events(database, run("ours", "p", [], ["d"], status="FAIL"), other)
    found = data(PAGE, first=5, namespace="theirs")["failedRuns"]
    assert [edge["node"]["runId"] for edge in found["edges"]] == ["theirs"]


def test_bad_arguments_are_reported(refused: Ask) -> None:
    for first in (-1, 201):
        error = refused(PAGE, first=first)
        assert "first" in error["message"]
    assert "cursor" in refused(PAGE, first=1, after="x")["message"]


def test_a_list_costs_no_statement_per_row(
    database: Database, neo4j_server: Neo4jServer, served: Served
) -> None:
    write_events(
        database,
        *(
            run(f"f{n:02d}", f"p{n}", [f"i{n}"], [f"o{n}"], minute=n, status="FAIL")
            for n in range(40)
        ),
    )

    async def submit(*_: object) -> None:
        raise AssertionError("nothing is submitted here")

    queries: list[str] = []
    counted = Database(
        neo4j_server.uri,
        neo4j_server.user,
        neo4j_server.password,
        on_query=lambda name, _: queries.append(name),
    )
    lists = (
        "{ datasets { name } jobs { name } runs { runId } artifacts { name } answers { "
        "answerId } owners }"
    )
    more = (
        "hasFailedChild artifacts { name } downstream { datasets { name lastSeen } "
        "answers { answerId } } resolved"
    )
    run_fields = f"runId inputs {{ name }} outputs {{ name }} job {{ name }} owners attempt {more}"
    query = "query ($n: Int!) { failedRuns(first: $n) { edges { node { " + run_fields
    query += f" partial {lists} stale {lists} }} }} }} }}"
    costs = []
    with TestClient(served(graphql_routes(GraphView(counted), submit))) as client:
        for rows in (2, 40):
            queries.clear()
            answered = client.post(
                "/graphql", json={"query": query, "variables": {"n": rows}}
            ).json()
            found = answered["data"]["failedRuns"]["edges"]
            assert len(found) == rows
            assert found[0]["node"]["inputs"] == [{"name": "i39"}]
            costs.append(len(queries))
    counted.close()
    # Loaders batch per turn of the loop, so a few statements more or less; one for each of the 38
    # further rows would be many.
    assert abs(costs[0] - costs[1]) <= 5
    assert max(costs) < 35
