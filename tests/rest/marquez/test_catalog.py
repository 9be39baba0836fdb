"""Namespaces, datasets, jobs, runs, sources and tags, read by Marquez' own client."""

from __future__ import annotations

import pytest
from marquez_client import MarquezClient  # type: ignore[import-untyped]
from marquez_client.errors import APIError  # type: ignore[import-untyped]
from starlette.testclient import TestClient

from headwater.schema.urns import artifact_urn, guid_of, job_urn
from tests.rest.marquez.run_history import BUCKET, FAILED, FIRST, get_json, names
from tests.run_builders import at

pytestmark = [pytest.mark.neo4j, pytest.mark.usefixtures("folded")]


def test_namespaces(marquez: MarquezClient) -> None:
    found = marquez.list_namespaces()["namespaces"]
    assert names(found) == ["colons:here", "db", "etl", BUCKET, "secret"]
    lake = {"name": BUCKET, "createdAt": at(0), "updatedAt": at(2), "ownerName": "anonymous"}
    assert marquez.get_namespace(BUCKET) == {**lake, "description": None, "isHidden": False}
    assert names(marquez.list_namespaces(limit=2, offset=1)["namespaces"]) == ["db", "etl"]
    with pytest.raises(APIError):
        marquez.get_namespace("nowhere")


def test_datasets(marquez: MarquezClient) -> None:
    found = marquez.list_datasets("db")
    assert (names(found["datasets"]), found["totalCount"]) == (["orders", "sums"], 2)
    page = marquez.list_datasets("db", limit=1, offset=1)
    assert (names(page["datasets"]), page["totalCount"]) == (["sums"], 2)
    assert names(marquez.list_datasets(BUCKET)["datasets"]) == ["raw/orders"]


def test_jobs(marquez: MarquezClient) -> None:
    found = marquez.list_jobs("etl")
    assert (names(found["jobs"]), found["totalCount"]) == (["load", "report"], 2)
    load = marquez.get_job("etl", "load")
    assert (load["type"], load["simpleName"], load["location"]) == ("BATCH", "load", None)
    assert load["inputs"] == [{"namespace": BUCKET, "name": "raw/orders"}]
    assert load["outputs"] == [{"namespace": "db", "name": "orders"}]
    assert load["facets"]["sql"]["query"] == "SELECT 1"
    assert [run["id"] for run in load["latestRuns"]] == [FIRST]
    assert load["currentVersion"] == guid_of(job_urn("etl", "load"))
    with pytest.raises(APIError):
        marquez.get_job("etl", "nothing")


def test_the_runs_of_a_job(marquez: MarquezClient) -> None:
    (run,) = marquez.list_job_runs("etl", "load")["runs"]
    facets = run.pop("facets")
    assert facets == {}
    assert run == {
        "id": FIRST,
        "createdAt": at(0),
        "updatedAt": at(2),
        "nominalStartTime": None,
        "nominalEndTime": None,
        "state": "COMPLETED",
        "startedAt": at(0),
        "endedAt": at(2),
        "durationMs": 120_000,
        "args": {},
        "jobVersion": {
            "namespace": "etl",
            "name": "load",
            "version": guid_of(job_urn("etl", "load")),
        },
        "inputVersions": [
            {
                "namespace": BUCKET,
                "name": "raw/orders",
                "version": guid_of("source:s3%3A//lake:raw/orders"),
            }
        ],
        "outputVersions": [
            {
                "namespace": "db",
                "name": "orders",
                "version": guid_of(artifact_urn("db", "orders", FIRST)),
            }
        ],
    }
    failed = marquez.get_job_run(FAILED)
    assert (failed["state"], failed["facets"]["errorMessage"]["message"]) == ("FAILED", "no")


def test_all_jobs_newest_first_and_by_the_state_of_their_newest_run(client: TestClient) -> None:
    found = get_json(client, "/jobs")
    assert (names(found["jobs"]), found["totalCount"]) == (["spy", "report", "load"], 3)
    failed = get_json(client, "/jobs", lastRunStates="FAILED,NEW")
    assert (names(failed["jobs"]), failed["totalCount"]) == (["report"], 1)
    assert names(get_json(client, "/namespaces/etl/jobs", lastRunStates="completed")["jobs"]) == [
        "load"
    ]
    page = get_json(client, "/jobs", limit=1, offset=1)
    assert (names(page["jobs"]), page["totalCount"]) == (["report"], 3)


def test_the_one_version_of_a_job(client: TestClient) -> None:
    found = get_json(client, "/namespaces/etl/jobs/load/versions")
    (version,) = found["versions"]
    assert found["totalCount"] == 1
    assert get_json(client, f"/namespaces/etl/jobs/load/versions/{version['version']}") == version
    assert client.get("/api/v1/namespaces/etl/jobs/load/versions/other").status_code == 404


def test_the_facets_of_a_run_and_of_its_job(client: TestClient) -> None:
    assert set(get_json(client, f"/jobs/runs/{FAILED}/facets", type="run")["facets"]) == {
        "errorMessage"
    }
    assert (
        get_json(client, f"/jobs/runs/{FIRST}/facets", type="job")["facets"]["sql"]["query"]
        == "SELECT 1"
    )


def test_sources_and_tags(marquez: MarquezClient) -> None:
    found = {one["name"]: one for one in marquez.list_sources()["sources"]}
    assert set(found) == {"colons:here", "db", "shop", BUCKET, "secret"}
    assert (found["shop"]["type"], found["shop"]["connectionUrl"]) == (
        "POSTGRES",
        "postgres://shop:5432/db",
    )
    assert marquez.get_source(BUCKET) == found[BUCKET]
    assert marquez.list_tags() == {"tags": [{"name": "pii=yes", "description": None}]}
