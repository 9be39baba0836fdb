"""The data of the story of a pull request: the models run before and after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headwater.scenarios.stories import pull_request as story
from headwater.scenarios.workshop import Workshop


def states(sent: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (event["job"]["name"], event["eventType"])
        for event in sent
        if event.get("eventType") in ("COMPLETE", "FAIL")
    ]


def test_the_merged_branch_breaks_both_readers_and_the_second_one_repairs_them(
    tmp_path: Path,
) -> None:
    sent: list[dict[str, Any]] = []
    shop = Workshop("shop", tmp_path / "shop", sent.extend)
    story.prepare(shop)
    assert {state for _, state in states(shop._waiting)} == {"COMPLETE"}
    # 200 orders: each amount of 10 to 29 ten times.
    assert sum(row["revenue"] for row in shop.read("revenue")) == 3900.0
    shop.flush()
    sent.clear()
    story.inject(shop)
    shop.flush()
    assert states(sent) == [("stg_orders", "COMPLETE"), ("revenue", "FAIL"), ("ltv", "FAIL")]
    assert list(shop.read("stg_orders")[0]) == ["order_id", "branch", "customer", "total_amount"]
    sent.clear()
    story.project(shop).propose(story.KEEPING, story.KEPT)
    story.repair(shop)
    shop.flush()
    assert {state for _, state in states(sent)} == {"COMPLETE"}
    assert list(shop.read("stg_orders")[0])[-2:] == ["amount", "total_amount"]
