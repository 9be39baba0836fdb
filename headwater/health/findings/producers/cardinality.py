"""The rule `cardinality`: far more new datasets or jobs in a namespace than on the days before.

A day has a spike if a namespace got at least 50 new datasets, or jobs, and at least three times the
mean of the seven days before. The namespace must have been known for these seven days: a new system
is no spike. The finding ends with the day before the first whole day without a spike.

Names that differ only in UUIDs, dates, times and other numbers have one pattern. The most frequent
one is in the evidence: often it shows which part of the name should not be there (seed 2, F2).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.history import Growth, NewNames, ProducerHistory
from headwater.health.findings.producers.streaks import beginning

RULE = "cardinality"
NEW_MIN = 50
FACTOR = 3.0
DAYS_BEFORE = 7
EXAMPLES_MAX = 3
_DAY = timedelta(days=1)
_PARTS = (
    (re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"), "<uuid>"),
    (re.compile(r"\d{4}[-_/]\d{2}[-_/]\d{2}(?:[T_ ]?\d{2}[:_-]?\d{2}(?:[:_-]?\d{2})?)?"), "<date>"),
    (re.compile(r"(?<![0-9a-f])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}"), "<hex>"),
    (re.compile(r"\d+"), "<number>"),
)


def detect_cardinality(history: ProducerHistory, instant: datetime) -> list[Episode]:
    """Return the spikes in the namespaces of a producer."""
    episodes = []
    for growth in history.growths:
        spikes: list[NewNames] = []
        for one in growth.days:
            if not _is_spike(growth, one):
                continue
            if spikes and one.day - spikes[-1].day > _DAY:
                episodes.append(_episode(history, growth, spikes, instant))
                spikes = []
            spikes.append(one)
        if spikes:
            episodes.append(_episode(history, growth, spikes, instant))
    return episodes


def _is_spike(growth: Growth, one: NewNames) -> bool:
    if one.count < NEW_MIN or growth.known_since.date() > one.day - DAYS_BEFORE * _DAY:
        return False
    return one.count >= FACTOR * _mean_before(growth, one)


def _mean_before(growth: Growth, one: NewNames) -> float:
    before = (other.count for other in growth.days if _DAY <= one.day - other.day <= 7 * _DAY)
    return sum(before) / DAYS_BEFORE


def _episode(
    history: ProducerHistory, growth: Growth, spikes: Sequence[NewNames], instant: datetime
) -> Episode:
    first, newest = spikes[0], spikes[-1]
    end = beginning(newest.day + _DAY)
    is_over = instant >= end + _DAY
    return Episode(
        rule=RULE,
        subject=history.urn,
        key=f"{growth.kind}:{growth.namespace}:{first.day.isoformat()}",
        first_seen=first.first,
        last_seen=newest.last,
        resolved_at=end if is_over else None,
        resolved_by="a day without a spike" if is_over else None,
        evidence={
            "kind": growth.kind,
            "namespace": growth.namespace,
            "day": newest.day.isoformat(),
            "new": newest.count,
            "meanBefore": round(_mean_before(growth, first), 1),
            **_pattern_evidence(newest.examples),
        },
    )


def _pattern_evidence(names: Iterable[str]) -> dict[str, Any]:
    by_pattern = Counter(pattern_of(name) for name in names)
    if not by_pattern:
        return {}
    pattern, count = min(by_pattern.items(), key=lambda item: (-item[1], item[0]))
    if count < 2:
        return {}
    matching = [name for name in names if pattern_of(name) == pattern]
    return {"pattern": pattern, "examples": matching[:EXAMPLES_MAX]}


def pattern_of(name: str) -> str:
    """Return a name with its UUIDs, dates, hashes and numbers replaced by what they are."""
    for expression, kind in _PARTS:
        name = expression.sub(kind, name)
    return name
