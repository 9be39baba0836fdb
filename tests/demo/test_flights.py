"""The results of the demo's transformations, worked out by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Results = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    out = tmp_path_factory.mktemp("frames") / "results.json"
    command = [sys.executable, "-m", "tests.demo.small_frames", str(out)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    read: Results = json.loads(out.read_text())
    return read


def test_one_flight_a_day_late_does_not_move_a_median(results: Results) -> None:
    alpha, beta = results["carrier_delays"]
    assert (alpha["airline"], alpha["flights"], alpha["median_arr_delay"]) == ("Alpha", 3, 2.0)
    assert (beta["airline"], beta["flights"], beta["median_arr_delay"]) == ("Beta", 2, 5.0)


def test_the_worst_carrier_is_in_the_answers_text(results: Results) -> None:
    (answer,) = results["worst_carrier"]
    assert answer["sentence"] == (
        "The carrier with the worst median arrival delay in 2013 was Beta (BB): 5 minutes "
        "over 2 flights."
    )


def test_a_flight_without_weather_or_plane_is_kept(results: Results) -> None:
    assert results["joined"] == [
        {"tailnum": "N1", "precip": 0.1, "built": 1999},
        {"tailnum": "N2", "precip": None, "built": None},
        {"tailnum": "N3", "precip": None, "built": 2004},
    ]


def test_weather_classes_are_distinct_and_omit_cancelled_flights(results: Results) -> None:
    assert {
        row["sky"]: (row["flights"], row["median_dep_delay"]) for row in results["weather_delays"]
    } == {
        "rain or snow": (1, 30.0),
        "strong wind": (1, 20.0),
        "fair": (1, 10.0),
        "unknown": (1, 40.0),
    }


def test_the_refresh_takes_december_only(results: Results) -> None:
    assert results["december"] == [
        {"dest": "MIA", "flights": 2, "on_time": 1, "worst_arr_delay": 840},
        {"dest": "SLC", "flights": 1, "on_time": 0, "worst_arr_delay": 20},
    ]


def test_an_implausible_delay_stops_the_refresh(results: Results) -> None:
    (failure,) = results["implausible"]
    assert "implausible arrival delay: 841 minutes" in failure["error"]


def test_punctuality_weighs_months_by_their_flights(results: Results) -> None:
    assert results["ranking"] == [
        {"dest": "MIA", "flights": 200, "on_time_share": 0.6},
        {"dest": "SLC", "flights": 10, "on_time_share": 0.9},
    ]


def test_the_hour_that_summer_time_repeats_is_kept_once(results: Results) -> None:
    assert results["twice_an_hour"] == [{"hours": 1}]
