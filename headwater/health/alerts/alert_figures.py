"""Figures of the alerts themselves: how many a day, how many led to an action, how many flapped.

An alert is acted upon if a run, a version or an edit ended it, and not a late event. It flapped if
an alert of the same rule on the same node fired again within an hour of its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from headwater.health.alerts.models import Alert
from headwater.health.alerts.outbox import VANISHED, alert_of

FLAPPED = timedelta(hours=1)


@dataclass(frozen=True)
class AlertFigures:
    """Counts of alerts over some days; an alert to several receivers counts once.

    by_day: how many began to fire on each day, in UTC.
    resolved, acted_upon: how many ended, and how many of these by an action.
    flapping: how many fired again within an hour.
    """

    days: int
    fired: int
    by_day: Mapping[date, int]
    by_tier: Mapping[str, int]
    resolved: int
    acted_upon: int
    flapping: int

    @property
    def per_day(self) -> float:
        return self.fired / self.days

    @property
    def acted_upon_share(self) -> float | None:
        """Return the share of the resolved alerts that an action ended; None without any."""
        return self.acted_upon / self.resolved if self.resolved else None


def alert_figures(rows: Iterable[Mapping[str, Any]], days: int) -> AlertFigures:
    """Return the figures of deliveries, oldest first."""
    fired: dict[str, Mapping[str, Any]] = {}
    ended: dict[str, tuple[datetime, Alert]] = {}
    for row in rows:
        if row["status"] == "firing":
            fired.setdefault(row["dedupKey"], row)
        else:
            ended[row["dedupKey"]] = row["createdAt"], alert_of(row["payload"])
    by_day: dict[date, int] = {}
    by_tier: dict[str, int] = {}
    for row in fired.values():
        day = row["createdAt"].date()
        by_day[day] = by_day.get(day, 0) + 1
        by_tier[row["tier"]] = by_tier.get(row["tier"], 0) + 1
    begins: dict[str, list[datetime]] = {}
    for key, row in fired.items():
        begins.setdefault(_problem(key), []).append(row["createdAt"])
    return AlertFigures(
        days=days,
        fired=len(fired),
        by_day=by_day,
        by_tier=dict(sorted(by_tier.items())),
        resolved=len(ended),
        acted_upon=sum(_is_acted_upon(alert) for _, alert in ended.values()),
        flapping=sum(
            _returned(begins.get(_problem(key), ()), at) for key, (at, _) in ended.items()
        ),
    )


def _returned(begins: Iterable[datetime], end: datetime) -> bool:
    """Return True if one of the alerts of a problem began soon after an end."""
    return any(end < begin <= end + FLAPPED for begin in begins)


def _problem(dedup_key: str) -> str:
    """Return the rule and the node of an alert: what two alerts of one problem share."""
    return dedup_key.partition("@")[0]


def _is_acted_upon(alert: Alert) -> bool:
    by = alert.head.episode.resolved_by
    return bool(by) and by != VANISHED and not alert.merged_into
