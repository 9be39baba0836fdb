"""The data of the story of a lagging connector, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headwater.scenarios.stories import lagging_stream as story
from headwater.scenarios.workshop import Workshop


def test_the_totals_are_sums_of_each_meter() -> None:
    readings = [{"meter": 1, "kwh": 1.5}, {"meter": 0, "kwh": 2.0}, {"meter": 1, "kwh": 0.25}]
    assert story.totals(readings) == [{"meter": 0, "kwh": 2.0}, {"meter": 1, "kwh": 1.75}]


def test_the_slow_run_leaves_records_and_the_repair_reads_all_of_the_night(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    shop = Workshop("shop", tmp_path, sent.extend)
    story.inject(shop)
    shop.flush()
    assert len(shop.read("readings")) == 900
    [complete] = [
        event
        for event in sent
        if event.get("eventType") == "COMPLETE" and event["job"]["name"] == "sink_readings"
    ]
    [read] = complete["inputs"]
    assert read["inputFacets"]["headwater_stream"]["partitions"][2] == {
        "partition": 2,
        "startOffset": 0,
        "endOffset": 300,
        "latestOffset": 4000,
    }
    story.repair(shop)
    assert len(shop.read("readings")) == 12_000
    assert shop.read("totals") == story.totals(story.raw_readings(0))
