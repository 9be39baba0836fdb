"""Tallies: what each producer sends, how far off its clock is, and how often it breaks which rule.

`join` is associative and commutative, and the empty Tallies changes nothing; unlike facts, tallies count: an event
received twice counts twice. They are written in the transaction that saves the checkpoint, and that is why they are
exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from headwater.schema.conformance import Finding, findings
from headwater.schema.events import Event
from headwater.schema.urns import finding_urn, producer_urn

T = TypeVar("T")

EXAMPLE_CHARACTERS_MAX = 300
_EXAMPLE_LEAD = 60
# A skew is counted in a bucket of its size: four to the doubling, so that a median is at most a fifth off.
_BUCKETS_PER_DOUBLING = 4
_MILLISECOND = 1_000


class Skews(msgspec.Struct, frozen=True):
    """Differences between two clocks in microseconds: the least, the greatest, and how many of which size."""

    least: int
    greatest: int
    counts: dict[int, int]


class ProducerTally(msgspec.Struct, frozen=True):
    """What one producer sent. `first` and `last` are when events of it were received; `skews` is how much later than
    they say they happened, over the events that say when."""

    producer: str
    events: int
    first: int
    last: int
    future: int = 0
    skews: Skews | None = None


class Example(msgspec.Struct, frozen=True, order=True):
    """One event that shows a finding: its receipt in the spool, and its text around the field."""

    receipt: int
    snippet: str = ""
    detail: str = ""


class FindingTally(msgspec.Struct, frozen=True):
    """How often one producer broke one rule at one field."""

    producer: str
    rule: str
    field: str
    count: int
    first: int
    last: int
    example: Example


class Tallies(msgspec.Struct):
    """Tallies by urn."""

    producers: dict[str, ProducerTally] = {}
    findings: dict[str, FindingTally] = {}


def tally(
    received: int,
    seq: int,
    body: bytes,
    event: Event | None,
    *,
    future_tolerance_seconds: int,
    reason: str = "",
    into: Tallies | None = None,
) -> Tallies:
    """`into` with what one receipt adds to it. `received` is in microseconds since 1970, `seq` its number in the spool,
    `event` None when it was refused, and `reason` then why."""
    into = Tallies() if into is None else into
    if event is None:
        producer = _producer_of(body)
        found = [Finding("refused", "", reason)]
    else:
        producer = event.producer
        found = findings(
            body, event, received=received, future_tolerance_seconds=future_tolerance_seconds
        )
    mine = ProducerTally(
        producer,
        events=1,
        first=received,
        last=received,
        future=sum([finding.rule == "event-from-the-future" for finding in found]),
        skews=_skews(received - event.instant)
        if event is not None and event.event_time.strip()
        else None,
    )
    _add(into.producers, producer_urn(producer), mine, join_producers)
    for finding in found:
        urn = finding_urn(producer, finding.rule, finding.field)
        known = into.findings.get(urn)
        # Of a later receipt nothing is shown.
        shown = known is not None and known.example.receipt < seq
        example = Example(seq) if shown else _example(seq, body, finding)
        one = FindingTally(producer, finding.rule, finding.field, 1, received, received, example)
        _add(into.findings, urn, one, join_findings)
    return into


def join(a: Tallies, b: Tallies) -> Tallies:
    """Both together."""
    joined = Tallies(dict(a.producers), dict(a.findings))
    absorb(joined, b)
    return joined


def absorb(into: Tallies, other: Tallies) -> None:
    """`into = join(into, other)`, in place: many events stay linear in their number."""
    _absorb(into.producers, other.producers, join_producers)
    _absorb(into.findings, other.findings, join_findings)


def _absorb(into: dict[str, T], values: Mapping[str, T], join: Callable[[T, T], T]) -> None:
    for urn, value in values.items():
        _add(into, urn, value, join)


def _add(into: dict[str, T], urn: str, value: T, join: Callable[[T, T], T]) -> None:
    mine = into.get(urn)
    into[urn] = value if mine is None else join(mine, value)


def join_producers(a: ProducerTally, b: ProducerTally) -> ProducerTally:
    return ProducerTally(
        # Two spellings cannot share a urn; should a hash ever collide, the choice must not depend on order.
        min(a.producer, b.producer),
        a.events + b.events,
        min(a.first, b.first),
        max(a.last, b.last),
        a.future + b.future,
        _join_skews(a.skews, b.skews),
    )


def join_findings(a: FindingTally, b: FindingTally) -> FindingTally:
    producer, rule, field = min((a.producer, a.rule, a.field), (b.producer, b.rule, b.field))
    return FindingTally(
        producer,
        rule,
        field,
        a.count + b.count,
        min(a.first, b.first),
        max(a.last, b.last),
        # The first of its kind stays, so that an example does not change under its reader.
        min(a.example, b.example),
    )


def _join_skews(a: Skews | None, b: Skews | None) -> Skews | None:
    if a is None or b is None:
        return a or b
    counts = dict(a.counts)
    for bucket, count in b.counts.items():
        counts[bucket] = counts.get(bucket, 0) + count
    return Skews(min(a.least, b.least), max(a.greatest, b.greatest), counts)


def _skews(skew: int) -> Skews:
    return Skews(skew, skew, {_bucket(skew): 1})


def _bucket(skew: int) -> int:
    size = math.ceil(_BUCKETS_PER_DOUBLING * math.log2(1 + abs(skew) / _MILLISECOND))
    return size if skew >= 0 else -size


def median(skews: Skews) -> int:
    """The median in microseconds, as well as the buckets know it: never outside of what was really seen."""
    half = sum(skews.counts.values()) / 2
    seen = 0
    for bucket in sorted(skews.counts):
        seen += skews.counts[bucket]
        if seen >= half:
            size = round((2 ** (abs(bucket) / _BUCKETS_PER_DOUBLING) - 1) * _MILLISECOND)
            return min(max(size if bucket >= 0 else -size, skews.least), skews.greatest)
    raise ValueError("there is no median of nothing")


class _Sender(msgspec.Struct):
    producer: Any = None


def _producer_of(body: bytes) -> str:
    """Who sent what is no event, when at least that can be read."""
    try:
        producer = msgspec.json.decode(body, type=_Sender).producer
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    return producer.strip() if isinstance(producer, str) else ""


def _example(seq: int, body: bytes, finding: Finding) -> Example:
    return Example(seq, snippet(body, finding.field), finding.detail)


def snippet(body: bytes, field: str) -> str:
    """The text of an event around a field: its names are looked for one after the other, and those in vain skipped."""
    at = 0
    for name in field.replace("[]", "").split("."):
        found = body.find(b'"' + name.encode() + b'"', at) if name else -1
        at = found if found >= 0 else at
    start = max(0, at - _EXAMPLE_LEAD)
    # A character has at most four bytes; one that is cut at either end is left out.
    text = body[start : start + 4 * EXAMPLE_CHARACTERS_MAX].decode("utf-8", "ignore")
    return text[:EXAMPLE_CHARACTERS_MAX]
