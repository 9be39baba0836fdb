"""Lists of alerts and of messages that were given up, for operators who may see everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.cypher.driver.database import Database
from headwater.health.alerts.alert_figures import AlertFigures, alert_figures
from headwater.lineage.view import GraphView

ALERTS_MAX = 200


@dataclass(frozen=True)
class SentAlert:
    """An alert as its receivers know it; `deliveries` is the state of each newest message."""

    dedup_key: str
    status: str
    tier: str
    title: str
    at: datetime
    deliveries: Mapping[str, str]


def sent_alerts(
    view: GraphView, *, resolved: bool = True, limit: int = ALERTS_MAX
) -> list[SentAlert]:
    """Return the alerts that fire, the most urgent first, and then the resolved ones, newest
    first."""
    rows = view.read("read/alerts/alerts", resolved=resolved, limit=limit)
    return group_deliveries([row["properties"] for row in rows])


def group_deliveries(rows: Iterable[Mapping[str, Any]]) -> list[SentAlert]:
    """Return the alerts of deliveries; `rows` holds the newest delivery first."""
    newest: dict[str, Mapping[str, Any]] = {}
    states: dict[str, dict[str, str]] = {}
    for row in rows:
        newest.setdefault(row["dedupKey"], row)
        states.setdefault(row["dedupKey"], {})[row["receiver"]] = row["state"]
    alerts = [
        SentAlert(key, row["status"], row["tier"], row["title"], row["createdAt"], states[key])
        for key, row in newest.items()
    ]
    firing = sorted(
        (one for one in alerts if one.status == "firing"), key=lambda one: (one.tier, one.at)
    )
    return firing + [one for one in alerts if one.status != "firing"]


def dead_letters(view: GraphView, *, limit: int = ALERTS_MAX) -> list[Mapping[str, Any]]:
    """Return the messages that were given up, newest first, with the reason of each."""
    rows = view.read("read/alerts/dead_letters", limit=limit)
    return [row["properties"] for row in rows]


def retry(database: Database, receiver: str = "") -> int:
    """Queue the messages again that were given up, to one receiver or to all.

    Returns their number. Raises UnavailableError.
    """
    with database.write() as transaction:
        rows = transaction.run(
            "write/alerts/retry_deliveries", receiver=receiver, instant=datetime.now(UTC)
        )
    return int(rows[0]["count"])


def figures(view: GraphView, days: int, now: datetime | None = None) -> AlertFigures:
    """Return how many alerts there were in the last days, and how useful they were."""
    since = (now or datetime.now(UTC)) - timedelta(days=days)
    return alert_figures(view.read("read/alerts/history", since=since), days)
