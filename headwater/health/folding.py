"""Whether folding makes progress, and whether the spool and the graph belong together."""

from __future__ import annotations

import time
from datetime import datetime

from headwater.cypher.driver.database import Database
from headwater.cypher.driver.write_lock import check_not_erasing
from headwater.errors import HeadwaterError
from headwater.ingest.continuity import check_continuity
from headwater.ingest.spool.spool import Spool
from headwater.ingest.write.transaction import read_checkpoint

# Events that wait for this long without a commit are a failed check.
STALL_SECONDS = 120.0
QUERY_SECONDS_MAX = 2.0


def seconds_without_progress(
    *, oldest_waiting: float | None, committed_at: float | None, started_at: float, now: float
) -> float:
    """Return for how many seconds events have waited without a commit; 0 if none waits.

    All arguments are in seconds since 1970. `oldest_waiting` is the receipt of the oldest event
    that waits, None if none does. The time before this process started does not count.
    """
    if oldest_waiting is None:
        return 0.0
    return max(now - max(oldest_waiting, committed_at or 0.0, started_at), 0.0)


class FoldingState:
    """Reads how folding goes. One thread at a time; `spool` is a connection for it alone."""

    def __init__(self, database: Database, spool: Spool) -> None:
        self._database = database
        self._spool = spool
        self._started_at = time.time()

    def stalled_seconds(self, position: int) -> float:
        """Return for how long the events after a position have waited without a commit.

        Raises UnavailableError or SpoolFullError.
        """
        oldest = self._spool.received_at(position + 1)
        if oldest is None:
            return 0.0
        rows = self._database.read(
            "read/state/last_commit", seconds=QUERY_SECONDS_MAX, spool=self._spool.id
        )
        at = rows[0]["at"] if rows else None
        return seconds_without_progress(
            oldest_waiting=oldest / 1_000_000,
            committed_at=at.timestamp() if isinstance(at, datetime) else None,
            started_at=self._started_at,
            now=time.time(),
        )

    def check(self) -> None:
        """Raise HeadwaterError if nothing is folded, or the spool is older than the graph."""
        check_not_erasing(self._database, seconds=QUERY_SECONDS_MAX)
        checkpoint = read_checkpoint(self._database, self._spool.id, seconds=QUERY_SECONDS_MAX)
        check_continuity(self._spool, checkpoint)
        seconds = self.stalled_seconds(checkpoint.position)
        if seconds > STALL_SECONDS:
            waiting = self._spool.last() - checkpoint.position
            raise HeadwaterError(
                f"{waiting} events wait, and none was folded for {seconds:.0f} s",
                hint="Look at the worker's log. Does `headwater worker` run?",
            )
