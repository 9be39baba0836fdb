"""Read the histories of producers: a few statements for all of them, hourly at most.

A producer has the namespaces that its events name. The growth of a namespace is listed with the
first producer, by urn, that names it, so that it is reported once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta

import msgspec

from headwater.cypher.driver.database import Row
from headwater.health.findings.producers.history import (
    DAYS_MAX,
    Growth,
    NewNames,
    ParentRuns,
    ProducerHistory,
)
from headwater.ingest.producer_days import DayCounts
from headwater.ingest.producer_stats import ProducerCounts
from headwater.lineage.view import GraphView
from headwater.schema.events import to_datetime

PRODUCERS_MAX = 1_000
NAMESPACES_MAX = 1_000
_NAMES_PER_DAY = 50
_RUNS_MAX = 10_000
_UNKNOWN_MAX = 5
# A spike is compared with the week before it.
_GROWTH_WITHIN = timedelta(days=DAYS_MAX + 7)
_PARENTS_WITHIN = timedelta(days=DAYS_MAX)
_READ_SECONDS = 30.0
_EPOCH = date(1970, 1, 1)


def read_producer_histories(
    view: GraphView, urns: Collection[str] | None = None
) -> list[ProducerHistory]:
    """Return the histories of these producers, or of all, by urn.

    The newest receipt counts as now, so that the same graph gives the same histories.
    """
    rows = view.read("read/findings/producers", urns=None, limit=PRODUCERS_MAX)
    counts = {
        row["urn"]: msgspec.json.decode(row["statistics"], type=ProducerCounts)
        for row in rows
        if row["statistics"]
    }
    if not counts:
        return []
    newest = to_datetime(max(one.last for one in counts.values()))
    growths = _read_growths(view, counts, newest - _GROWTH_WITHIN)
    parents, has_earlier = _read_parents(view, newest - _PARENTS_WITHIN)
    return [
        ProducerHistory(
            urn=urn,
            producer=one.producer,
            days=_days(one.days),
            growths=tuple(growths.get(urn, ())),
            parents=_parents_of(one.job_namespaces, parents),
            has_earlier_parents=has_earlier,
        )
        for urn, one in sorted(counts.items())
        if urns is None or urn in urns
    ]


def _days(days: Mapping[int, DayCounts]) -> tuple[tuple[date, DayCounts], ...]:
    return tuple((_EPOCH + timedelta(days=day), days[day]) for day in sorted(days))


def _read_growths(
    view: GraphView, counts: Mapping[str, ProducerCounts], since: datetime
) -> dict[str, list[Growth]]:
    growths: dict[str, list[Growth]] = defaultdict(list)
    for kind, attribute in (("dataset", "dataset_namespaces"), ("job", "job_namespaces")):
        owner: dict[str, str] = {}
        for urn, one in sorted(counts.items()):
            for namespace in getattr(one, attribute):
                owner.setdefault(namespace, urn)
        rows = view.read(
            f"read/findings/new_{kind}s",
            seconds=_READ_SECONDS,
            namespaces=sorted(owner)[:NAMESPACES_MAX],
            since=since,
            names=_NAMES_PER_DAY,
        )
        for row in rows:
            if row["days"]:
                growths[owner[row["namespace"]]].append(_growth(kind, row))
    return growths


def _growth(kind: str, row: Row) -> Growth:
    days = tuple(
        NewNames(
            date.fromisoformat(one["day"]),
            one["count"],
            one["first"],
            one["last"],
            tuple(one["names"]),
        )
        for one in row["days"]
    )
    return Growth(kind, row["namespace"], row["knownSince"], days)


def _read_parents(view: GraphView, since: datetime) -> tuple[dict[str, list[ParentRuns]], bool]:
    """Return the parent runs by namespace, and whether earlier runs were left out.

    The oldest day is left out if not all of its runs were read.
    """
    [row] = view.read(
        "read/findings/parent_runs",
        seconds=_READ_SECONDS,
        since=since,
        limit=_RUNS_MAX,
        examples=_UNKNOWN_MAX,
    )
    is_cut = row["runs"] >= _RUNS_MAX
    oldest = row["oldest"].astimezone(UTC).date() if is_cut else None
    found: dict[str, list[ParentRuns]] = defaultdict(list)
    for one in row["days"]:
        day = date.fromisoformat(one["day"])
        if day != oldest and one["namespace"] is not None:
            parents = ParentRuns(day, one["total"], one["known"], tuple(one["unknown"]))
            found[one["namespace"]].append(parents)
    return found, is_cut


def _parents_of(
    namespaces: Iterable[str], parents: Mapping[str, list[ParentRuns]]
) -> tuple[ParentRuns, ...]:
    """Return the parent runs of several namespaces, added up by day."""
    by_day: dict[date, ParentRuns] = {}
    for namespace in namespaces:
        for one in parents.get(namespace, ()):
            other = by_day.get(one.day, ParentRuns(one.day, 0, 0))
            unknown = (*other.unknown, *one.unknown)[:_UNKNOWN_MAX]
            total, known = other.total + one.total, other.known + one.known
            by_day[one.day] = ParentRuns(one.day, total, known, unknown)
    return tuple(by_day[day] for day in sorted(by_day))
