"""A workshop with Spark: its names, its folders, and what a real application sends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import ServerError
from headwater.scenarios.spark_workshop import SparkWorkshop, submit
from headwater.scenarios.stories import schema_change as story
from headwater.scenarios.workshop import Workshop

TONIGHT = datetime(2026, 3, 4, 22, 30, tzinfo=UTC)
ROWS = [
    {"order_id": 1, "branch": "B0", "order_total": 10.0},
    {"order_id": 2, "branch": "B1", "order_total": 5.0},
]


@pytest.fixture
def sent() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def shop(tmp_path: Path, sent: list[dict[str, Any]]) -> Iterator[SparkWorkshop]:
    with SparkWorkshop("shop", tmp_path / "estate", sent.extend, tonight=TONIGHT) as opened:
        yield opened


def test_names_are_those_of_the_listener(shop: SparkWorkshop) -> None:
    folder = shop.folder
    assert shop.urn("dataset:raw.orders") == f"dataset:file:{folder}/raw.orders"
    assert shop.short(f"dataset:file:{folder}/raw.orders") == "dataset:raw.orders"
    assert shop.short("job:shop:load_orders.execute_insert.estate_orders") == "job:load_orders"
    assert shop.short("job:shop:load_orders") == "job:load_orders"
    assert shop.short("answer:revenue-report") == "answer:revenue-report"
    assert all(shop.urn(f"{kind}:x").startswith(shop.urn_prefixes) for kind in ("job", "dataset"))


def test_a_table_has_a_folder_for_each_night_and_the_newest_is_read(shop: SparkWorkshop) -> None:
    for night in (2, 0):
        # The night goes on after midnight.
        rows = [{**ROWS[0], "order_id": night}]
        shop.deliver("web.orders", rows, story.ORDERS, shop.night(night, 120))
    nights = sorted(one.name for one in (shop.folder / "web.orders").iterdir())
    assert nights == ["dt=2026-03-02", "dt=2026-03-04"]
    assert shop.read("web.orders") == [{**ROWS[0], "order_id": 0}]


def test_a_story_without_spark_has_no_applications(tmp_path: Path) -> None:
    shop = Workshop("shop", tmp_path, list[Any]().extend)
    with pytest.raises(ServerError, match="build_revenue needs a Spark"):
        submit(shop, story.BUILD, TONIGHT)


@pytest.mark.spark
@pytest.mark.slow
def test_real_applications_report_what_they_did(
    shop: SparkWorkshop, sent: list[dict[str, Any]]
) -> None:
    shop.deliver("web.orders", ROWS, story.ORDERS, shop.night(1))
    assert submit(shop, story.exporting(), shop.night(1, 1))
    assert submit(shop, story.loading(), shop.night(1, 5))
    assert shop.read("orders") == ROWS
    shop.flush()
    query, addition = sent[-3], sent[-1]
    written = [
        event
        for event in sent
        if [one["name"] for one in event.get("outputs") or ()] == [f"{shop.folder}/orders"]
        and event["eventType"] == "COMPLETE"
    ]
    assert written[0]["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert [one["name"] for one in written[0]["inputs"]] == [f"{shop.folder}/raw.orders"]
    assert addition["run"]["runId"] == written[0]["run"]["runId"] == shop.runs["load_orders"][0]
    assert query["eventTime"] < "2026-03-03T22:36:30"
    measures = addition["outputs"][0]["facets"]["dataQualityMetrics"]["columnMetrics"]
    assert measures["order_total"]["sum"] == 15.0
    sent.clear()
    # The producer renames a column: the driver of the reader fails, and the next one starts again.
    shop.deliver("web.orders", ROWS, story.ORDERS, shop.night(0))
    assert submit(shop, story.exporting(renamed=True), shop.night(0, 1))
    assert not submit(shop, story.loading(), shop.night(0, 5))
    assert submit(shop, story.loading(renamed=True), shop.night(0, 60))
    shop.flush()
    failed = {event["job"]["name"] for event in sent if event.get("eventType") == "FAIL"}
    assert len(failed) == 2
    assert {name.partition(".")[0] for name in failed} == {"load_orders"}
    assert shop.read("orders") == ROWS
