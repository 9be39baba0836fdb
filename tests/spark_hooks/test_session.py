"""Real Spark with the real listener: the events that arrive, and the cost of an absent
Headwater.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from headwater.spark_hooks.listener import FAILURE_LISTENER_CLASS, LISTENER_CLASS, coordinates
from tests.spark_hooks.servers import Recorder, closed_port, recorder, silent_server
from tests.spark_hooks.spark_jobs import API_KEY
from tests.spark_hooks.test_naming import PLACES
from tests.torture import in_torture_only

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXTRA_SECONDS_MAX = 10.0
ROOT = Path(__file__).parents[2]


def run(name: str, url: str, folder: Path, *arguments: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "tests.spark_hooks.spark_jobs",
        name,
        url,
        str(folder),
        *arguments,
    ]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**result, "stderr": done.stderr}


class Full:
    """One long run that many tests examine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with recorder(201) as server:
            self.facts = run("full", server.url, folder, closed_port(), *PLACES)
            self.server: Recorder = server

    def runs_writing(self, name: str) -> list[dict[str, Any]]:
        path = str(self.folder / name)
        return [
            event
            for event in self.server.events
            if any(output["name"] == path for output in event.get("outputs", ()))
        ]

    def states(self, name: str) -> set[str]:
        return {event["eventType"] for event in self.runs_writing(name)}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Full:
    return Full(tmp_path_factory.mktemp("full"))


def test_a_write_arrives_with_schema_columns_and_row_count(full: Full) -> None:
    last = full.runs_writing("plain")[-1]
    assert last["eventType"] == "COMPLETE"
    assert last["job"]["namespace"] == "tests"
    (output,) = last["outputs"]
    assert output["namespace"] == "file"
    assert [field["name"] for field in output["facets"]["schema"]["fields"]] == ["id"]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 10
    assert full.server.keys == {f"Bearer {API_KEY}"}


def test_stopping_loses_no_event(full: Full) -> None:
    application = [
        event
        for event in full.server.events
        if event.get("job", {}).get("name") == "spark_hooks_tests"
    ]
    assert [event["eventType"] for event in application] == ["START", "COMPLETE"]


def test_a_query_that_fails_in_its_first_job_is_failed(full: Full) -> None:
    assert "a row no one wants" in full.facts["errors"][0]
    assert "FAIL" in full.states("fails_early")


def test_a_query_that_fails_in_a_later_job_is_failed_too(full: Full) -> None:
    assert "a row no one wants" in full.facts["errors"][1]
    failed = [event for event in full.runs_writing("fails_late") if event["eventType"] == "FAIL"]
    assert {event["run"]["runId"] for event in failed} == {
        event["run"]["runId"] for event in full.runs_writing("fails_late")
    }
    assert "a row no one wants" in failed[0]["run"]["facets"]["spark.exception"]["message"]


def test_no_query_that_succeeded_is_failed(full: Full) -> None:
    assert full.states("plain") <= {"START", "RUNNING", "COMPLETE"}
    assert full.states("daily") <= {"START", "RUNNING", "COMPLETE"}


def test_an_answer_cites_the_datasets_the_listener_reported(full: Full) -> None:
    (answer,) = [event["dataset"] for event in full.server.events if "dataset" in event]
    facet = answer["facets"]["headwater_answer"]
    assert (facet["answerId"], facet["content"], facet["generatedBy"]) == (
        "full",
        "42",
        "spark_hooks_tests",
    )
    plain, daily, table, other = facet["cites"]
    assert other == {"answerId": "other"}
    assert daily["name"] == str(full.folder / "daily")
    produced = {
        (output["namespace"], output["name"])
        for event in full.server.events
        for output in event.get("outputs", ())
    }
    assert {(one["namespace"], one["name"]) for one in (plain, daily, table)} <= produced


