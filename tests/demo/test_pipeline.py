"""The whole demo pipeline on real Spark: its events are those that the rest of the demo needs."""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from headwater.demo import catalog_metadata, data
from tests.spark_hooks.servers import Recorder, recorder

FLIGHTS_COUNT = 336_776


class Demo:
    """One run of the pipeline that many tests examine."""

    def __init__(self, home: Path) -> None:
        self.home = home
        command = [sys.executable, "-m", "headwater.demo.pipeline", "--home", str(home), "--url"]
        environment = {**os.environ, "HEADWATER_API_KEY": "demo-key"}
        with recorder(201) as server:
            done = subprocess.run(
                [*command, server.url],
                env=environment,
                capture_output=True,
                text=True,
                timeout=280,
                check=False,
            )
        assert done.returncode == 0, done.stdout + done.stderr
        self.printed = done.stdout
        self.server: Recorder = server
        self.runs = [event for event in server.events if "run" in event]

    def writing(self, name: str) -> list[dict[str, Any]]:
        path = str(self.home / name)
        return [
            run for run in self.runs if any(output["name"] == path for output in run["outputs"])
        ]

    def last(self, name: str) -> dict[str, Any]:
        (output,) = next(event for event in self.writing(name) if event["eventType"] == "COMPLETE")[
            "outputs"
        ]
        found: dict[str, Any] = output
        return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return Demo(tmp_path_factory.mktemp("demo"))


spark = pytest.mark.spark
slow = pytest.mark.slow


@spark
@slow
def test_the_answer_agrees_with_the_raw_file(demo: Demo) -> None:
    delays: dict[str, list[int]] = defaultdict(list)
    with (demo.home / "raw/flights/flights.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["arr_delay"] not in {"NA", ""}:
                delays[row["carrier"]].append(int(float(row["arr_delay"])))
    median, carrier = max((statistics.median(each), carrier) for carrier, each in delays.items())
    assert f"({carrier}): {median:g} minutes over {len(delays[carrier])} flights." in demo.printed


@spark
@slow
def test_five_raw_sources_are_read_and_nothing_writes_them(demo: Demo) -> None:
    read = {one["name"] for run in demo.runs for one in run["inputs"]}
    written = {one["name"] for run in demo.runs for one in run["outputs"]}
    raw = {name for name in read if "/raw/" in name}
    assert raw == {str(demo.home / "raw" / table) for table in data.TABLES}
    assert not raw & written
    # All other datasets that are read were written here under the same name: the chain has no gap.
    assert read - raw <= written


@spark
@slow
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("clean/flights", FLIGHTS_COUNT),
        ("joined/flights", FLIGHTS_COUNT),
        ("marts/carrier_delays", 16),
    ],
)
def test_writes_have_row_counts_schema_and_column_lineage(demo: Demo, name: str, rows: int) -> None:
    output = demo.last(name)
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == rows
    # A count of rows comes from no column, so it has no column lineage.
    columns = {field["name"] for field in output["facets"]["schema"]["fields"]} - {"flights"}
    assert columns == set(output["facets"]["columnLineage"]["fields"])


@spark
@slow
def test_the_refresh_fails_half_way_and_others_read_its_unfinished_mart(demo: Demo) -> None:
    path = str(demo.home / "marts/airport_punctuality")
    first, refresh = (
        [
            run
            for run in demo.writing("marts/airport_punctuality")
            if run["job"]["name"].startswith(application)
        ]
        for application in ("nyc_flights.", "december_refresh.")
    )
    assert "FAIL" not in {run["eventType"] for run in first}
    failed = [run for run in refresh if run["eventType"] == "FAIL"]
    assert "implausible arrival delay" in failed[0]["run"]["facets"]["spark.exception"]["message"]
    assert len({run["run"]["runId"] for run in refresh}) == 1
    (reader,) = {
        run["job"]["name"] for run in demo.runs if path in {one["name"] for one in run["inputs"]}
    }
    assert reader == "nyc_flights.adaptive_spark_plan.marts_airport_ranking"


@spark
@slow
def test_datasets_are_described_under_the_names_of_their_reads_and_writes(demo: Demo) -> None:
    described = {
        event["dataset"]["name"]: event["dataset"]["facets"]
        for event in demo.server.events
        if "dataset" in event
    }
    used = {dataset["name"] for run in demo.runs for dataset in (*run["inputs"], *run["outputs"])}
    for name in catalog_metadata.DATASETS:
        assert str(demo.home / name) in used
        assert described[str(demo.home / name)]["ownership"]["owners"][0]["name"].startswith(
            "team:"
        )
    (tag,) = described[str(demo.home / "raw/planes")]["tags"]["tags"]
    assert (tag["key"], tag["value"], tag["field"]) == ("pii", "true", "tailnum")


@spark
@slow
def test_every_answer_cites_a_mart_that_was_written(demo: Demo) -> None:
    described = [event["dataset"]["facets"] for event in demo.server.events if "dataset" in event]
    answers = [facets["headwater_answer"] for facets in described if "headwater_answer" in facets]
    cited = {answer["answerId"]: [one["name"] for one in answer["cites"]] for answer in answers}
    assert cited == {
        "worst-carrier-2013": [str(demo.home / "marts/carrier_delays")],
        "worst-weather-2013": [str(demo.home / "marts/weather_delays")],
        "least-punctual-airport-2013": [str(demo.home / "marts/airport_ranking")],
    }
    assert all(answer["content"] in demo.printed for answer in answers)


@spark
@slow
def test_the_key_is_sent_and_never_printed(demo: Demo) -> None:
    assert demo.server.keys == {"Bearer demo-key"}
    assert "demo-key" not in json.dumps(demo.server.events) + demo.printed


@spark
@slow
def test_every_run_that_starts_ends(demo: Demo) -> None:
    states: dict[str, set[str]] = defaultdict(set)
    for run in demo.runs:
        states[run["run"]["runId"]].add(run["eventType"])
    assert all(kinds & {"COMPLETE", "FAIL"} for kinds in states.values())
