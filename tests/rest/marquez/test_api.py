"""Errors of Marquez' paths: status, code and message."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("folded")]


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/namespaces?limit=many", 400, "limit: expected `int`, got `str`"),
        ("/namespaces?limit=-1", 400, "limit: expected `int` >= 0"),
        ("/lineage", 400, "nodeId: the field is missing"),
        ("/lineage?nodeId=table:x:y", 400, "nodeId: 'table:x:y' is not a node id"),
        ("/lineage?nodeId=dataset:x", 404, "node 'dataset:x' not found"),
        ("/lineage?nodeId=dataset:db:orders&depth=x", 400, "depth: expected `int`, got `str`"),
        (
            "/column-lineage?nodeId=datasetField:db:orders:nothing",
            404,
            "node 'datasetField:db:orders:nothing' not found",
        ),
        (f"/lineage?nodeId=dataset:{':' * 30}", 400, "nodeId: the id has more than 24 colons"),
        ("/search", 400, "q: the field is missing"),
        ("/search?q=x&filter=table", 400, "filter: `filter` must be dataset or job"),
        ("/events/lineage?after=yesterday", 400, "after: "),
        (
            "/stats/jobs?timezone=Mars/Base&period=WEEK",
            400,
            "timezone: 'Mars/Base' is not a time zone",
        ),
        ("/stats/apples", 400, "asset: invalid enum value 'apples'"),
        ("/jobs?lastRunStates=GREAT", 400, "lastRunStates: 'GREAT' is not one of"),
        ("/jobs/runs/nothing", 404, "Run 'nothing' not found."),
        ("/namespaces/db/datasets/%20", 404, "Dataset ' ' not found."),
    ],
)
def test_a_wrong_request_names_the_field(
    client: TestClient, path: str, status: int, message: str
) -> None:
    answer = client.get(f"/api/v1{path}")
    error = answer.json()
    assert (answer.status_code, error["code"], error["message"].startswith(message)) == (
        status,
        status,
        True,
    ), error
