"""A feed of changed things for subscribers: one poll a second for all, none without subscribers.

Other processes change the graph, so a feed polls Neo4j. A subscriber receives *states*, not events:
each changed thing at least once, as it is then. Two changes within a second may arrive as one.
Pending states are kept by urn, the newest only. A subscriber with over `PENDING_MAX` of them gets
TooSlowError.

All of this happens on one event loop.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from headwater.cypher.driver.database import Row
from headwater.errors import HeadwaterError, UnavailableError

POLL_SECONDS = 1.0
START_SECONDS_MAX = 10.0
PENDING_MAX = 1_000
_log = logging.getLogger("headwater.graphql")


class TooSlowError(HeadwaterError):
    """A subscriber that reads its messages too slowly."""


class Subscriber:
    """The pending states of one subscription."""

    def __init__(self, accepts: Callable[[Row], bool], kind: str) -> None:
        """Create a subscriber for the states that `accepts` returns True for.

        `kind` is the plural of what changes, for its error.
        """
        self._accepts = accepts
        self._kind = kind
        self._pending: dict[str, Row] = {}
        self._has_pending = asyncio.Event()

    def offer(self, state: Row) -> None:
        """Add a changed state, or replace the older pending state of the same urn."""
        if self._accepts(state) and len(self._pending) <= PENDING_MAX:
            self._pending[state["urn"]] = state
            self._has_pending.set()

    async def next(self) -> Row:
        """Wait for the next change and return the state. Raises TooSlowError."""
        while not self._pending:
            self._has_pending.clear()
            await self._has_pending.wait()
        if len(self._pending) > PENDING_MAX:
            raise TooSlowError(
                f"over {PENDING_MAX} changed {self._kind} are pending",
                hint="Read faster, or give the subscription more filters.",
            )
        return self._pending.pop(next(iter(self._pending)))


class Feed(ABC):
    """The changes of one kind of thing, for all subscribers of this process.

    A subclass delivers the changes since the poll before; the first poll of a run delivers none.
    """

    kind: str

    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()
        self._poll_task: asyncio.Task[None] | None = None
        self._started = asyncio.Event()

    @asynccontextmanager
    async def subscribe(self, accepts: Callable[[Row], bool]) -> AsyncIterator[Subscriber]:
        """Deliver every later change to a new subscriber.

        Raises UnavailableError if Neo4j does not answer within `START_SECONDS_MAX`.
        """
        subscriber = Subscriber(accepts, self.kind)
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
                self._poll_task = None
                self._reset()

    async def _poll(self) -> None:
        while True:
            try:
                await self._deliver_changes()
            except UnavailableError as error:
                _log.warning("feed_waits kind=%s reason=%r", self.kind, error.message)
            except Exception:
                _log.exception("feed_failed kind=%s", self.kind)
            await asyncio.sleep(POLL_SECONDS)

    def _deliver(self, state: Row) -> None:
        for subscriber in self._subscribers:
            subscriber.offer(state)

    @abstractmethod
    async def _deliver_changes(self) -> None:
        """Deliver new changes, and set `_started` once later changes are sure to be delivered."""

    @abstractmethod
    def _reset(self) -> None:
        """Forget what was delivered: the last subscriber is gone."""
