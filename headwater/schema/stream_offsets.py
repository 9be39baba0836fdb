"""Partitions and offsets of a stream, read from the facets of a run's input or output.

No facet of the OpenLineage specification has offsets. So every facet is searched, up to `DEPTH_MAX`
levels, for these spellings:

| who | spelling |
|---|---|
| Headwater's Spark hooks | `headwater_stream`, with `partitions` as below |
| Flink, and any sender | objects with `partition` and offsets, such as `currentOffset` |
| Kafka Connect, `GET /connectors/NAME/offsets` | `{"partition": {"kafka_topic": ...,
  "kafka_partition": 0}, "offset": {"kafka_offset": 5}}` |
| Spark, progress of a streaming query | `startOffset`, `endOffset` and `latestOffset`, each
  `{TOPIC: {PARTITION: OFFSET}}`, also as text |

Names are compared in lower case, without `_`, `-` and `.`. An offset is that of the next record: of
the first one that was read, of the first one that was not read, and of the end of the partition.
The lag is the difference between the last two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

STREAM_FACET = "headwater_stream"
DEPTH_MAX = 5
FACET_BYTES_MAX = 262_144
REPORTS_MAX = 10_000
OFFSET_MAX = 2**63 - 1
PARTITION_MAX = 2**31 - 1
_DIGITS_MAX = len(str(OFFSET_MAX))
# Facets that have fields by any name, and no offsets.
_WITHOUT_OFFSETS = frozenset(("schema", "columnLineage", "symlinks", "documentation"))
_MARKS = str.maketrans("", "", "_-.")

_PARTITION = ("partition", "partitionid", "kafkapartition")
_TOPIC = ("topic", "kafkatopic", "topicname")
_BEGIN = ("startoffset", "startingoffset", "beginoffset", "beginningoffset", "fromoffset")
_END = (
    "committedoffset",
    "endoffset",
    "endingoffset",
    "untiloffset",
    "currentoffset",
    "offset",
    "kafkaoffset",
)
_LATEST = ("latestoffset", "logendoffset", "highwatermark", "newestoffset")
_LAG = ("lag", "recordslag", "consumerlag", "pendingrecords")


class PartitionReport(NamedTuple):
    """The offsets of one partition in one event; None where the sender names none."""

    partition: int
    begin: int | None
    end: int | None
    latest: int | None

    @property
    def lag(self) -> int | None:
        """Return the number of records that were not read, at least 0; None if unknown."""
        if self.end is None or self.latest is None:
            return None
        return max(self.latest - self.end, 0)


def partitions_in(
    facets: Mapping[str, msgspec.Raw] | None, name: str
) -> dict[int, PartitionReport]:
    """Return the partitions that the facets of a dataset report, by number.

    Args:
        facets: The facets of one use of the dataset in one event.
        name: The name of the dataset. Reports about another topic are left out.
    """
    found: dict[int, PartitionReport] = {}
    for facet, raw in facets.items() if facets else ():
        text = bytes(raw)
        if facet in _WITHOUT_OFFSETS or len(text) > FACET_BYTES_MAX or not _may_have_offsets(text):
            continue
        for topic, report in _reports(text):
            if topic in (None, name) and len(found) < REPORTS_MAX:
                known = found.get(report.partition)
                found[report.partition] = max(known, report, key=_order) if known else report
    return found


def total_lag(reports: Iterable[PartitionReport]) -> int | None:
    """Return the sum of the lags; None if no report has one."""
    lags = [report.lag for report in reports if report.lag is not None]
    return min(sum(lags), OFFSET_MAX) if lags else None


def _may_have_offsets(text: bytes) -> bool:
    return b"artition" in text or b"ffset" in text


def _order(report: PartitionReport) -> tuple[int, ...]:
    return tuple(-1 if value is None else value for value in report)


def _reports(text: bytes) -> Iterator[tuple[str | None, PartitionReport]]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    yield from _walk(value, DEPTH_MAX)


def _walk(value: Any, depth: int) -> Iterator[tuple[str | None, PartitionReport]]:
    if isinstance(value, dict):
        names = {key.lower().translate(_MARKS): item for key, item in value.items()}
        yield from _of_maps(names)
        one = _of_object(names)
        if one is not None:
            yield one
            return
    items = value.values() if isinstance(value, dict) else value
    for item in items if depth else ():
        if isinstance(item, dict | list):
            yield from _walk(item, depth - 1)


def _of_object(names: Mapping[str, Any]) -> tuple[str | None, PartitionReport] | None:
    """Return the report of an object with a partition; None if it is none."""
    flat = dict(names)
    # Kafka Connect nests the number and the offset.
    for key in ("partition", "offset"):
        if isinstance(names.get(key), dict):
            del flat[key]
            for inner, item in names[key].items():
                flat.setdefault(inner.lower().translate(_MARKS), item)
    partition = _number(flat, _PARTITION, PARTITION_MAX)
    begin, end, latest = (_number(flat, keys, OFFSET_MAX) for keys in (_BEGIN, _END, _LATEST))
    lag = _number(flat, _LAG, OFFSET_MAX)
    if latest is None and end is not None and lag is not None:
        latest = min(end + lag, OFFSET_MAX)
    if partition is None or (begin is None and end is None and latest is None):
        return None
    topic = next((flat[key] for key in _TOPIC if isinstance(flat.get(key), str)), None)
    return topic, PartitionReport(partition, begin, end, latest)


def _of_maps(names: Mapping[str, Any]) -> Iterator[tuple[str | None, PartitionReport]]:
    """Yield the reports of a source in the progress of a streaming query of Spark."""
    maps = [_topics(names.get(key)) for key in ("startoffset", "endoffset", "latestoffset")]
    for topic in sorted(set().union(*maps)):
        sides = [one.get(topic, {}) for one in maps]
        for partition in sorted(set().union(*sides)):
            begin, end, latest = (side.get(partition) for side in sides)
            yield topic, PartitionReport(partition, begin, end, latest)


def _topics(value: Any) -> dict[str, dict[int, int]]:
    """Return the offsets by topic and partition; {} if the value has another form."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return {}
    if not isinstance(value, dict):
        return {}
    return {topic: _offsets(one) for topic, one in value.items() if isinstance(one, dict)}


def _offsets(value: Mapping[str, Any]) -> dict[int, int]:
    found = {}
    for key, item in value.items():
        partition, offset = _integer(key, PARTITION_MAX), _integer(item, OFFSET_MAX)
        if partition is not None and offset is not None:
            found[partition] = offset
    return found


def _number(names: Mapping[str, Any], keys: tuple[str, ...], limit: int) -> int | None:
    return next(
        (found for key in keys if (found := _integer(names.get(key), limit)) is not None), None
    )


def _integer(value: Any, limit: int) -> int | None:
    """Return a whole number from 0; Kafka's -1 and -2 name no offset."""
    if isinstance(value, str):
        if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS_MAX):
            return None
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= limit else None
