"""A run history worked out by hand, and the reads of it at Marquez' paths."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from tests.event_builders import dataset, dataset_event, run_event, schema
from tests.run_builders import Event

Json = dict[str, Any]
BUCKET = "s3://lake"
FIRST = "00000000-0000-4000-8000-000000000001"
FAILED = "00000000-0000-4000-8000-000000000002"
SECRET = "00000000-0000-4000-8000-000000000003"


def history() -> list[Event]:
    raw = dataset("raw/orders", schema(id="int", total="decimal"), namespace=BUCKET)
    source = {"dataSource": {"name": "shop", "uri": "postgres://shop:5432/db"}}
    described = {
        "documentation": {"description": "Clean orders."},
        "tags": {"tags": [{"key": "pii", "value": "yes"}]},
    }
    flow = {"inputFields": [{"namespace": BUCKET, "name": "raw/orders", "field": "id"}]}
    clean = dataset(
        "orders",
        {**schema(id="int"), **source, **described, "columnLineage": {"fields": {"id": flow}}},
    )
    failed = {"errorMessage": {"message": "no", "programmingLanguage": "SQL"}}
    spied = run_event(
        SECRET, "COMPLETE", 6, inputs=["orders"], outputs=[dataset("hidden", namespace="secret")]
    )
    return [
        run_event(
            FIRST, "START", 0, job="load", inputs=[raw], job_facets={"sql": {"query": "SELECT 1"}}
        ),
        run_event(FIRST, "COMPLETE", 2, job="load", inputs=[raw], outputs=[clean]),
        run_event(FAILED, "START", 3, job="report", inputs=["orders"]),
        run_event(
            FAILED, "FAIL", 4, job="report", inputs=["orders"], outputs=["sums"], facets=failed
        ),
        dataset_event("a:b", 5, namespace="colons:here"),
        {**spied, "job": {"namespace": "secret", "name": "spy", "facets": {}}},
    ]


def get_json(client: TestClient, path: str, visibility: str = "", **params: Any) -> Json:
    answer = client.get(
        f"/api/v1{path}", params=params, headers={"x-visibility": visibility} if visibility else {}
    )
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def names(listed: list[Json]) -> list[str]:
    return [one["name"] for one in listed]
