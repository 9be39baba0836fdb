"""The data of the story of a renamed column, worked out by hand."""

from __future__ import annotations

import pytest

from headwater.scenarios.stories import schema_change as story


def test_the_renamed_column_breaks_the_load() -> None:
    with pytest.raises(KeyError, match="order_total"):
        story.load(story.raw_orders(0, "total_amount"))


def test_the_repaired_load_writes_what_the_old_one_wrote() -> None:
    assert story.load_renamed(story.raw_orders(3, "total_amount")) == story.load(
        story.raw_orders(3)
    )


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
