"""Which runs have changed since somebody last looked.

`changedAt` is set, by the clock of Neo4j, under the write lock, whenever a run is written: by its own events, by the
end of what it is part of, by silence. Writers take turns, so what is committed later has later times, and nothing is
missed by asking for what came after the last one seen. A question that is asked while a commit goes on may see only
part of it, so `LOOK_BACK` is asked for again every time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from headwater.lineage.view import GraphView

# The time within which a question is answered (`SECONDS_MAX`) and more, should a clock be set back a little.
LOOK_BACK = timedelta(seconds=5)
SECONDS_MAX = 4.0
ROWS_MAX = 5_000


class ChangedRun(NamedTuple):
    """A run and when it was last written."""

    urn: str
    at: datetime


def read_clock(view: GraphView) -> datetime:
    """The clock of Neo4j. Raises UnavailableError."""
    at: datetime = view.read("read/state/clock", seconds=SECONDS_MAX)[0]["now"]
    return at


def changed_runs(view: GraphView, since: datetime) -> list[ChangedRun]:
    """Runs that were written at or after `since`, in that order; at most `ROWS_MAX`. Raises UnavailableError."""
    rows = view.read("read/catalog/changed_runs", seconds=SECONDS_MAX, since=since, limit=ROWS_MAX)
    return [ChangedRun(row["urn"], row["at"]) for row in rows]
