"""Accept an event: parse it, redact it, authorize it, and append it to the spool.

Every event enters here: those posted to `/api/v1/lineage`, REST registrations and GraphQL
mutations. An accepted event is on disk. Accepting needs no Neo4j.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
import msgspec

from headwater.access.events import authorize_event, own_facets_only
from headwater.access.principal import Principal
from headwater.ingest.receive.forgotten import Forgotten
from headwater.ingest.receive.redact import Redactor
from headwater.ingest.receive.sender import with_sender
from headwater.ingest.receive.trace_headers import RequestTrace, with_trace
from headwater.ingest.spool.group_commit import GroupCommitter
from headwater.schema.events import parse, require_event_time
from headwater.schema.naming import Naming

# Bodies larger than this are worked on in threads, one of each caller and few of all at one time:
# each holds the interpreter for a while, and takes many times its bytes of memory.
LARGE_BYTES = 256 * 1024
LARGE_BODIES_MAX = 4
# The errors of a new thread without memory for its stack.
_NO_THREAD = ("can't start new thread", "error return without exception set")

T = TypeVar("T")


class EventAcceptor:
    """The one way into the spool. Safe to share between threads."""

    def __init__(
        self,
        redactor: Redactor,
        naming: Naming,
        committer: GroupCommitter,
        *,
        allow_missing_event_time: bool = False,
        forgotten: Forgotten | None = None,
        on_accepted: Callable[[], object] = lambda: None,
    ) -> None:
        self._redactor = redactor
        self._forgotten = forgotten
        self._naming = naming
        self._committer = committer
        self._allow_missing_event_time = allow_missing_event_time
        self._on_accepted = on_accepted
        self._large_bodies = anyio.CapacityLimiter(LARGE_BODIES_MAX)
        # By the name of the caller; a lock that nobody holds or waits for is dropped.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run_in_thread(
        self, principal: Principal, size: int, function: Callable[..., T], *arguments: Any
    ) -> T:
        """Return a result for a body of `size` bytes, computed in a thread.

        A large body waits for its turn among those of its sender, and then among all.

        Raises MemoryError if the process has no memory for the thread.
        """
        if size <= LARGE_BYTES:
            return await _in_thread(None, function, *arguments)
        async with self._turns.setdefault(principal.name, asyncio.Lock()):
            return await _in_thread(self._large_bodies, function, *arguments)

    def accept(
        self, principal: Principal, body: bytes, received: int, trace: RequestTrace | None = None
    ) -> bytes:
        """Return the event as the spool stores it: without secrets, with its sender and trace.

        `received` is in microseconds since 1970. Raises EventError for a malformed event and
        ForeignEventError for an event that the principal may not send.
        """
        event = parse(body, received=received)
        require_event_time(event, allow_missing=self._allow_missing_event_time)
        redacted = self._redactor.redact(body)
        if self._forgotten is not None:
            redacted = self._forgotten.rewrite(redacted)
        # The parsed event stands for the redacted bytes only if redaction changed nothing.
        parsed = event if redacted is body else None
        authorize_event(principal, redacted, self._naming, parsed)
        stored = own_facets_only(principal, redacted, self._naming, parsed)
        stored = with_sender(principal, stored)
        self._on_accepted()
        return stored if trace is None else with_trace(stored, event, trace)

    def append(self, bodies: list[bytes]) -> asyncio.Future[int]:
        """Append accepted events to the spool.

        The future gets the sequence number of the last event once all are synced to disk.
        Raises SpoolFullError, at once or from the future.
        """
        return self._committer.append(bodies)

    async def submit(self, principal: Principal, events: Sequence[Mapping[str, Any]]) -> None:
        """Accept events that the API builds itself; return once they are synced to disk.

        Raises EventError, ForeignEventError and SpoolFullError.
        """
        received = time.time_ns() // 1_000
        bodies = [self.accept(principal, msgspec.json.encode(event), received) for event in events]
        await self.append(bodies)


async def _in_thread(
    limiter: anyio.CapacityLimiter | None, function: Callable[..., T], *arguments: Any
) -> T:
    try:
        return await anyio.to_thread.run_sync(function, *arguments, limiter=limiter)
    except (RuntimeError, SystemError) as error:
        if str(error) in _NO_THREAD:
            raise MemoryError("no memory for a thread") from error
        raise
