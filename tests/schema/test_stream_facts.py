"""Joins of what runs report of streams, worked out by hand."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from headwater.schema.stream_facts import (
    LAGS_MAX,
    OFFSETS_MAX,
    StreamFacts,
    join_streams,
    stream_facts,
)
from headwater.schema.stream_offsets import PartitionReport


def facts(instant: int, *reports: PartitionReport) -> StreamFacts | None:
    return stream_facts({one.partition: one for one in reports}, instant, 1)


def test_the_newest_report_counts_with_the_smallest_begin() -> None:
    first = facts(1, PartitionReport(0, 3, 10, 12))
    later = facts(2, PartitionReport(0, 10, 12, 12), PartitionReport(1, None, 4, 5))
    for a, b in permutations((first, later)):
        joined = join_streams(a, b)
        assert joined is not None
        assert [one.to_json(number) for number, one in sorted(joined.offsets.items())] == [
            {"partition": 0, "begin": 3, "end": 12, "latest": 12},
            {"partition": 1, "begin": None, "end": 4, "latest": 5},
        ]
        assert joined.lags == {(1, 2), (2, 1)}


def test_nothing_is_kept_of_an_event_without_offsets() -> None:
    assert stream_facts({}, 1, 1) is None
    assert join_streams(None, None) is None


def test_facts_are_bounded() -> None:
    reports = [PartitionReport(number, 0, 1, 2) for number in range(OFFSETS_MAX + 10)]
    wide = facts(1, *reports)
    assert wide is not None
    assert sorted(wide.offsets, key=int) == [str(number) for number in range(OFFSETS_MAX)]
    # The lag counts all partitions.
    assert wide.lags == {(1, OFFSETS_MAX + 10)}
    joined = None
    for instant in range(LAGS_MAX + 5):
        joined = join_streams(joined, facts(instant, PartitionReport(0, 0, 0, instant)))
    assert joined is not None
    assert sorted(joined.lags) == [(instant, instant) for instant in range(5, LAGS_MAX + 5)]


OFFSET = st.none() | st.integers(0, 3)
FACTS = st.builds(
    lambda instant, rank, ends: stream_facts(
        {number: PartitionReport(number, *end) for number, end in ends.items()}, instant, rank
    ),
    st.integers(0, 3),
    st.integers(0, 1),
    st.dictionaries(st.integers(0, 2), st.tuples(OFFSET, OFFSET, OFFSET)),
)


@given(FACTS, FACTS, FACTS)
def test_joins_need_no_order(
    a: StreamFacts | None, b: StreamFacts | None, c: StreamFacts | None
) -> None:
    assert join_streams(a, b) == join_streams(b, a)
    assert join_streams(join_streams(a, b), c) == join_streams(a, join_streams(b, c))
    assert join_streams(a, a) == a
