"""Findings for tests of alerts, with few words each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from headwater.health.findings.models import Affected, Consumer, Episode, Finding, Tier

NOBODY = Affected()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def minutes(count: float) -> datetime:
    """Return an instant so many minutes after noon."""
    return NOON + timedelta(minutes=count)


def consumer(urn: str, *owners: str, is_critical: bool = False) -> Consumer:
    return Consumer(urn, urn.partition(":")[0].upper(), owners, is_critical)


def finding(
    rule: str = "failed-run",
    subject: str = "job:etl:orders",
    *,
    key: str = "1",
    began: float = 0,
    ended: float | None = None,
    tier: Tier = Tier.P2,
    root: str | None = None,
    owners: tuple[str, ...] = (),
    affected: Affected = NOBODY,
) -> Finding:
    """Return a finding that began and ended so many minutes after noon."""
    episode = Episode(
        rule,
        subject,
        key,
        first_seen=minutes(began),
        last_seen=minutes(began if ended is None else ended),
        resolved_at=None if ended is None else minutes(ended),
        resolved_by=None if ended is None else "run:later",
    )
    return Finding(episode, tier, root or episode.id, owners, affected)
