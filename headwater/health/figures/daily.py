"""The thread of the API that keeps the snapshot of the day recent.

Every `CHECK_SECONDS` it takes a snapshot, unless one of today is younger than `AGE_HOURS_MAX`. So
the value of a past day is one of its last hours. Several API processes may take the same snapshot.
"""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

from headwater.errors import HeadwaterError
from headwater.health.figures.snapshots import has_snapshot, take_snapshot
from headwater.lineage.view import GraphView

AGE_HOURS_MAX = 6
CHECK_SECONDS = 600.0
# The first questions of callers go first: Neo4j plans each query once.
START_SECONDS = 120.0

log = logging.getLogger("headwater.health")


def run_daily_snapshots(view: GraphView, stop: threading.Event) -> None:
    """Take snapshots until `stop` is set."""
    pause = START_SECONDS
    while not stop.wait(pause):
        pause = CHECK_SECONDS
        try:
            keep_recent(view)
        except HeadwaterError as error:
            log.warning("figures_snapshot_failed error=%s", error.message)


def keep_recent(view: GraphView, now: datetime | None = None) -> bool:
    """Take a snapshot unless a recent one of today exists; return True if it was taken.

    Raises UnavailableError.
    """
    instant = now or datetime.now(UTC)
    since = instant - timedelta(hours=AGE_HOURS_MAX)
    if has_snapshot(view, instant.date(), since=since):
        return False
    take_snapshot(view, instant)
    log.info("figures_snapshot_taken day=%s", instant.date())
    return True
