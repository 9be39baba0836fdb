"""Count the events of each producer, the offset of its clock, and the rules that it breaks.

`join` is associative and commutative, and empty ProducerStats are its neutral element. Unlike
facts they count: an event received twice counts twice. The worker writes them in the transaction
that saves the checkpoint, so every event is counted exactly once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.ingest.producer_days import Days, count_day, join_days
from headwater.schema.conformance import Finding, findings
from headwater.schema.events import Event
from headwater.schema.urns import finding_urn, producer_urn

T = TypeVar("T")

EXAMPLE_CHARACTERS_MAX = 300
NAMESPACES_MAX = 20
_EXAMPLE_LEAD = 60
# Skews are counted in buckets of growing size: with four to a doubling, a median is at most a fifth
# off.
_BUCKETS_PER_DOUBLING = 4
_MILLISECOND = 1_000


class ClockSkews(msgspec.Struct, frozen=True):
    """Differences between two clocks in microseconds, counted by bucket."""

    least: int
    greatest: int
    counts: dict[int, int]


class ProducerCounts(msgspec.Struct, frozen=True):
    """Counts of the events of one producer.

    `first` and `last` are times of receipt, in microseconds since 1970. `skews` are the delays from
    event time to receipt, for the events that have an event time. `future` counts the events dated
    after their receipt. The namespaces are those of the jobs and datasets that its events name: the
    first 20 of each, by name.
    """

    producer: str
    events: int
    first: int
    last: int
    future: int = 0
    skews: ClockSkews | None = None
    days: Days = {}
    job_namespaces: tuple[str, ...] = ()
    dataset_namespaces: tuple[str, ...] = ()


class Example(msgspec.Struct, frozen=True, order=True):
    """An event that shows a finding: its sequence number and its text around the field."""

    sequence: int
    snippet: str = ""
    detail: str = ""


class FindingCounts(msgspec.Struct, frozen=True):
    """A count of the events in which one producer broke one rule at one field."""

    producer: str
    rule: str
    field: str
    count: int
    first: int
    last: int
    example: Example


class ProducerStats(msgspec.Struct):
    """Counts of producers and of findings, by urn."""

    producers: dict[str, ProducerCounts] = {}
    findings: dict[str, FindingCounts] = {}


def count_event(
    received: int,
    seq: int,
    body: bytes,
    event: Event | None,
    *,
    future_seconds: int,
    reason: str = "",
    into: ProducerStats | None = None,
) -> ProducerStats:
    """Return `into`, or new ProducerStats, with one received event counted.

    received: time of receipt, in microseconds since 1970.
    seq: sequence number in the spool.
    event: the parsed event; None if it was refused, for `reason`.
    future_seconds: seconds after receipt from which an event time counts as in the future.
    """
    into = ProducerStats() if into is None else into
    if event is None:
        producer = _producer_of(body)
        event_findings = [Finding("refused", "", reason)]
    else:
        producer = event.producer
        event_findings = findings(body, event, received=received, future_seconds=future_seconds)
    future = sum([finding.rule == "event-from-the-future" for finding in event_findings])
    skews, days = None, Days()
    if event is not None and event.event_time.strip():
        delay = received - event.instant
        skews, days = _skews(delay), count_day(received, delay, is_future=future > 0)
    counts = ProducerCounts(
        producer,
        events=1,
        first=received,
        last=received,
        future=future,
        skews=skews,
        days=days,
        job_namespaces=_job_namespaces(event),
        dataset_namespaces=_dataset_namespaces(event),
    )
    _add(into.producers, producer_urn(producer), counts, join_producers)
    for finding in event_findings:
        urn = finding_urn(producer, finding.rule, finding.field)
        existing = into.findings.get(urn)
        # The earliest event is the example, so later ones need no snippet.
        has_earlier = existing is not None and existing.example.sequence < seq
        example = Example(seq) if has_earlier else _example(seq, body, finding)
        counted = FindingCounts(
            producer, finding.rule, finding.field, 1, received, received, example
        )
        _add(into.findings, urn, counted, join_findings)
    return into


def join(a: ProducerStats, b: ProducerStats) -> ProducerStats:
    """Return the sums of both."""
    joined = ProducerStats(dict(a.producers), dict(a.findings))
    absorb(joined, b)
    return joined


def absorb(into: ProducerStats, other: ProducerStats) -> None:
    """Join `other` to `into` in place, so that joining many takes time linear in their number."""
    _absorb(into.producers, other.producers, join_producers)
    _absorb(into.findings, other.findings, join_findings)


def _absorb(into: dict[str, T], values: Mapping[str, T], join: Callable[[T, T], T]) -> None:
    for urn, value in values.items():
        _add(into, urn, value, join)


def _add(into: dict[str, T], urn: str, value: T, join: Callable[[T, T], T]) -> None:
    previous = into.get(urn)
    into[urn] = value if previous is None else join(previous, value)


def join_producers(a: ProducerCounts, b: ProducerCounts) -> ProducerCounts:
    return ProducerCounts(
        # Two spellings cannot share a urn. Should a hash ever collide, the choice must not depend
        # on the order.
        min(a.producer, b.producer),
        a.events + b.events,
        min(a.first, b.first),
        max(a.last, b.last),
        a.future + b.future,
        _join_skews(a.skews, b.skews),
        join_days(a.days, b.days),
        _join_names(a.job_namespaces, b.job_namespaces),
        _join_names(a.dataset_namespaces, b.dataset_namespaces),
    )


def join_findings(a: FindingCounts, b: FindingCounts) -> FindingCounts:
    producer, rule, field = min((a.producer, a.rule, a.field), (b.producer, b.rule, b.field))
    return FindingCounts(
        producer,
        rule,
        field,
        a.count + b.count,
        min(a.first, b.first),
        max(a.last, b.last),
        # The first example stays, so that it does not change under its reader.
        min(a.example, b.example),
    )


def _job_namespaces(event: Event | None) -> tuple[str, ...]:
    return (event.job.namespace,) if event is not None and event.job is not None else ()


def _dataset_namespaces(event: Event | None) -> tuple[str, ...]:
    if event is None:
        return ()
    names = {one.namespace for one in (*event.inputs, *event.outputs)}
    if event.dataset is not None:
        names.add(event.dataset.namespace)
    return tuple(sorted(names)[:NAMESPACES_MAX])


def _join_names(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    if all(name in a for name in b):
        return a
    return tuple(sorted({*a, *b})[:NAMESPACES_MAX])


def _join_skews(a: ClockSkews | None, b: ClockSkews | None) -> ClockSkews | None:
    if a is None or b is None:
        return a or b
    counts = dict(a.counts)
    for bucket, count in b.counts.items():
        counts[bucket] = counts.get(bucket, 0) + count
    return ClockSkews(min(a.least, b.least), max(a.greatest, b.greatest), counts)


def _skews(skew: int) -> ClockSkews:
    return ClockSkews(skew, skew, {_bucket(skew): 1})


def _bucket(skew: int) -> int:
    size = math.ceil(_BUCKETS_PER_DOUBLING * math.log2(1 + abs(skew) / _MILLISECOND))
    return size if skew >= 0 else -size


def median(skews: ClockSkews) -> int:
    """Return the median in microseconds, as exact as the buckets and within the observed range."""
    half = sum(skews.counts.values()) / 2
    counted = 0
    for bucket in sorted(skews.counts):
        counted += skews.counts[bucket]
        if counted >= half:
            size = round((2 ** (abs(bucket) / _BUCKETS_PER_DOUBLING) - 1) * _MILLISECOND)
            return min(max(size if bucket >= 0 else -size, skews.least), skews.greatest)
    raise ValueError("the median needs at least one skew")


class _ProducerField(msgspec.Struct):
    producer: Any = None


def _producer_of(body: bytes) -> str:
    """Return the producer of a malformed event, or "" if it is unreadable."""
    try:
        producer = msgspec.json.decode(body, type=_ProducerField).producer
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    return producer.strip() if isinstance(producer, str) else ""


def _example(seq: int, body: bytes, finding: Finding) -> Example:
    return Example(seq, snippet(body, finding.field), finding.detail)


def snippet(body: bytes, field: str) -> str:
    """Return the text of an event around a field.

    The names of the field's path are found one after the other; absent names are skipped.
    """
    position = 0
    for name in field.replace("[]", "").split("."):
        offset = body.find(b'"' + name.encode() + b'"', position) if name else -1
        position = offset if offset >= 0 else position
    start = max(0, position - _EXAMPLE_LEAD)
    # A character has at most four bytes. Characters cut at either end are dropped.
    text = body[start : start + 4 * EXAMPLE_CHARACTERS_MAX].decode("utf-8", "ignore")
    return text[:EXAMPLE_CHARACTERS_MAX]
