"""The arithmetic of the layout, the queues and the shards, worked out by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from bench import hook, scale, shards

ROUND = scale.Costs(
    api_cpu_us=100,
    worker_cpu_us=200,
    neo4j_cpu_us=200,
    lock_us=250,
    spark_cpu_us=150,
    spool_bytes=6_000,
    archive_bytes=300,
    graph_bytes=1_000,
    query_cpu_ms=0,
    retention_days=10,
    page_cache_share=0.5,
)


def test_a_part_is_sufficient_up_to_its_planned_load() -> None:
    # The lock is held for 250 us an event: 4,000 a second, planned for 2,400; nothing else breaks
    # before.
    assert scale.breaks(ROUND, 2_399) == []
    assert scale.breaks(ROUND, 2_401) == [
        "the write lock of one Neo4j",
        "two cores with everything on them",
    ]
    assert scale.breaks(ROUND, 6_001)[-1] == "one API process (a core of Python)"


def test_a_layout_has_the_parts_that_its_rate_needs() -> None:
    small, large = scale.layout(ROUND, 3_600), scale.layout(ROUND, 3_600 * 10_000)
    assert (
        small["workers"],
        small["executors"],
        small["kafkaPartitions"],
        small["neo4jShards"],
    ) == (1, 0, 0, 1)
    # 10,000 a second: 2.5 locks busy, so 5 at 60 %; 1.5 cores of Spark, so 2.5 at 60 %, in one
    # executor.
    assert (
        large["neo4jShards"],
        large["executors"],
        large["kafkaPartitions"],
        large["workers"],
    ) == (5, 1, 8, 0)
    assert large["apiReplicas"] == 1
    # 2,000 a second on each shard, 10 days of 1,000 bytes.
    assert large["neo4jStoreGB"] == 1_730
    assert large["neo4jPageCacheGB"] == 864
    assert large["archiveGBPerDay"] == 259


def test_spare_capacity_works_off_the_backlog_of_an_outage() -> None:
    # 1,000 events a second wait for a minute; then 4,000 are accepted while 1,000 arrive: 20
    # seconds more.
    assert scale.outage(ROUND, 1_000, 1, 1) == scale.Lag(60_000, 60.0, 80)
    assert scale.outage(ROUND, 0, 1, 1).events == 0


def test_only_a_burst_above_capacity_waits_and_is_caught_up() -> None:
    assert scale.burst(ROUND, 800, 1) == scale.Lag(0, 0.0, 0)
    # 5,000 arrive and 4,000 are accepted for 600 seconds, then 3,000 are left over. The event that
    # arrives at 600 is accepted at 750.
    lag = scale.burst(ROUND, 1_000, 1)
    assert (lag.events, lag.seconds) == (600_000, 800)
    assert lag.oldest_seconds == 150


def test_a_rate_above_capacity_is_never_caught_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scale, "_SIMULATED_SECONDS_MAX", 1_000)
    assert scale.outage(ROUND, 4_001, 1, 1).seconds == math.inf


def test_assumed_costs_are_listed_and_unknown_costs_refused(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(json.dumps({"lock_us": 100}))
    costs, assumed = scale.read_costs(file)
    assert costs.lock_us == 100
    assert "lock_us" not in assumed
    assert "api_cpu_us" in assumed
    file.write_text(json.dumps({"look_us": 100}))
    with pytest.raises(msgspec.ValidationError, match="look_us: a cost is one of api_cpu_us"):
        scale.read_costs(file)


def test_the_tables_hold_every_layout() -> None:
    plan = scale.found(ROUND, shards.generate_estate(200, 10, 0.2))
    text = scale.markdown(plan, ["lock_us"])
    assert "| `lock_us` | 250 | assumed |" in text
    assert "| events a second | 2.8 | 277.8 | 27,777.8 |" in text
    assert "| 2, by affinity |" in text


ESTATE = shards.Estate(
    Counter(
        {("a", "a"): 6, ("a", "b"): 2, ("b", "b"): 2, ("c", "c"): 8, ("c", "d"): 1, ("d", "d"): 1}
    ),
    {1: (), 2: (1,), 3: (2,)},
    {1: "a", 2: "b", 3: "c"},
)


def test_namespaces_that_share_edges_share_a_shard_with_room() -> None:
    placement = shards.by_affinity(ESTATE, 2)
    assert placement["a"] == placement["b"] != placement["c"] == placement["d"]
    assert shards.crossing(ESTATE, placement) == 0
    assert shards.largest(ESTATE, placement) == 0.5


def test_edges_cross_if_their_ends_are_on_two_shards() -> None:
    apart = {"a": 0, "b": 1, "c": 0, "d": 1}
    assert shards.crossing(ESTATE, apart) == 3 / 20
    assert shards.largest(ESTATE, apart) == 14 / 20
    # The walks from 1, 2 and 3 ask one shard, two and two.
    assert shards.touched(ESTATE, apart, 10) == pytest.approx(5 / 3)
    assert shards.touched(ESTATE, apart, 0) == 1


def test_an_estate_is_read_from_an_export(tmp_path: Path) -> None:
    file = tmp_path / "graph.jsonl"
    lines = [
        {"label": "Dataset", "urn": "dataset:s3%3A//lake:t", "properties": {}},
        {
            "source": "dataset:s3%3A//lake:t",
            "type": "FEEDS",
            "target": "job:etl:j",
            "properties": {},
        },
        {"source": "run:1", "type": "RUN_OF", "target": "job:etl:j", "properties": {}},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert shards.exported(file).pairs == {("s3://lake", "etl"): 1}


def test_every_variant_runs_first_second_and_third_equally_often() -> None:
    orders = [hook.order_of(number) for number in range(6)]
    for turn in range(3):
        assert Counter(order[turn] for order in orders) == dict.fromkeys(hook.VARIANTS, 2)
    assert orders[0] != orders[3]


def test_the_overhead_is_the_median_of_ratios_within_rounds() -> None:
    rounds = [
        {"without": {"cpu": base}, "up": {"cpu": base * ratio}}
        for base, ratio in ((10.0, 1.02), (20.0, 1.03), (40.0, 1.01))
    ]
    overhead = hook.compared(rounds, "up", "cpu")
    assert overhead["ratio"] == 1.02
    assert (overhead["from"], overhead["to"]) == (1.01, 1.03)
    assert hook.interval([1.5] * 4) == (1.5, 1.5)
