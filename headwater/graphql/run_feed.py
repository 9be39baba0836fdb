"""The feed of changed runs for subscribers.

Another process, the worker, changes runs, so the feed polls Neo4j
(`headwater.lineage.questions.changed_runs`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import anyio.to_thread

from headwater.graphql.feed import Feed
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.changed_runs import (
    LOOK_BACK,
    ROWS_MAX,
    ChangedRun,
    changed_runs,
    read_clock,
)
from headwater.lineage.view import GraphView

_SMALLEST_STEP = timedelta(microseconds=1)


class RunFeed(Feed):
    """The changed runs of a graph, for all subscribers of this process."""

    kind = "runs"

    def __init__(self, view: GraphView) -> None:
        """Create a feed. `view` is unrestricted: each subscriber filters by its visibility."""
        super().__init__()
        self._view = view
        self._since: datetime | None = None
        # urn -> the time of the newest change that was delivered
        self._delivered: dict[str, datetime] = {}

    def _reset(self) -> None:
        self._since = None
        self._delivered = {}

    async def _deliver_changes(self) -> None:
        """Deliver new changes. The first poll delivers none: earlier changes are not new."""
        if self._since is None:
            self._since = await anyio.to_thread.run_sync(read_clock, self._view)
        if not self._started.is_set():
            async for _ in self._new_changes():
                pass
            self._started.set()
        async for changes in self._new_changes():
            urns = [change.urn for change in changes]
            rows = await anyio.to_thread.run_sync(read_nodes, self._view, urns)
            for run in rows.values():
                self._deliver(run)

    async def _new_changes(self) -> AsyncIterator[list[ChangedRun]]:
        """Yield pages of changes that were not delivered yet.

        A page counts as delivered when the caller takes the next one.
        """
        assert self._since is not None
        since, has_more = self._since - LOOK_BACK, True
        while has_more:
            changes = await anyio.to_thread.run_sync(changed_runs, self._view, since)
            has_more = len(changes) == ROWS_MAX
            if has_more:
                since = max(changes[-1].at, since + _SMALLEST_STEP)
            new = [change for change in changes if self._is_new(change)]
            yield new
            self._record_delivery(new)

    def _is_new(self, change: ChangedRun) -> bool:
        delivered = self._delivered.get(change.urn)
        return delivered is None or change.at > delivered

    def _record_delivery(self, changes: list[ChangedRun]) -> None:
        """Record delivered changes; drop the records that no later poll looks back at."""
        assert self._since is not None
        self._since = max([self._since, *(change.at for change in changes)])
        self._delivered |= {change.urn: change.at for change in changes}
        oldest = self._since - LOOK_BACK
        self._delivered = {
            urn: changed_at for urn, changed_at in self._delivered.items() if changed_at >= oldest
        }
