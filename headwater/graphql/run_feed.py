"""Tells subscribers of runs that have changed: one question to Neo4j a second for all of them, and none while nobody
listens.

The worker that changes runs is another process, so what is new is asked for (`headwater.lineage.questions.changed_runs`). What a
subscriber gets is *states*, not events: every run that changed is told at least once, as it is by then; two changes
within a second are told as one. Those that a subscriber has not taken yet are kept by run, newest state only. One that
leaves more than `WAITING_MAX` runs waiting is told that it is too slow, and no more.

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
WAITING_MAX = 1_000
_LEAST = timedelta(microseconds=1)
_HINT = "Read faster, or filter: namespace, pipeline, status."
_log = logging.getLogger("headwater.graphql")


class TooSlowError(HeadwaterError):
    """A subscriber that does not take what it asked for."""


class Listener:
    """What waits for one subscriber. `wanted`: whether it wants to hear of a run."""

    def __init__(self, wanted: Callable[[Row], bool]) -> None:
        self._wanted = wanted
        self._waiting: dict[str, Row] = {}
        self._woken = asyncio.Event()

    def hear(self, run: Row) -> None:
        if self._wanted(run) and len(self._waiting) <= WAITING_MAX:
            self._waiting[run["urn"]] = run
            self._woken.set()

    async def next(self) -> Row:
        """The next run that changed, as it is now. Raises TooSlowError."""
        while not self._waiting:
            self._woken.clear()
            await self._woken.wait()
        if len(self._waiting) > WAITING_MAX:
            raise TooSlowError(f"over {WAITING_MAX} runs wait to be taken", hint=_HINT)
        return self._waiting.pop(next(iter(self._waiting)))


class News:
    """The runs of a database that change. `database` sees everything: each listener's `wanted` judges what it may."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._listeners: set[Listener] = set()
        self._polling: asyncio.Task[None] | None = None
        self._since: datetime | None = None
        self._told: dict[str, datetime] = {}
        self._began = asyncio.Event()

    @asynccontextmanager
    async def listening(self, wanted: Callable[[Row], bool]) -> AsyncIterator[Listener]:
        """Hear of everything that changes from now on. Raises UnavailableError when Neo4j is not there."""
        listener = Listener(wanted)
        self._listeners.add(listener)
        if self._polling is None:
            self._began.clear()
            self._polling = asyncio.create_task(self._poll())
        try:
            await asyncio.wait_for(self._began.wait(), START_SECONDS_MAX)
            yield listener
        except TimeoutError as error:
            raise UnavailableError("Neo4j does not answer, so nothing can be told of it") from error
        finally:
            self._listeners.discard(listener)
            if not self._listeners and self._polling is not None:
                self._polling.cancel()
                self._polling = self._since = None
                self._told = {}

    async def _poll(self) -> None:
        while True:
            try:
                await self._look()
            except UnavailableError as error:
                _log.warning("subscribers wait: %s", error.message)
            except Exception:
                _log.exception("runs that changed could not be read")
            await asyncio.sleep(POLL_SECONDS)

    async def _look(self) -> None:
        """Tell what is new. The first look tells nothing: what had changed by then is not new."""
        if self._since is None:
            self._since = await anyio.to_thread.run_sync(read_clock, self._view)
        if not self._began.is_set():
            async for _ in self._fresh():
                pass
            self._began.set()
        async for fresh in self._fresh():
            rows = await anyio.to_thread.run_sync(
                read_nodes, self._view, [change.urn for change in fresh]
            )
            for run in rows.values():
                for listener in self._listeners:
                    listener.hear(run)

    async def _fresh(self) -> AsyncIterator[list[ChangedRun]]:
        """What changed since the last look and was not told, a page after the other; it is told once the next is
        asked for."""
        assert self._since is not None
        since, more = self._since - LOOK_BACK, True
        while more:
            changes = await anyio.to_thread.run_sync(changed_runs, self._view, since)
            more = len(changes) == ROWS_MAX
            since = max(changes[-1].at, since + _LEAST) if more else since
            fresh = [change for change in changes if self._is_fresh(change)]
            yield fresh
            self._remember(fresh)

    def _is_fresh(self, change: ChangedRun) -> bool:
        known = self._told.get(change.urn)
        return known is None or change.at > known

    def _remember(self, changes: list[ChangedRun]) -> None:
        """What was told is forgotten once it is not looked back at any more."""
        assert self._since is not None
        self._since = max([self._since, *(change.at for change in changes)])
        self._told |= {change.urn: change.at for change in changes}
        self._told = {urn: at for urn, at in self._told.items() if at >= self._since - LOOK_BACK}
