"""Auditors' queries over HTTP on a real graph: answers, refusals, and their records."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from headwater.cypher.driver.database import Database
from headwater.cypher.query_catalog import load_queries
from headwater.errors import UnavailableError
from headwater.lineage.view import GraphView
from headwater.rest.cypher_api import BODY_BYTES_MAX, routes
from headwater.schema.visibility import UNRESTRICTED, Visibility
from tests.canonical import empty
from tests.run_builders import answer, run, write_events

pytestmark = pytest.mark.neo4j


class RecordedClient:
    """A client of the routes with this visibility; it collects the records."""

    def __init__(
        self,
        database: Database,
        visibility: Visibility | None = None,
        *,
        stores_records: bool = True,
    ) -> None:
        self.records: list[tuple[str, str]] = []
        self._stores = stores_records
        view = GraphView(database, visibility or UNRESTRICTED)
        self.client = TestClient(Starlette(routes=routes(lambda _: view, self._record)))

    def _record(self, request: Request, action: str, outcome: str) -> None:
        assert request.method == "POST"
        if not self._stores:
            raise UnavailableError("the log is full")
        self.records.append((action, outcome))

    def post(self, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        answered = self.client.post(path, json=body)
        return answered.status_code, answered.json()


@pytest.fixture(scope="module")
def history(database: Database) -> Database:
    empty(database)
    write_events(
        database,
        run("c1", "clean", ["raw"], ["clean"], minute=0, rows=9),
        run("c2", "clean", ["raw"], ["clean"], minute=5, status="FAIL", error="disk full"),
        answer("good", "clean", minute=10),
    )
    return database


def test_the_library_is_listed(history: Database) -> None:
    found = RecordedClient(history).client.get("/cypher").json()["queries"]
    assert [one["name"] for one in found] == sorted(
        name.removeprefix("audit/") for name in load_queries() if name.startswith("audit/")
    )
    (cost,) = (one for one in found if one["name"] == "unfinished_runs")
    assert cost["parameters"][0] == {
        "name": "before",
        "type": "DATETIME",
        "required": True,
        "default": None,
    }
    assert cost["columns"] == ["startedAt", "pipeline", "runId", "engine", "status"]


def test_a_query_by_name_is_answered_and_recorded(history: Database) -> None:
    recorded = RecordedClient(history)
    assert recorded.post("/cypher/failed_runs", {"since": "2026-01-01", "limit": 5}) == (
        200,
        {
            "columns": ["failedAt", "pipeline", "runId", "error", "wrote"],
            "rows": [
                {
                    "failedAt": "2026-01-01T00:06:00Z",
                    "pipeline": "clean",
                    "runId": "c2",
                    "error": "disk full",
                    "wrote": ["db clean"],
                }
            ],
            "truncated": False,
        },
    )
    action = 'failed_runs {"since":"2026-01-01","limit":5}'
    assert recorded.records == [(action, "asked"), (action, "answered with 1 rows")]
    empty_body = recorded.client.post("/cypher/dense_nodes")
    assert empty_body.status_code == 200
    assert len(empty_body.json()["rows"]) > 3
    assert recorded.post("/cypher/failed_runs", {"limit": None})[0] == 200


def test_a_statement_is_answered_and_recorded(history: Database) -> None:
    recorded = RecordedClient(history)
    text = (
        "MATCH (r:PipelineRun {runId: $id}) "
        "RETURN r.status AS status, duration('PT1M') AS d, date('2026-01-31') AS day"
    )
    status, found = recorded.post("/cypher", {"query": text, "parameters": {"id": "c1"}})
    assert (status, found["columns"], found["truncated"]) == (200, ["status", "d", "day"], False)
    assert found["rows"] == [{"status": "COMPLETE", "d": "PT1M", "day": "2026-01-31"}]
    assert recorded.records == [
        (f'{text} {{"id":"c1"}}', "asked"),
        (f'{text} {{"id":"c1"}}', "answered with 1 rows"),
    ]
    nothing = recorded.post(
        "/cypher", {"query": "MATCH (r:PipelineRun {runId: 'z'}) RETURN r.status"}
    )
    assert nothing == (200, {"columns": ["r.status"], "rows": [], "truncated": False})
    assert recorded.post("/cypher", {"query": "UNWIND range(1, 5000) AS x RETURN x"})[1][
        "truncated"
    ]


def test_refusals_are_returned_and_recorded(history: Database) -> None:
    recorded = RecordedClient(history)
    status, found = recorded.post("/cypher", {"query": "MATCH (n) DETACH DELETE n"})
    assert (status, found["error"]["code"]) == (400, "Query")
    assert "refused" in found["error"]["message"]
    assert found["error"]["hint"]
    (first, second) = recorded.records
    assert first == ("MATCH (n) DETACH DELETE n", "asked")
    assert second[1].startswith("failed: refused")
    assert history.ask("MATCH (n:Job) RETURN count(n) AS n", {}) == [{"n": 1}]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/cypher/nothing", {}, 404, "no audit query"),
        ("/cypher/failed_runs", {"nope": 1}, 400, "no parameter nope"),
        ("/cypher/failed_runs", {"limit": "many"}, 400, "limit"),
        ("/cypher/failed_runs", {"limit": [1]}, 400, "limit"),
        ("/cypher/failed_runs", {"limit": 1.5}, 400, "limit"),
        ("/cypher/failed_runs", {"since": 5}, 400, "since"),
        ("/cypher/unfinished_runs", {}, 400, "needs the parameter before"),
        ("/cypher/unfinished_runs", {"before": None}, 400, "before"),
        ("/cypher/failed_runs", [1], 400, "expected"),
        ("/cypher", {}, 400, "missing"),
        ("/cypher", {"query": 5}, 400, "expected"),
        ("/cypher", {"query": "RETURN 1 AS x", "more": 1}, 400, "more"),
        ("/cypher", {"query": "RETURN 1 AS x", "parameters": []}, 400, "expected"),
        ("/cypher", {"query": ""}, 400, "no statement"),
        ("/cypher", {"query": "RETURN $x AS x"}, 400, "x"),
        ("/cypher", {"query": "x" * BODY_BYTES_MAX}, 413, "larger"),
    ],
)
def test_bad_arguments_are_reported(
    history: Database, path: str, body: Any, status: int, words: str
) -> None:
    found = RecordedClient(history).post(path, body)
    assert found[0] == status, found
    assert words in found[1]["error"]["message"]


@pytest.mark.parametrize("body", [b"{", b"\xff", b'"\\ud800"', b"[" * 10_000])
def test_malformed_json_is_reported(history: Database, body: bytes) -> None:
    for path in ("/cypher", "/cypher/failed_runs"):
        assert RecordedClient(history).client.post(path, content=body).status_code == 400


def test_keys_of_some_namespaces_are_refused(history: Database) -> None:
    recorded = RecordedClient(history, Visibility(("db",)))
    for path, body in itertools.product(
        ("/cypher", "/cypher/failed_runs"), ({"query": "RETURN 1 AS x"},)
    ):
        status, found = recorded.post(path, body)
        assert (status, found["error"]["code"]) == (403, "Forbidden")
    assert recorded.records == []


def test_queries_that_cannot_be_recorded_do_not_run(history: Database) -> None:
    status, found = RecordedClient(history, stores_records=False).post(
        "/cypher", {"query": "RETURN 1 AS x"}
    )
    assert (status, found["error"]["message"]) == (503, "the log is full")
