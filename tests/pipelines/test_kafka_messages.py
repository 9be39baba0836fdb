"""Receipts of messages with timestamps beyond those of Spark; `test_stream` reads such messages."""

from __future__ import annotations

import pytest

from headwater.pipelines.kafka_messages import receipt

MAX = 2**63 - 1


@pytest.mark.parametrize(
    ("milliseconds", "offset", "expected"),
    [
        (1_790_000_000_000, 2_003, 1_790_000_000_000_003),
        (MAX, 7, MAX),
        (1_795_910_547_089_372_000, 0, MAX),
        (9_223_372_036_854_775, 807, MAX),
        (9_223_372_036_854_775, 808, MAX),
        (0, 5, 5),
        (-1, 5, -995),
        (-(2**63), 5, -MAX),
    ],
)
def test_receipt_ends_at_the_limits_of_64_bits(
    milliseconds: int, offset: int, expected: int
) -> None:
    assert receipt(milliseconds, offset) == expected
