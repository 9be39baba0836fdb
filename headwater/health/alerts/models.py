"""Alerts: all findings with one root cause, as one message to somebody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.health.findings.models import Consumer, Finding, Tier


class Status(StrEnum):
    """The state of an alert at an instant.

    WAITING: it is open, but too short to disturb anybody.
    """

    WAITING = "waiting"
    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True)
class Reach:
    """How many nodes are downstream; `truncated`: there may be more."""

    answers: int = 0
    datasets: int = 0
    jobs: int = 0
    critical: int = 0
    truncated: bool = False


@dataclass(frozen=True)
class Alert:
    """The findings of one root cause.

    dedup_key: the id of the root finding. It stays the same from the first message to the last.
    findings: the root first, then the open ones by their beginning, then the resolved ones.
      `more_findings` counts those that a shortened alert leaves out.
    consumers: the first of the affected ones by urgency; `more_consumers` counts the others.
    since: the beginning of the first finding.
    resolved_at: the end of the last one; None while one is open.
    merged_into: the key of the alert that the findings belong to by now, if their cause became
      known after this alert had fired; empty otherwise.
    """

    dedup_key: str
    status: Status
    tier: Tier
    title: str
    findings: tuple[Finding, ...]
    consumers: tuple[Consumer, ...]
    more_consumers: int
    reach: Reach
    owners: tuple[str, ...]
    since: datetime
    resolved_at: datetime | None
    more_findings: int = 0
    merged_into: str = ""

    @property
    def head(self) -> Finding:
        """Return the root finding, or the first one known if the root is not among them."""
        return self.findings[0]
