"""The runs that changed since a caller last asked.

A writer sets `changedAt` by the clock of Neo4j, under the write lock, whenever it writes a run. The
cause may be an event of the run, the end of its parent, or a lost heartbeat. Writers take turns, so
a later commit has later times. Asking for changes after the last known time therefore misses none.
A query that runs during a commit may see only part of it, so each query repeats `LOOK_BACK`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from headwater.lineage.view import GraphView

# More than the time limit of a query (`SECONDS_MAX`), in case a clock is set back a little.
LOOK_BACK = timedelta(seconds=5)
SECONDS_MAX = 4.0
ROWS_MAX = 5_000


class ChangedRun(NamedTuple):
    """A run and the time of its last write."""

    urn: str
    at: datetime


def read_clock(view: GraphView) -> datetime:
    """Return the time by the clock of Neo4j. Raises UnavailableError."""
    now: datetime = view.read("read/state/clock", seconds=SECONDS_MAX)[0]["now"]
    return now


def changed_runs(view: GraphView, since: datetime) -> list[ChangedRun]:
    """Return the runs written at or after `since`, in that order, at most `ROWS_MAX`.

    Raises UnavailableError.
    """
    rows = view.read("read/catalog/changed_runs", seconds=SECONDS_MAX, since=since, limit=ROWS_MAX)
    return [ChangedRun(row["urn"], row["at"]) for row in rows]
