"""What is kept of the reports of a stream: offsets by partition, and lags. Joins as in `facts`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from headwater.schema.stream_offsets import PartitionReport, total_lag

# The smallest partitions and the newest lags are kept, so that the order of arrival does not
# matter.
OFFSETS_MAX, LAGS_MAX = 256, 200
_NONE = -1

# The instant of a report, and the number of records that were not read.
Lags = set[tuple[int, int]]


class Offsets(msgspec.Struct, array_like=True, frozen=True, order=True, gc=False):
    """The offsets of one partition: the newest report, and the smallest begin of all reports.

    `begin` is -1 if no report names one; `end` and `latest` are -1 if the newest does not.
    """

    instant: int
    rank: int
    end: int
    latest: int
    begin: int

    def to_json(self, partition: str) -> dict[str, int | None]:
        """Return the offsets as the property `offsets` has them."""
        return {
            "partition": int(partition),
            "begin": None if self.begin == _NONE else self.begin,
            "end": None if self.end == _NONE else self.end,
            "latest": None if self.latest == _NONE else self.latest,
        }


class StreamFacts(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The offsets of a topic by partition, and the lag of each report of all partitions.

    The numbers of the partitions are text, as keys of JSON are.
    """

    offsets: dict[str, Offsets]
    lags: Lags


def stream_facts(
    reports: Mapping[int, PartitionReport], instant: int, rank: int
) -> StreamFacts | None:
    """Return what one event reports of a topic; None for no partition."""
    if not reports:
        return None
    lag = total_lag(reports.values())
    return StreamFacts(
        _bounded({str(number): _offsets(one, instant, rank) for number, one in reports.items()}),
        set() if lag is None else {(instant, lag)},
    )


def join_streams(a: StreamFacts | None, b: StreamFacts | None) -> StreamFacts | None:
    """Return the offsets and the lags of both."""
    if a is None or b is None:
        return a or b
    return StreamFacts(_join_partitions(a.offsets, b.offsets), _join_lags(a.lags, b.lags))


def _offsets(report: PartitionReport, instant: int, rank: int) -> Offsets:
    """Return the offsets that one event reports of a partition."""
    end, latest, begin = (
        _NONE if value is None else value for value in (report.end, report.latest, report.begin)
    )
    return Offsets(instant, rank, end, latest, begin)


def join_offsets(a: Offsets, b: Offsets) -> Offsets:
    """Return the newest report, with the smallest begin that either names."""
    newest = max(a, b)
    begin = min((one.begin for one in (a, b) if one.begin != _NONE), default=_NONE)
    return newest if newest.begin == begin else msgspec.structs.replace(newest, begin=begin)


def _join_partitions(a: dict[str, Offsets], b: dict[str, Offsets]) -> dict[str, Offsets]:
    """Return the offsets of the smallest partitions of both."""
    if not a or not b:
        return _bounded(a or b)
    merged = dict(a)
    for partition, offsets in b.items():
        known = merged.get(partition)
        merged[partition] = offsets if known is None else join_offsets(known, offsets)
    return _bounded(merged)


def _bounded(offsets: dict[str, Offsets]) -> dict[str, Offsets]:
    """Return the smallest `OFFSETS_MAX` partitions."""
    if len(offsets) <= OFFSETS_MAX:
        return offsets
    return {partition: offsets[partition] for partition in sorted(offsets, key=int)[:OFFSETS_MAX]}


def _join_lags(a: Lags, b: Lags) -> Lags:
    """Return the newest lags of both."""
    if b <= a:
        return a
    lags = a | b
    return lags if len(lags) <= LAGS_MAX else set(sorted(lags)[-LAGS_MAX:])
