"""The data of the story of a migration, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headwater.scenarios.stories import migration as story
from headwater.scenarios.workshop import Workshop

ORDERS = [
    {"order_id": 1, "customer": "C1", "channel": "shop", "amount": 2.0},
    {"order_id": 2, "customer": "C0", "channel": "web", "amount": 3.0},
    {"order_id": 3, "customer": "C1", "channel": "shop", "amount": 4.5},
]


def test_the_tables_are_sums() -> None:
    assert story.revenue(ORDERS) == [
        {"channel": "shop", "revenue": 6.5},
        {"channel": "web", "revenue": 3.0},
    ]
    assert story.ltv(ORDERS) == [
        {"customer": "C0", "channel": "web", "ltv": 3.0},
        {"customer": "C1", "channel": "shop", "ltv": 6.5},
    ]
    assert story.ltv_with_lookup(ORDERS, ORDERS) == story.ltv(ORDERS)


def test_systems_that_differ_fail_the_job() -> None:
    assert story.load_both(ORDERS, list(ORDERS)) == ORDERS
    changed = [ORDERS[0], {**ORDERS[1], "amount": 3.1}, ORDERS[2]]
    with pytest.raises(ValueError, match="1 orders differ"):
        story.load_both(ORDERS, changed)


def test_the_old_system_is_read_until_the_night_of_the_switch() -> None:
    inputs = [story.loading(night).inputs for night in (7, 6, 4, 3, 0)]
    both = ("legacy.orders", "cloud.orders")
    assert inputs == [both[:1], both, both, both[1:], both[1:]]


def test_the_overlooked_reader_fails_and_the_migrated_one_does_not(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    shop = Workshop("shop", tmp_path, sent.extend)
    story.prepare(shop)
    shop.flush()
    deprecated = [event for event in sent if "headwater_edits" in str(event)]
    assert [event["dataset"]["name"] for event in deprecated] == ["legacy.orders"]
    sent.clear()
    story.inject(shop)
    story.repair(shop)
    shop.flush()
    ended = [
        (event["job"]["name"], event["eventType"])
        for event in sent
        if event.get("eventType") in ("COMPLETE", "FAIL")
    ]
    assert ended == [
        ("switch_off", "COMPLETE"),
        ("build_ltv", "FAIL"),
        ("load_orders", "COMPLETE"),
        ("build_revenue", "COMPLETE"),
        ("build_ltv", "COMPLETE"),
    ]
