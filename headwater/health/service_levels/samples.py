"""The hourly samples of service levels, for levels whose past the graph does not know.

A sample is one node for each level, hour and recorder. It is outside the fold of events, as the
snapshots of figures are: a rebuild keeps it, and the canonical export leaves it out. It is kept
`DAYS_MAX` days. A counter also has its counts of each five minutes, for burn rates over short
windows. Several processes may record; the counts of all of them are added, and of values the last
one counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.lineage.view import GraphView

DAYS_MAX = 90
SECONDS_MAX = 30.0
ROWS_MAX = 100_000
SLOT_MINUTES = 5
SLOTS = 60 // SLOT_MINUTES


@dataclass(frozen=True)
class Counts:
    """The good parts of all parts."""

    good: float = 0.0
    total: float = 0.0

    @property
    def bad_share(self) -> float | None:
        """Return the share of bad parts; None without parts."""
        return (self.total - self.good) / self.total if self.total else None

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.good + other.good, self.total + other.total)


@dataclass(frozen=True)
class Sample:
    """What one service level counted in one hour.

    `value` is absent for a counter, and `target` unless the settings give it. `slots` are the
    counts of each five minutes of a counter, and `buckets` the observations of its histogram, up to
    each bound and above the last.
    """

    level: str
    hour: datetime
    taken_at: datetime
    counts: Counts
    value: float | None = None
    slots: tuple[Counts, ...] = ()
    buckets: tuple[float, ...] = ()
    target: float | None = None

    @property
    def day(self) -> date:
        return self.hour.date()


def hour_of(instant: datetime) -> datetime:
    """Return the begin of the hour of an instant."""
    return instant.replace(minute=0, second=0, microsecond=0)


def write_samples(database: Database, samples: Iterable[Sample], *, recorder: str) -> None:
    """Write samples in place of earlier ones of the same recorder and hour.

    They need no write lock: no other statement writes these nodes. Raises UnavailableError.
    """
    rows = [{"urn": _urn(one, recorder), "properties": _properties(one)} for one in samples]
    if rows:
        with database.write() as transaction:
            transaction.run("write/service_levels/samples", rows=rows)


def delete_old_samples(database: Database, now: datetime) -> None:
    """Delete the samples that are older than `DAYS_MAX` days. Raises UnavailableError."""
    with database.write() as transaction:
        transaction.run(
            "write/service_levels/delete_old_samples", before=now - timedelta(days=DAYS_MAX)
        )


def read_samples(view: GraphView, level: str, since: datetime) -> list[Sample]:
    """Return the samples of a level since the hour of an instant, oldest first."""
    rows = view.read(
        "read/service_levels/samples",
        seconds=SECONDS_MAX,
        ids=[level],
        since=hour_of(since),
        limit=ROWS_MAX,
    )
    return [_sample(row) for row in rows]


def counts_since(samples: Iterable[Sample], since: datetime, until: datetime) -> Counts:
    """Return the sum of the five-minute counts of counters that end in a window."""
    total = Counts()
    for sample in samples:
        for number, slot in enumerate(sample.slots):
            end = sample.hour + timedelta(minutes=SLOT_MINUTES * (number + 1))
            # The slot of this moment counts, though it has not ended.
            if since < end and end - timedelta(minutes=SLOT_MINUTES) <= until:
                total += slot
    return total


def sum_of(samples: Iterable[Sample]) -> Counts:
    """Return the sum of the counts of samples."""
    return sum((sample.counts for sample in samples), Counts())


def buckets_of(samples: Iterable[Sample]) -> list[float]:
    """Return the sum of the buckets of samples."""
    found: list[float] = []
    for sample in samples:
        found += [0.0] * (len(sample.buckets) - len(found))
        for number, count in enumerate(sample.buckets):
            found[number] += count
    return found


def by_day(samples: Sequence[Sample]) -> dict[date, list[Sample]]:
    """Return samples by their day in UTC, oldest first."""
    days: dict[date, list[Sample]] = defaultdict(list)
    for sample in samples:
        days[sample.day].append(sample)
    return dict(sorted(days.items()))


def _urn(sample: Sample, recorder: str) -> str:
    return f"sample:{sample.level}:{sample.hour:%Y-%m-%dT%H}:{recorder}"


def _properties(sample: Sample) -> dict[str, Any]:
    return {
        "serviceLevel": sample.level,
        "hour": sample.hour,
        "takenAt": sample.taken_at,
        "value": sample.value,
        "target": sample.target,
        "good": float(sample.counts.good),
        "total": float(sample.counts.total),
        "goodSlots": [slot.good for slot in sample.slots] or None,
        "totalSlots": [slot.total for slot in sample.slots] or None,
        "buckets": list(sample.buckets) or None,
    }


def _sample(row: dict[str, Any]) -> Sample:
    slots = zip(row["goodSlots"] or (), row["totalSlots"] or (), strict=True)
    return Sample(
        level=row["serviceLevel"],
        hour=row["hour"],
        taken_at=row["takenAt"],
        counts=Counts(row["good"], row["total"]),
        value=row["value"],
        target=row["target"],
        slots=tuple(Counts(good, total) for good, total in slots),
        buckets=tuple(row["buckets"] or ()),
    )
