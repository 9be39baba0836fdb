"""The data of the story of a deleted dataset, worked out by hand."""

from __future__ import annotations

from pathlib import Path

from headwater.scenarios.stories import deleted_dataset as story
from headwater.scenarios.workshop import Workshop


def test_the_totals_are_sums_of_each_shop() -> None:
    sales = [
        {"sale_id": 1, "shop": "S1", "amount": 2.0},
        {"sale_id": 2, "shop": "S0", "amount": 3.0},
        {"sale_id": 3, "shop": "S1", "amount": 4.5},
    ]
    assert story.total(sales) == [{"shop": "S0", "total": 3.0}, {"shop": "S1", "total": 6.5}]


def test_the_cleanup_makes_the_build_fail(tmp_path: Path) -> None:
    sent: list[dict[str, object]] = []
    shop = Workshop("shop", tmp_path, sent.extend)
    story.inject(shop)
    shop.flush()
    runs = [event for event in sent if event.get("eventType") in ("COMPLETE", "FAIL")]
    assert [event["eventType"] for event in runs] == ["COMPLETE", "COMPLETE", "FAIL"]
    dropped = runs[1]["outputs"]
    assert isinstance(dropped, list)
    assert dropped[0]["name"] == "staging_sales"
    assert dropped[0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "DROP"
