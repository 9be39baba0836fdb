"""The feed of changed runs for subscribers: one query a second for all, none without subscribers.

Another process, the worker, changes runs, so the feed polls Neo4j
(`headwater.lineage.questions.changed_runs`). A subscriber receives *states*, not events: each
changed run at least once, as it is then. Two changes within a second may arrive as one. Pending
states are kept by run, the newest only. A subscriber with over `PENDING_MAX` pending runs gets
TooSlowError.

All of this happens on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import anyio.to_thread

from headwater.cypher.driver.database import Row
from headwater.errors import HeadwaterError, UnavailableError
from headwater.lineage.nodes import read_nodes
from headwater.lineage.questions.changed_runs import (
    LOOK_BACK,
    ROWS_MAX,
    ChangedRun,
    changed_runs,
    read_clock,
)
from headwater.lineage.view import GraphView

POLL_SECONDS = 1.0
START_SECONDS_MAX = 10.0
PENDING_MAX = 1_000
_SMALLEST_STEP = timedelta(microseconds=1)
_HINT = "Read faster, or filter by namespace, pipeline or status."
_log = logging.getLogger("headwater.graphql")


class TooSlowError(HeadwaterError):
    """A subscriber that reads its messages too slowly."""


class Subscriber:
    """The pending runs of one subscription."""

    def __init__(self, accepts: Callable[[Row], bool]) -> None:
        """Create a subscriber for the runs that `accepts` returns True for."""
        self._accepts = accepts
        self._pending: dict[str, Row] = {}
        self._has_pending = asyncio.Event()

    def offer(self, run: Row) -> None:
        """Add a changed run, or replace its older pending state."""
        if self._accepts(run) and len(self._pending) <= PENDING_MAX:
            self._pending[run["urn"]] = run
            self._has_pending.set()

    async def next(self) -> Row:
        """Wait for the next changed run and return its state. Raises TooSlowError."""
        while not self._pending:
            self._has_pending.clear()
            await self._has_pending.wait()
        if len(self._pending) > PENDING_MAX:
            raise TooSlowError(f"over {PENDING_MAX} changed runs are pending", hint=_HINT)
        return self._pending.pop(next(iter(self._pending)))


class RunFeed:
    """The changed runs of a graph, for all subscribers of this process."""

    def __init__(self, view: GraphView) -> None:
        """Create a feed. `view` is unrestricted: each subscriber filters by its visibility."""
        self._view = view
        self._subscribers: set[Subscriber] = set()
        self._poll_task: asyncio.Task[None] | None = None
        self._since: datetime | None = None
        # urn -> the time of the newest change that was delivered
        self._delivered: dict[str, datetime] = {}
        self._started = asyncio.Event()

    @asynccontextmanager
    async def subscribe(self, accepts: Callable[[Row], bool]) -> AsyncIterator[Subscriber]:
        """Deliver every later change to a new subscriber.

        Raises UnavailableError if Neo4j does not answer within `START_SECONDS_MAX`.
        """
        subscriber = Subscriber(accepts)
        self._subscribers.add(subscriber)
        if self._poll_task is None:
            self._started.clear()
            self._poll_task = asyncio.create_task(self._poll())
        try:
            await asyncio.wait_for(self._started.wait(), START_SECONDS_MAX)
            yield subscriber
        except TimeoutError as error:
            raise UnavailableError(
                f"Neo4j does not answer within {START_SECONDS_MAX:g} s",
                hint="Subscribe again when /readyz returns 200.",
            ) from error
        finally:
            self._subscribers.discard(subscriber)
            if not self._subscribers and self._poll_task is not None:
                self._poll_task.cancel()
                self._poll_task = self._since = None
                self._delivered = {}

    async def _poll(self) -> None:
        while True:
            try:
                await self._deliver_changes()
            except UnavailableError as error:
                _log.warning("run_feed_waits reason=%r", error.message)
            except Exception:
                _log.exception("run_feed_failed")
            await asyncio.sleep(POLL_SECONDS)

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
                for subscriber in self._subscribers:
                    subscriber.offer(run)

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
