"""The names of locations in real events, and the rules behind them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.spark_hooks.naming import dataset_name, without_partitions

CAPTURE = Path(__file__).parents[1] / "captures" / "spark_flights.jsonl"

PLACES = {
    "/lake/marts/sales": ("file", "/lake/marts/sales"),
    "file:/lake/marts/sales/": ("file", "/lake/marts/sales"),
    "file:///lake/with%20space": ("file", "/lake/with%20space"),
    "/lake/with space": ("file", "/lake/with space"),
    "file:/lake/why? #1": ("file", "/lake/why? #1"),
    "/": ("file", "/"),
    "s3a://lake/marts/sales": ("s3://lake", "marts/sales"),
    "s3://lake": ("s3://lake", "/"),
    "gs://lake/x/": ("gs://lake", "x"),
    "abfss://box@account.dfs.core.windows.net/x": ("abfss://box@account.dfs.core.windows.net", "x"),
    "wasb://box@account.blob.core.windows.net/x": (
        "wasbs://box@account.blob.core.windows.net",
        "x",
    ),
    "hdfs://node:8020/lake/x": ("hdfs://node:8020", "/lake/x"),
    "/lake/daily/dt=2024-01-31": ("file", "/lake/daily"),
    "/lake/daily/country=de/dt=2024-01-31": ("file", "/lake/daily"),
    "/lake/daily/2024-01-31": ("file", "/lake/daily"),
    "/lake/daily/20240131": ("file", "/lake/daily"),
    "/lake/daily/31.01.2024": ("file", "/lake/daily"),
    "/lake/daily/2024-01-31T10:00:00Z": ("file", "/lake/daily"),
    "/lake/daily/2024-01": ("file", "/lake/daily"),
    "/lake/daily/202401": ("file", "/lake/daily"),
    "/lake/daily/2024/01": ("file", "/lake/daily"),
    "/lake/daily/2024/01/31": ("file", "/lake/daily"),
    "/lake/daily/2024-13-31": ("file", "/lake/daily/2024-13-31"),
    "/lake/daily/build-20240131": ("file", "/lake/daily/build-20240131"),
    "/lake/daily/v20240131": ("file", "/lake/daily/v20240131"),
    "/lake/daily/2024": ("file", "/lake/daily/2024"),
    "/2024-01-31": ("file", "/2024-01-31"),
    "s3a://lake/daily/dt=1": ("s3://lake", "daily"),
    "s3a://lake/dt=1": ("s3://lake", "dt=1"),
}


@pytest.mark.parametrize("uri", PLACES)
def test_a_location_has_the_name_that_the_listener_gives_it(uri: str) -> None:
    assert dataset_name(uri) == PLACES[uri]


def test_every_dataset_of_the_real_capture_is_found_by_its_path() -> None:
    events = [json.loads(line) for line in CAPTURE.read_text().splitlines()]
    named = {
        (one["namespace"], one["name"])
        for event in events
        for one in event["inputs"] + event["outputs"]
    }
    assert len(named) >= 14
    assert {dataset_name(name) for _, name in named} == named


def test_a_name_without_partitions_is_left_alone() -> None:
    assert without_partitions("marts/sales") == "marts/sales"
