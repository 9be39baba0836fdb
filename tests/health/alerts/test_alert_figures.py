"""Figures of the alerts themselves, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from headwater.health.alerts.alert_figures import alert_figures
from headwater.health.alerts.grouping import alerts_of
from headwater.health.alerts.outbox import VANISHED, payload_of
from headwater.health.findings.models import Finding
from tests.health.alerts.finding_builders import finding, minutes

DAY = 24 * 60


def row(one: Finding, at: float, *, is_resolved: bool = False) -> dict[str, Any]:
    [alert] = alerts_of([one], minutes(40 * DAY))
    return {
        "dedupKey": one.id,
        "status": "resolved" if is_resolved else "firing",
        "tier": str(one.tier),
        "createdAt": minutes(at),
        "payload": payload_of(alert) if is_resolved else None,
    }


def test_alerts_are_counted_once_with_their_ends() -> None:
    first, again = finding(key="1", ended=10), finding(key="2", began=40)
    vanished = finding("row-count", "dataset:db:a", ended=5)
    vanished = replace(vanished, episode=replace(vanished.episode, resolved_by=VANISHED))
    found = alert_figures(
        [
            row(first, 1),
            # The same alert at another receiver, and an update of it.
            row(first, 1),
            row(first, 6),
            row(vanished, 2),
            row(vanished, 5, is_resolved=True),
            row(first, 10, is_resolved=True),
            # Half an hour after its end.
            row(again, 40),
            row(finding(subject="job:etl:b", began=DAY), DAY + 1),
        ],
        days=10,
    )
    assert (found.fired, found.per_day) == (4, 0.4)
    assert found.by_day == {date(2026, 3, 2): 3, date(2026, 3, 3): 1}
    assert found.by_tier == {"P2": 4}
    assert (found.resolved, found.acted_upon, found.acted_upon_share) == (2, 1, 0.5)
    assert found.flapping == 1


def test_no_alerts_have_no_share() -> None:
    found = alert_figures([], days=30)
    assert (found.fired, found.acted_upon_share) == (0, None)
