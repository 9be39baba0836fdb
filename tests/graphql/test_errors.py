"""Refused requests have a code, and internal details do not leak."""

from __future__ import annotations

import logging
from threading import Event
from time import sleep
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.errors import SpoolFullError
from headwater.graphql.transport import http as app
from headwater.graphql.transport.http import graphql_routes
from headwater.lineage.view import GraphView
from tests.graphql.conftest import Ask, Served
from tests.run_builders import run, write_events

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("clean_graph")]


@pytest.mark.parametrize(
    "query",
    [
        '{ trace(answerId: "unknown") { truncated } }',
        '{ lineage(urn: "dataset:db:unknown") { truncated } }',
        '{ lineage(dataset: {namespace: "db", name: "unknown"}) { truncated } }',
        '{ lineage(job: {namespace: "etl", name: "unknown"}) { truncated } }',
        '{ lineage(urn: "run:unknown") { truncated } }',
    ],
)
def test_traversals_of_missing_nodes_are_not_found(refused: Ask, query: str) -> None:
    error = refused(query)
    assert error["extensions"]["code"] == "NOT_FOUND"
    assert "unknown" in error["message"]


@pytest.mark.parametrize(
    "query",
    [
        '{ lineage(urn: "dataset:db:a", depth: 0) { truncated } }',
        '{ lineage(urn: "dataset:db:a", depth: -3) { truncated } }',
        '{ lineage(urn: "dataset:db:a", depth: 1000) { truncated } }',
        '{ lineage(urn: "dataset:db:a", depth: 99999999999) { truncated } }',
        '{ lineage(urn: "dataset:db:a", direction: SIDEWAYS) { truncated } }',
        '{ lineage(urn: "nonsense") { truncated } }',
        '{ lineage(urn: "") { truncated } }',
        '{ lineage(urn: "dataset:only-one") { truncated } }',
        "{ lineage { truncated } }",
        '{ lineage(urn: "dataset:db:a", job: {namespace: "etl", name: "j"}) { truncated } }',
        '{ dataset(urn: "job:etl:j") { urn } }',
        '{ dataset(namespace: "db") { urn } }',
        "{ failedRuns(first: -1) { pageInfo { hasNextPage } } }",
        "{ failedRuns(first: 100000) { pageInfo { hasNextPage } } }",
        '{ failedRuns(after: "not a cursor") { pageInfo { hasNextPage } } }',
        '{ failedRuns(since: "30 February") { pageInfo { hasNextPage } } }',
        '{ search(text: "x", first: -1) { totalCount } }',
        "{ nothing }",
        "{ run(runId: 1.5) { runId } }",
        "query {",
        "{ " + "a".join("run" for _ in range(3)),
    ],
)
def test_bad_questions(refused: Ask, query: str) -> None:
    assert refused(query)["extensions"]["code"] == "BAD_REQUEST"


def test_bad_variables(refused: Ask) -> None:
    query = "query ($since: DateTime) { failedRuns(since: $since) { pageInfo { hasNextPage } } }"
    for since in ("yesterday", 5, {"a": 1}, "0000-00-00"):
        assert refused(query, since=since)["extensions"]["code"] == "BAD_REQUEST"


def test_lists_are_bounded(database: Database, refused: Ask) -> None:
    write_events(database, run("r", "j", ["a"], ["b"]))
    for first in (-1, 201):
        error = refused(
            (
                'query ($n: Int!) { dataset(urn: "dataset:db:b") { versions(first: $n) { nodes '
                "{ urn } } } }"
            ),
            n=first,
        )
        assert error["extensions"]["code"] == "BAD_REQUEST"


def test_limits_of_a_query(refused: Ask) -> None:
    deep = "job { " + "inputs { producedBy { " * 8 + "urn" + " } }" * 8 + " }"
    assert "depth" in refused('{ run(runId: "x") { ' + deep + " } }")["message"]
    aliases = " ".join(f'a{n}: run(runId: "x") {{ runId }}' for n in range(100))
    assert "aliases" in refused("{ " + aliases + " }")["message"]
    tokens = " ".join("runId" for _ in range(5_000))
    assert "tokens" in refused('{ run(runId: "x") { ' + tokens + " } }")["message"]


def test_introspection_works(ask: Ask) -> None:
    from graphql import get_introspection_query

    assert "errors" not in ask(get_introspection_query())


