"""The alerts of a graph now, as one caller may see them: those that fire, and those that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from headwater.cypher.driver.database import Row
from headwater.health.alerts.grouping import FLAPPING_SECONDS
from headwater.health.alerts.models import Alert, Status
from headwater.health.alerts.visible import visible_alerts
from headwater.health.findings.models import Finding
from headwater.health.findings.store import finding_of, is_whole
from headwater.lineage.view import GraphView

# Reads the rows of a catalog query: of a view, or of a transaction.
Read = Callable[..., list[Row]]


def current_alerts(view: GraphView, instant: datetime) -> list[Alert]:
    """Return the alerts with an open finding that the caller may see, the most urgent first."""
    alerts = visible_alerts(view, read_findings(view.read, instant), instant)
    return [alert for alert in alerts if alert.status is not Status.RESOLVED]


def read_findings(read: Read, instant: datetime, keys: Iterable[str] = ()) -> list[Finding]:
    """Return the open findings, the others of their groups, and what ended just before.

    `keys` are the roots of further groups.
    """
    found = _whole_findings(read("read/alerts/open_findings"))
    roots = {finding.root for finding in found} | {*keys}
    since = instant - timedelta(seconds=2 * FLAPPING_SECONDS)
    subjects = {one.episode.subject for one in found if one.episode.first_seen >= since}
    ended = read("read/alerts/recently_ended_roots", subjects=sorted(subjects), since=since)
    roots.update(row["root"] for row in ended)
    rows: list[dict[str, Any]] = read("read/alerts/resolved_findings", roots=sorted(roots))
    return found + _whole_findings(rows)


def _whole_findings(rows: Iterable[dict[str, Any]]) -> list[Finding]:
    """Return the findings of rows, without those that are just being written."""
    return [finding_of(row["properties"]) for row in rows if is_whole(row["properties"])]
