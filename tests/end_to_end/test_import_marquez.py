"""Somebody comes from Marquez: the database is imported, and the page's requests are answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.canonical import canonical
from tests.end_to_end.conftest import Running
from tests.importers import postgres

pytestmark = pytest.mark.neo4j
NAMESPACE = "from-marquez"
RUN = "3f5e83fa-3480-44ff-99c5-ff943904e5e8"
NAMED = f"/namespaces/{NAMESPACE}"


def events() -> list[dict[str, Any]]:
    """Return a run of one job and an event without a job, with nulls as Marquez keeps them."""
    dataset = {"namespace": NAMESPACE, "name": "public.orders", "facets": None}
    run = {"run": {"runId": RUN, "facets": None}, "producer": "https://example.com"}
    job = {"job": {"namespace": NAMESPACE, "name": "load orders", "facets": None}}
    return [
        {**run, **job, "eventType": "START", "eventTime": "2026-01-01T00:00:00Z", "outputs": None},
        {
            **run,
            **job,
            "eventType": "COMPLETE",
            "eventTime": "2026-01-01T00:01:00Z",
            "inputs": [],
            "outputs": [dataset],
        },
        {**run, "eventType": "COMPLETE", "eventTime": "2026-01-01T00:02:00Z"},
    ]


def import_from(database: str, server: Running) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headwater", "import", "marquez", database]
    return subprocess.run(
        [*command, "--url", server.url, "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ},
    )


def ask(server: Running, path: str, method: str = "GET", body: Any = None) -> tuple[int, Any]:
    """Send a request as Marquez' page does; return the status and the JSON of the answer."""
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json"} if data else {}
    request = urllib.request.Request(
        f"{server.url}/api/v1{path}", data, headers=headers, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.mark.skipif(postgres.binaries() is None, reason="PostgreSQL is not installed")
def test_a_database_of_marquez_is_imported_and_its_page_works(running: Running) -> None:
    server = running
    with postgres.running() as port:
        postgres.insert(port, [(one["eventTime"], json.dumps(one)) for one in events()])
        database = f"postgresql://marquez@127.0.0.1:{port}/marquez"
        first = import_from(database, server)
        server.wait_folded()
        graph = canonical(server.database)
        again = import_from(database, server)
    for result in (first, again):
        summary = json.loads(result.stdout)
        assert (result.returncode, summary["accepted"], summary["read"]) == (4, 2, {"events": 3})
        assert [one["event"] for one in summary["refused"]] == [3]
        assert "job" in summary["refused"][0]["reason"]
    server.wait_folded()
    assert canonical(server.database) == graph
    _walk(server)


def _walk(server: Running) -> None:
    """Open what the page opens, tag and delete, and read after each edit at once."""
    dataset, job = f"{NAMED}/datasets/public.orders", f"{NAMED}/jobs/load%20orders"
    assert NAMESPACE in [one["name"] for one in ask(server, "/namespaces")[1]["namespaces"]]
    assert ask(server, f"{NAMED}/jobs?limit=25&offset=0")[1]["totalCount"] == 1
    assert ask(server, f"{NAMED}/datasets?limit=20&offset=0")[1]["totalCount"] == 1
    assert ask(server, f"{job}/runs?limit=10&offset=0")[1]["runs"][0]["state"] == "COMPLETED"
    found = ask(server, "/search/?q=orders&sort=UPDATE_AT&limit=100")[1]["results"]
    assert {one["type"] for one in found if one["namespace"] == NAMESPACE} == {"JOB", "DATASET"}
    lineage = ask(server, f"/lineage?nodeId=dataset:{NAMESPACE}:public.orders&depth=2")[1]["graph"]
    assert len(lineage) == 2
    status, listed = ask(
        server,
        "/events/lineage?limit=20&before=2026-01-01T00:01:00.000Z"
        "&after=2026-01-01T00:00:00.000Z&offset=0&sortDirection=desc",
    )
    assert (status, [one["eventType"] for one in listed["events"]][:1]) == (200, ["START"])

    assert ask(server, "/tags/PII", "PUT", {"description": "Personal data."})[0] == 200
    assert {"name": "PII", "description": "Personal data."} in ask(server, "/tags")[1]["tags"]
    assert ask(server, f"{dataset}/tags/PII", "POST")[1]["tags"] == ["PII"]
    assert ask(server, dataset)[1]["tags"] == ["PII"]
    assert ask(server, f"{dataset}/tags/PII", "DELETE")[1]["tags"] == []
    assert ask(server, dataset)[1]["tags"] == []
    assert ask(server, dataset, "DELETE")[0] == 200
    missing = {"code": 404, "message": "Dataset 'public.orders' not found."}
    assert ask(server, dataset) == (404, missing)
    assert ask(server, f"{NAMED}/datasets")[1]["totalCount"] == 0
    assert ask(server, NAMED, "DELETE")[0] == 200
    assert ask(server, NAMED)[0] == 404
    status, refused = ask(server, NAMED, "PUT", {"ownerName": "me"})
    assert (status, refused["code"], refused["message"]) == (
        405,
        405,
        "HTTP 405 Method Not Allowed",
    )
    assert "/api/v1/lineage" in refused["details"]
    assert ask(server, "/nothing")[1]["message"] == "HTTP 404 Not Found"
