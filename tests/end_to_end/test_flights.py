"""The demo's real Spark pipeline through a running Headwater: GraphQL finds all its lineage."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Running

pytestmark = [pytest.mark.neo4j, pytest.mark.spark, pytest.mark.slow]

RAW = ["airlines", "airports", "flights", "planes", "weather"]
# Counted by hand in the package's CSV files, or known of them: 16 airlines; every flight of 2013
# from New York.
ROWS = {
    "clean/airlines": 16,
    "clean/flights": 336_776,
    "joined/flights": 336_776,
    "marts/carrier_delays": 16,
}


@pytest.fixture(scope="module")
def lake(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flights")
    command = [
        sys.executable,
        "-m",
        "headwater.demo.pipeline",
        "--url",
        running.url,
        "--home",
        str(folder),
    ]
    subprocess.run(command, check=True, timeout=280)
    running.wait_folded()
    return folder


def ask(running: Running, query: str, **variables: Any) -> Any:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(
        f"{running.url}/graphql", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        response = json.load(answer)
    assert "errors" not in response, response
    return response["data"]


def test_the_five_raw_folders_are_sources(running: Running, lake: Path) -> None:
    query = (
        'query ($name: String!) { dataset(namespace: "file", name: $name) { sources { '
        "name } producedBy { name } } }"
    )
    for table in RAW:
        found = ask(running, query, name=f"{lake}/raw/{table}")["dataset"]
        assert found == {"sources": [{"name": f"{lake}/raw/{table}"}], "producedBy": []}


def test_versions_carry_the_rows_that_were_written(running: Running, lake: Path) -> None:
    query = """query ($name: String!) {
      dataset(namespace: "file", name: $name) { versions { nodes { rowCount complete bytes } } } }"""
    for name, rows in ROWS.items():
        versions = ask(running, query, name=f"{lake}/{name}")["dataset"]["versions"]["nodes"]
        assert [(version["rowCount"], version["complete"]) for version in versions] == [
            (rows, True)
        ]
        assert versions[0]["bytes"] > 0


def test_schema_and_column_lineage(running: Running, lake: Path) -> None:
    query = """query ($urn: ID!, $name: String!) {
      dataset(namespace: "file", name: $name) { fields { name type } }
      lineage(urn: $urn, direction: UPSTREAM, fresh: true) { nodes { kind name } } }"""
    mart = f"{lake}/marts/carrier_delays"
    found = ask(running, query, urn=f"column:file:{mart}:median_arr_delay", name=mart)
    assert {"name": "carrier", "type": "string"} in found["dataset"]["fields"]
    assert {node["name"] for node in found["lineage"]["nodes"]} >= {
        f"{lake}/joined/flights.arr_delay",
        f"{lake}/clean/flights.arr_delay",
        f"{lake}/raw/flights.arr_delay",
    }


def test_the_answer_is_traced_to_its_raw_sources(running: Running, lake: Path) -> None:
    query = """{ trace(answerId: "worst-carrier-2013") {
      answer { content } sources { namespace name } runs { status } artifacts { name } truncated } }"""
    found = ask(running, query)["trace"]
    # F9, Frontier: the largest median of arr_delay over the year, 6 minutes over 681 flights that
    # arrived.
    assert "Frontier Airlines Inc. (F9): 6 minutes over 681 flights" in found["answer"]["content"]
    # The airports are not among them: the mart of the carriers is not made from those.
    assert {source["name"] for source in found["sources"]} == {
        f"{lake}/raw/{table}" for table in ("airlines", "flights", "planes", "weather")
    }
    assert {artifact["name"] for artifact in found["artifacts"]} == {
        f"{lake}/{name}"
        for name in (
            "marts/carrier_delays",
            "joined/flights",
            "clean/airlines",
            "clean/flights",
            "clean/planes",
            "clean/weather",
        )
    }
    assert {run["status"] for run in found["runs"]} == {"COMPLETE"}
    assert found["truncated"] is False


def test_the_failed_run_stays_failed_and_shows_its_impact(running: Running, lake: Path) -> None:
    query = """{ failedRuns { edges { node { runId status error
      downstream { datasets { name } jobs { name } answers { answerId } } } } } }"""
    runs = [edge["node"] for edge in ask(running, query)["failedRuns"]["edges"]]
    failed = next(run for run in runs if "implausible arrival delay" in (run["error"] or ""))
    assert failed["status"] == "FAIL"
    assert {dataset["name"] for dataset in failed["downstream"]["datasets"]} == {
        f"{lake}/marts/airport_punctuality",
        f"{lake}/marts/airport_ranking",
    }
    assert [answer["answerId"] for answer in failed["downstream"]["answers"]] == [
        "least-punctual-airport-2013"
    ]
    detail = ask(
        running, "query ($id: ID!) { run(runId: $id) { status attempts } }", id=failed["runId"]
    )["run"]
    assert detail == {"status": "FAIL", "attempts": 1}


def test_complete_after_fail_changes_nothing(running: Running, lake: Path) -> None:
    query = "{ failedRuns(first: 1) { edges { node { runId failedAt job { namespace name } } } } }"
    failed = ask(running, query)["failedRuns"]["edges"][0]["node"]
    late = {
        "eventType": "COMPLETE",
        "eventTime": "2099-01-01T00:00:00Z",
        "run": {"runId": failed["runId"]},
        "job": failed["job"],
        "producer": "https://example.com/late",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    request = urllib.request.Request(f"{running.url}/api/v1/lineage", json.dumps(late).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 201
    running.wait_folded()
    found = ask(
        running, "query ($id: ID!) { run(runId: $id) { status failedAt } }", id=failed["runId"]
    )["run"]
    assert found == {"status": "FAIL", "failedAt": failed["failedAt"]}
    assert lake.exists()
