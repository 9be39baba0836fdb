"""The data of the story of lost orders, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headwater.scenarios import event_sample
from headwater.scenarios.stories import event_sampling as story
from headwater.scenarios.workshop import Workshop
from headwater.steps import is_sampled


def test_the_broken_version_loses_twelve_in_a_hundred() -> None:
    orders = story.raw_orders(3)
    assert len(orders) == len({row["order_id"] for row in orders}) == 10_000
    assert sum(row["currency"] == "GBP" for row in orders) == 1_200
    assert len(story.enrich(orders)) == 10_000
    kept = story.enrich_some(orders)
    assert len(kept) == 8_800
    assert {row["currency"] for row in kept} == {"EUR", "USD", "CHF"}


def test_amounts_are_converted() -> None:
    rows = [{"order_id": "1", "currency": "USD", "amount": 10.0}]
    expected = [{"order_id": "1", "currency": "USD", "amount_eur": 9.0}]
    assert story.enrich(rows) == story.enrich_some(rows) == expected


def test_the_broken_code_has_a_new_version() -> None:
    assert (story.enriching().version, story.enriching(broken=True).version) == ("1.9", "2.0")


def test_the_definition_of_the_sample_chooses_as_headwater_does() -> None:
    keys = [row["order_id"] for row in story.raw_orders(0)]
    chosen = [key for key in keys if story.is_in_sample(key)]
    assert chosen == [key for key in keys if is_sampled(key)]
    # 100 of 10,000 are expected; six standard deviations are 59.7.
    assert 40 < len(chosen) < 160


def test_records_have_the_offsets_of_both_topics_and_the_repair_reads_the_night_again(
    tmp_path: Path,
) -> None:
    sent: list[dict[str, Any]] = []
    shop = Workshop("shop", tmp_path, sent.extend)
    shop.topics.open(story.SOURCE, 1).publish([{"order_id": "x"}] * 5)
    shop.topics.open(story.SOURCE, 1).poll(5)
    story.inject(shop)
    run_id = shop.runs["enrich_orders"][-1]
    records = event_sample.read_records(shop.folder / "event-records" / f"{run_id}.jsonl")
    orders = story.raw_orders(0)
    assert all(orders[one["readAt"] - 5]["order_id"] == one["key"] for one in records)
    written = shop.read_version("orders_enriched", run_id)
    kept = [one for one in records if one["writtenAt"] is not None]
    assert kept
    assert all(written[one["writtenAt"]]["order_id"] == one["key"] for one in kept)
    assert shop.topics.open("orders_enriched", 1).latest() == [8_800]
    story.repair(shop)
    assert shop.topics.open("orders_enriched", 1).latest() == [18_800]
    assert shop.read("sales") == story.enrich(orders)
