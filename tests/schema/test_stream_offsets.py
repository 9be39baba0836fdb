"""Offsets in the spellings of Spark, Kafka Connect, Flink, and of broken senders."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from headwater.schema.stream_offsets import OFFSET_MAX, PartitionReport, partitions_in, total_lag

R = PartitionReport


def read(facet: Any, name: str = "headwater_stream") -> list[PartitionReport]:
    found = partitions_in({name: msgspec.Raw(json.dumps(facet).encode())}, "orders")
    return [found[number] for number in sorted(found)]


SPARK = {
    "description": "KafkaV2[Subscribe[orders]]",
    "startOffset": {"orders": {"0": 3, "1": 4}},
    "endOffset": {"orders": {"0": 10, "1": 9}},
    "latestOffset": {"orders": {"0": 12, "1": 9}},
    "numInputRows": 12,
}


@pytest.mark.parametrize(
    ("facet", "expected"),
    [
        (
            {"partitions": [{"partition": 0, "startOffset": 3, "endOffset": 10}]},
            [R(0, 3, 10, None)],
        ),
        (SPARK, [R(0, 3, 10, 12), R(1, 4, 9, 9)]),
        # Spark's own JSON has the offsets of a source as text.
        (
            {
                "sources": [
                    {**SPARK, "startOffset": None, "endOffset": json.dumps({"orders": {"0": 1}})}
                ]
            },
            [R(0, None, 1, 12), R(1, None, None, 9)],
        ),
        # Kafka Connect, GET /connectors/NAME/offsets.
        (
            {
                "offsets": [
                    {
                        "partition": {"kafka_topic": "orders", "kafka_partition": 2},
                        "offset": {"kafka_offset": 5},
                    },
                    {
                        "partition": {"kafka_topic": "other", "kafka_partition": 3},
                        "offset": {"kafka_offset": 7},
                    },
                ]
            },
            [R(2, None, 5, None)],
        ),
        # Flink: the metrics of a split.
        (
            [{"topic": "orders", "partition": 1, "currentOffset": "7", "pendingRecords": 5}],
            [R(1, None, 7, 12)],
        ),
        ({"topic": "other", "partition": 1, "currentOffset": 7}, []),
        # The greater of two reports of one partition.
        (
            [{"partition": 0, "offset": 4}, {"partition": 0, "offset": 9}],
            [R(0, None, 9, None)],
        ),
    ],
)
def test_spellings(facet: Any, expected: list[PartitionReport]) -> None:
    assert read(facet) == expected


@pytest.mark.parametrize(
    "facet",
    [
        None,
        [],
        "partition offset",
        {"partition": None, "offset": 5},
        {"partition": 0},
        {"partition": -1, "offset": 5},
        {"partition": 0, "offset": -2},
        {"partition": True, "offset": 5},
        {"partition": 0, "offset": 2**63},
        {"partition": 0, "offset": 1.5},
        {"partition": 0, "offset": "１"},
        {"partition": [0], "offset": {"kafka_offset": []}},
        {"startOffset": {"orders": [1]}, "endOffset": 7, "latestOffset": "{"},
        {"startOffset": {"orders": {"x": 1, "0": None}}},
        {"a": {"a": {"a": {"a": {"a": {"a": {"partition": 0, "offset": 5}}}}}}},
    ],
)
def test_what_is_no_offset_is_left_out(facet: Any) -> None:
    assert read(facet) == []


def test_huge_and_foreign_facets_are_not_read() -> None:
    assert read({"partition": 0, "offset": 5, "text": "x" * 300_000}) == []
    assert read({"partition": 0, "offset": 5}, "schema") == []
    assert partitions_in({"x": msgspec.Raw(b'{"partition": 0, "offset": ')}, "orders") == {}
    assert partitions_in(None, "orders") == {}


def test_the_lag_is_what_was_not_read() -> None:
    # 12 - 10 + 0: a partition whose end is unknown has no lag, and none is negative.
    assert total_lag([R(0, 3, 10, 12), R(1, 4, 9, 8), R(2, 1, 5, None)]) == 2
    assert total_lag([R(2, 1, 5, None)]) is None
    assert total_lag([R(0, None, 0, OFFSET_MAX), R(1, None, 0, OFFSET_MAX)]) == OFFSET_MAX
