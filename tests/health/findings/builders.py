"""Findings for tests: an episode and its finding in one line each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.health.findings.models import Affected, Consumer, Episode, Finding, Tier
from headwater.health.findings.store import Changes, finding_row, write_changes

DAY = datetime(2026, 1, 1, tzinfo=UTC)


def at(minute: float) -> datetime:
    """Return an instant of the day of the tests."""
    return DAY + timedelta(minutes=minute)


def episode(
    rule: str,
    subject: str,
    first: float = 0,
    last: float | None = None,
    *,
    end: float | None = None,
    key: str = "1",
    by: str | None = None,
    **evidence: Any,
) -> Episode:
    """Return an episode whose times are minutes of the day."""
    return Episode(
        rule=rule,
        subject=subject,
        key=key,
        first_seen=at(first),
        last_seen=at(first if last is None else last),
        resolved_at=None if end is None else at(end),
        resolved_by=by,
        evidence=evidence,
    )


def finding(
    one: Episode,
    tier: Tier = Tier.P2,
    *,
    root: str = "",
    owners: Iterable[str] = (),
    consumers: Iterable[Consumer] = (),
    **counts: Any,
) -> Finding:
    """Return the finding of an episode; without `root` it is its own root."""
    affected = Affected(consumers=tuple(consumers), **counts)
    return Finding(one, tier, root or one.id, tuple(owners), affected)


def save(database: Database, found: Iterable[tuple[Finding, list[str]]]) -> None:
    """Write findings, each with the namespaces that decide who may see it."""
    rows = [finding_row(one, namespaces) for one, namespaces in found]
    with database.write() as transaction:
        write_changes(transaction, Changes(rows=rows))
