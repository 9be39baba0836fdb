"""The history of a producer, as its detectors get it: counts by day, in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from headwater.ingest.producer_days import DayCounts

# The days that are looked at.
DAYS_MAX = 30


@dataclass(frozen=True)
class NewNames:
    """The datasets or jobs of a namespace that were first seen on one day.

    examples: some of the names, in order.
    """

    day: date
    count: int
    first: datetime
    last: datetime
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Growth:
    """The new datasets or jobs of a namespace by day; days without any are absent.

    kind: dataset or job. known_since: when the first of them was seen.
    """

    kind: str
    namespace: str
    known_since: datetime
    days: tuple[NewNames, ...]


@dataclass(frozen=True)
class ParentRuns:
    """The parent runs that the runs of one day name, and how many of them sent events.

    unknown: some of the others, by urn.
    """

    day: date
    total: int
    known: int
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProducerHistory:
    """A producer with its counts, oldest day first.

    days: its events by day of receipt.
    growths: the growth of the namespaces that it names.
    parents: the parent runs in its namespaces of jobs.
    has_earlier_parents: True if runs before these days were not read.
    """

    urn: str
    producer: str
    days: tuple[tuple[date, DayCounts], ...] = ()
    growths: tuple[Growth, ...] = ()
    parents: tuple[ParentRuns, ...] = ()
    has_earlier_parents: bool = False
