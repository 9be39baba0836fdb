"""The Python client: the events it sends and the errors it raises, against real servers.

`tests/end_to_end/test_seed_tutorial.py` has the client against a whole Headwater.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from headwater.client import Artifact, Headwater, Run, Source
from headwater.errors import (
    EventError,
    ForbiddenError,
    HeadwaterError,
    NotFoundError,
    QueryError,
    UnauthorizedError,
    UnavailableError,
)
from tests.spark_hooks.servers import closed_port

ACCEPTED: dict[str, list[Any]] = {"failed_events": []}


class _Api(ThreadingHTTPServer):
    """Records requests, and answers each with the same status and JSON."""

    daemon_threads = True

    def __init__(self, status: int, content: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.content = status, content
        self.requests: list[Any] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: _Api

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        self.server.keys.append(self.headers["Authorization"])
        answer = json.dumps(self.server.content).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


@contextmanager
def api(content: Any, status: int = 200) -> Iterator[_Api]:
    """Run an API that answers every request in the same way."""
    server = _Api(status, content)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.socket.close()


def test_registrations_are_events_and_return_references() -> None:
    with api(ACCEPTED) as server:
        headwater = Headwater(server.url, api_key="hw_1", namespace="shop")
        source = headwater.source("crm", origin="CRM", row_count=3)
        run = headwater.pipeline_run("r-1", pipeline_name="enrich", inputs=[source], error="no")
        artifact = headwater.artifact("contacts", produced_by=run, type="table")
        assert headwater.answer("a-1", cites=[artifact, source, "a-0"], content="42") == "a-1"
    assert (source, run) == (Source("shop", "crm"), Run("r-1", "enrich", "shop"))
    assert artifact == Artifact("shop", "contacts", "r-1")
    assert set(server.keys) == {"Bearer hw_1"}
    [[sent], [ended], [version], [answer]] = server.requests
    assert sent["dataset"]["facets"]["headwater_source"]["rowCount"] == 3
    assert (ended["eventType"], ended["job"]["name"]) == ("COMPLETE", "enrich")
    assert version["dataset"]["facets"]["headwater_artifact"]["runId"] == "r-1"
    assert answer["dataset"]["facets"]["headwater_answer"]["cites"] == [
        {"namespace": "shop", "name": "contacts", "runId": "r-1"},
        {"namespace": "shop", "name": "crm"},
        {"answerId": "a-0"},
    ]


def test_aliases_are_merged_and_split() -> None:
    with api(ACCEPTED) as server:
        headwater = Headwater(server.url)
        headwater.merge_aliases(("file", "/a"), ("db", "a"))
        headwater.split_aliases(("file", "/a"), ("db", "b"))
    facets = [request[0]["dataset"]["facets"]["headwater_symlinks"] for request in server.requests]
    assert facets[0]["same"] == [{"namespace": "db", "name": "a"}]
    assert facets[1]["apart"] == [{"namespace": "db", "name": "b"}]


def test_an_unknown_status_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(QueryError, match="splendid"):
        Headwater(closed_port()).pipeline_run("r", pipeline_name="p", status="splendid")


def test_the_first_refused_event_is_raised_with_its_field() -> None:
    refused = {"failed_events": [{"reason": "run.runId is empty", "field": "run.runId"}]}
    with api(refused) as server, pytest.raises(EventError, match=r"run\.runId") as raised:
        Headwater(server.url).source("s")
    assert raised.value.field == "run.runId"


@pytest.mark.parametrize(
    ("status", "kind"), [(401, UnauthorizedError), (403, ForbiddenError), (500, HeadwaterError)]
)
def test_a_refusal_of_the_api_is_an_error_of_its_kind(
    status: int, kind: type[HeadwaterError]
) -> None:
    with api({"error": "no"}, status) as server, pytest.raises(kind, match=str(status)):
        Headwater(server.url).source("s")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [("NOT_FOUND", NotFoundError), ("FORBIDDEN", ForbiddenError), ("OTHER", QueryError)],
)
def test_an_error_of_graphql_is_an_error_of_its_kind(code: str, kind: type[HeadwaterError]) -> None:
    errors = {"errors": [{"message": "no", "extensions": {"code": code}}]}
    with api(errors) as server, pytest.raises(kind, match="no"):
        Headwater(server.url).trace("a")


def test_the_data_of_a_query_is_returned() -> None:
    with api({"data": {"failedRuns": {"edges": [{"node": {"runId": "r"}}]}}}) as server:
        assert Headwater(server.url).failed_runs(first=5) == [{"runId": "r"}]
    assert server.requests[0]["variables"] == {"first": 5}


@pytest.mark.slow
def test_an_absent_api_is_unavailable_after_all_tries() -> None:
    with pytest.raises(UnavailableError, match="does not answer"):
        Headwater(closed_port(), timeout_seconds=1).source("s")