def test_invalid_arguments_of_an_answer_are_refused(full: Full) -> None:
    refused = dict(full.facts["refused"])
    assert refused.pop("strict").startswith("UnavailableError: Headwater at http://127.0.0.1:")
    assert len(refused) == 7
    assert all(said.startswith("SettingsError: ") for said in refused.values())
    assert "no_such_table" in refused["no such table"]


def test_locations_have_the_names_of_the_listeners_own_classes(full: Full) -> None:
    assert {uri: tuple(place) for uri, place in full.facts["places"].items()} == PLACES


def test_the_api_key_is_in_no_process_argument_and_no_event(full: Full) -> None:
    assert "SparkSubmit" in full.facts["java"]
    assert API_KEY not in full.facts["java"]
    assert API_KEY not in json.dumps(full.server.events)
    assert "api[.]?key" in full.facts["redacted"]


@pytest.mark.parametrize(
    "fault",
    [
        "closed",
        "silent",
        pytest.param("500", marks=in_torture_only),
        pytest.param("slow", marks=in_torture_only),
    ],
)
def test_an_absent_headwater_costs_seconds_and_no_result(fault: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        if fault == "closed":
            url = closed_port()
        elif fault == "silent":
            url = stack.enter_context(silent_server())
        elif fault == "500":
            url = stack.enter_context(recorder(500)).url
        else:
            url = stack.enter_context(recorder(201, delay_seconds=10)).url
        facts = run("small", url, tmp_path)
    totals = [sum(range(k, 1_000, 7)) for k in range(7)]
    assert facts["result"] == sorted([k, total] for k, total in enumerate(totals) for _ in range(4))
    assert facts["cited"] == [False, False, False]
    # The listener works beside the job, so all the time it can cost comes after it: citing and
    # stopping.
    assert facts["after"] < EXTRA_SECONDS_MAX


def test_events_are_dropped_while_no_server_listens_and_sent_when_one_does(tmp_path: Path) -> None:
    facts = run("returns", closed_port(), tmp_path)
    written = {
        output["name"]: set[str]() for event in facts["events"] for output in event["outputs"]
    }
    for event in facts["events"]:
        for output in event["outputs"]:
            written[output["name"]].add(event["eventType"])
    assert set(written) == {str(tmp_path / "back")}
    assert {"START", "COMPLETE"} <= written[str(tmp_path / "back")]
    # One event is built in vain, when the session starts.
    assert facts["stderr"].count("Could not emit lineage") == 1
    assert facts["stderr"].count("can not be reached") == 1


def test_a_java_that_runs_already_goes_on_without_the_listener(tmp_path: Path) -> None:
    facts = run("late", closed_port(), tmp_path)
    assert facts["count"] == 5
    assert facts["listeners"] == ""
    assert any("sends no lineage" in message for message in facts["warnings"])


def test_failures_are_reported_in_a_session_that_others_set_up(tmp_path: Path) -> None:
    with recorder(201) as server:
        facts = run("joins", server.url, tmp_path)
    assert facts["installed"] == [True, True]
    assert "PATH_ALREADY_EXISTS" in facts["error"]
    writes = {event["run"]["runId"] for event in server.events if event["outputs"]}
    failed = [event for event in server.events if event["eventType"] == "FAIL"]
    assert len(writes) == 2
    assert len(failed) == 1, "the listener is there once"
    assert "PATH_ALREADY_EXISTS" in failed[0]["run"]["facets"]["spark.exception"]["message"]


def test_settings_of_the_job_stay(tmp_path: Path) -> None:
    with recorder(201) as server:
        facts = run("merges", server.url, tmp_path)
    assert facts["listeners"].split(",") == [
        "org.apache.spark.scheduler.StatsReportListener",
        FAILURE_LISTENER_CLASS,
        LISTENER_CLASS,
    ]
    assert facts["packages"] == coordinates("2.13")
    assert facts["app"] == "renamed"
    assert {event["job"]["name"] for event in server.events} == {"renamed"}
