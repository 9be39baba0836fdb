"""Days of counts for detectors of producers, and their episodes as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from headwater.health.findings.models import Episode
from headwater.health.findings.producers.history import ProducerHistory
from headwater.ingest.producer_days import DayCounts

FIRST = date(2026, 3, 2)
URN = "producer:p"
GOOD = DayCounts(100)
# An episode: its key, and the numbers of the days on which it began and was resolved.
Row = tuple[str, int, int | None]


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def counted(*days: DayCounts) -> ProducerHistory:
    return ProducerHistory(URN, "p", tuple((day(n), one) for n, one in enumerate(days)))


def rows(episodes: Sequence[Episode]) -> list[Row]:
    return [
        (
            one.key,
            _number(one.first_seen),
            None if one.resolved_at is None else _number(one.resolved_at),
        )
        for one in episodes
    ]


def _number(instant: datetime) -> int:
    assert instant == datetime(instant.year, instant.month, instant.day, tzinfo=UTC)
    return (instant.date() - FIRST).days
