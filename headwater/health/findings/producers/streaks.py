"""Days in a row on which something was wrong: one episode from the first to the next good day.

Days with too little to tell are passed over. Times are the beginnings of days in UTC: an episode
resolves at the beginning of the first good day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from headwater.health.findings.models import Episode

# The key of an episode that began before the days that are known.
BEFORE = "before"


@dataclass(frozen=True)
class DayState:
    """One day: whether it was bad, and the evidence if it was."""

    day: date
    is_bad: bool
    evidence: Mapping[str, Any] = field(default_factory=dict)


def find_streaks(
    rule: str, subject: str, states: Iterable[DayState], *, cut_at: date | None = None
) -> list[Episode]:
    """Return the episodes of bad days, given oldest first.

    cut_at: the first day that is known, if there were earlier ones.
    """
    episodes: list[Episode] = []
    bad: list[DayState] = []
    for state in states:
        if state.is_bad:
            bad.append(state)
        elif bad:
            episodes.append(_episode(rule, subject, bad, state.day, cut_at))
            bad = []
    if bad:
        episodes.append(_episode(rule, subject, bad, None, cut_at))
    return episodes


def _episode(
    rule: str, subject: str, bad: Sequence[DayState], end: date | None, cut_at: date | None
) -> Episode:
    first, newest = bad[0].day, bad[-1].day
    return Episode(
        rule=rule,
        subject=subject,
        key=BEFORE if first == cut_at else first.isoformat(),
        first_seen=beginning(first),
        last_seen=beginning(newest),
        resolved_at=beginning(end) if end else None,
        resolved_by=f"the events of {end.isoformat()}" if end else None,
        evidence={"day": newest.isoformat(), "days": len(bad), **bad[-1].evidence},
    )


def beginning(day: date) -> datetime:
    """Return midnight of a day."""
    return datetime.combine(day, time(), UTC)
