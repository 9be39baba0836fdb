"""The data of the story of a renamed column, worked out by hand."""

from __future__ import annotations

from headwater.scenarios.stories import schema_change as story


def test_the_producer_and_the_reader_disagree_until_the_repair() -> None:
    written = story.exporting(renamed=True).writes
    assert "order_total" not in written
    assert story.loading().reads["raw.orders"] != written
    assert story.loading(renamed=True).reads["raw.orders"] == written
    assert story.loading(renamed=True).writes == story.loading().writes


def test_the_revenue_is_the_sum_of_each_branch() -> None:
    orders = [
        {"order_id": 1, "branch": "B0", "order_total": 10.0},
        {"order_id": 2, "branch": "B1", "order_total": 5.0},
        {"order_id": 3, "branch": "B0", "order_total": 2.5},
    ]
    assert story.revenue(orders) == [
        {"branch": "B0", "revenue": 12.5},
        {"branch": "B1", "revenue": 5.0},
    ]