def test_bodies(client: TestClient) -> None:
    assert client.post("/graphql", content=b"x" * 70_000).status_code == 413
    json_type = {"content-type": "application/json"}
    for body in (
        b"not json",
        b"[]",
        b"5",
        b"null",
        b'{"no": "query"}',
        b'{"query": 5}',
        b'{"query": "{a}", "variables": 5}',
    ):
        assert client.post("/graphql", content=body, headers=json_type).status_code in {200, 400}, (
            body
        )
    half = client.post(
        "/graphql",
        content=b'{"query": "{ search(text: \\"\\ud800\\") { totalCount } }"}',
        headers=json_type,
    )
    assert half.status_code == 400
    # A form, as curl's -d sends it: the error shows the right body.
    form = client.post("/graphql", data={"query": "{ __typename }"})
    assert (form.status_code, form.json()["errors"][0]["message"]) == (400, "the body is not JSON")
    assert '{"query": "..."' in form.json()["errors"][0]["extensions"]["hint"]
    batch = client.post("/graphql", json=[{"query": "{ __typename }"}])
    assert batch.status_code == 400
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        response = client.post(
            "/graphql", content=b'{"query": "{ __typename }"}', headers={"content-type": kind}
        )
        assert response.status_code == 400, kind
    asked = client.get("/graphql", params={"query": "{ __typename }"})
    assert asked.json() == {"data": {"__typename": "Query"}}
    assert client.put("/graphql").status_code == 405
    assert (
        client.post(
            "/graphql/", json={"query": "{ __typename }"}, follow_redirects=False
        ).status_code
        == 200
    )


class Broken(Database):
    """The real database with a defect in it."""

    def __init__(self, database: Database) -> None:
        self.__dict__.update(database.__dict__)

    def read(self, name: str, /, **options: Any) -> list[dict[str, Any]]:
        raise RuntimeError(f"secret of {name} {len(options)}")


def test_an_internal_error_is_logged_and_not_shown(
    database: Database, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    async def submit(*_: object) -> None:
        raise RuntimeError("secret of the spool")

    with (
        TestClient(served(graphql_routes(GraphView(Broken(database)), submit))) as client,
        caplog.at_level(logging.ERROR),
    ):
        for query in (
            '{ run(runId: "x") { runId } }',
            'mutation { registerSource(input: {name: "x"}) { urn } }',
        ):
            answer = client.post("/graphql", json={"query": query}).json()
            assert answer["errors"][0]["message"] == "internal error"
            assert answer["errors"][0]["extensions"] == {"code": "INTERNAL"}
            assert "secret" not in str(answer)
    assert "secret of the spool" in caplog.text


def test_a_full_spool_is_unavailable(view: GraphView, served: Served) -> None:
    async def submit(*_: object) -> None:
        raise SpoolFullError("the disk is full", hint="Make room.")

    with TestClient(served(graphql_routes(view, submit))) as client:
        query = 'mutation { registerSource(input: {name: "x"}) { urn } }'
        error = client.post("/graphql", json={"query": query}).json()["errors"][0]
    assert error["message"] == "the disk is full"
    assert error["extensions"] == {"code": "UNAVAILABLE", "hint": "Make room."}


def test_no_neo4j_is_unavailable(served: Served) -> None:
    unreachable = Database("bolt://127.0.0.1:1", "neo4j", "x")

    async def submit(*_: object) -> None:
        pass

    with TestClient(served(graphql_routes(GraphView(unreachable), submit))) as client:
        error = client.post("/graphql", json={"query": '{ run(runId: "x") { runId } }'}).json()[
            "errors"
        ][0]
    unreachable.close()
    assert error["extensions"]["code"] == "UNAVAILABLE"


def test_a_request_times_out(
    database: Database, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Event()

    class Slow(Broken):
        def read(self, name: str, /, **options: Any) -> list[dict[str, Any]]:  # noqa: ARG002
            assert answered.wait(30), "the answer waited for what it gave up"
            return []

    async def submit(*_: object) -> None:
        pass

    monkeypatch.setattr(app, "REQUEST_SECONDS_MAX", 0.2)
    with TestClient(served(graphql_routes(GraphView(Slow(database)), submit))) as client:
        error = client.post("/graphql", json={"query": '{ run(runId: "x") { runId } }'}).json()[
            "errors"
        ][0]
        answered.set()
    assert error["extensions"]["code"] == "TIMEOUT"


def test_a_request_has_more_time_until_the_first_queries_are_planned(
    database: Database, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Planning(Broken):
        def read(self, name: str, /, **options: Any) -> list[dict[str, Any]]:  # noqa: ARG002
            sleep(0.5)
            return []

    async def submit(*_: object) -> None:
        pass

    monkeypatch.setattr(app, "REQUEST_SECONDS_MAX", 0.2)
    planning = Planning(database)
    query = {"query": '{ run(runId: "x") { runId } }'}
    with TestClient(served(graphql_routes(GraphView(planning), submit))) as client:
        codes = []
        for seconds in (30.0, 0.0):
            planning.planning_seconds = seconds
            error = client.post("/graphql", json=query).json()["errors"][0]
            codes.append(error["extensions"]["code"])
    assert codes == ["NOT_FOUND", "TIMEOUT"]
