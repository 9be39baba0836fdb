"""Limits for each caller, and a fair share: one loud client does not slow the others.

A caller is a principal by its name; callers without a key are told apart by their address. The
rates are token buckets of one second. A request that exceeds them is refused before its body is
read: a question at once with 429, and events with 503, because OpenLineage clients repeat 503 and
lose an event after 429. Events first wait up to `EVENTS_WAIT_SECONDS_MAX` for their turn. A batch
counts its events when they are accepted, so the requests after it pay for it.

At one time a caller has its own number of requests at most, and its share of `shared` requests
among the callers of the last seconds. Further requests wait in the order in which they came.

Each API process counts for itself. Everything but `charge` runs on the loop of the server.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from headwater.access.limit_store import Limits, LimitStore
from headwater.errors import HeadwaterError

EVENTS_WAIT_SECONDS_MAX = 2.0
QUEUE_SECONDS_MAX = 10.0
WAITING_MAX = 500
# How long a caller counts as active after its last request, and a read limit as current.
ACTIVE_SECONDS = 5.0
LIMITS_SECONDS = 2.0
# Callers that are remembered; the one that called longest ago is forgotten.
CALLERS_MAX = 10_000
_COUNT_SECONDS = 0.25
_MINUTE_SECONDS = 60.0

OnRequest = Callable[[str, str], object]
OnEvents = Callable[[str, int], object]
ADMITTED, REFUSED = "admitted", "refused"


class OverLimitError(HeadwaterError):
    """A request beyond the limits of its caller: 429, or 503 for events."""

    def __init__(self, message: str, *, status: int, seconds: float) -> None:
        super().__init__(message, hint=f"Send again after {max(1, math.ceil(seconds))} s.")
        self.status = status
        self.retry_after_seconds = max(1, math.ceil(seconds))


class Bucket:
    """Tokens that fill up at a rate, for one second's worth at most. Threads may share it.

    Below 0 they are a debt, for which the next request waits.
    """

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self.rate = rate
        self._clock = clock
        self._turn = threading.Lock()
        self._tokens = max(rate, 1.0)
        self._filled_at = clock()

    def take(self, count: float) -> float:
        """Take tokens; return the seconds until the debt is paid, 0 without one."""
        if not self.rate:
            return 0.0
        with self._turn:
            now = self._clock()
            filled = self._tokens + (now - self._filled_at) * self.rate
            self._tokens = min(max(self.rate, 1.0), filled) - count
            self._filled_at = now
            return max(0.0, -self._tokens / self.rate)


@dataclass(eq=False)
class _Caller:
    """The state of one caller."""

    name: str
    shares: bool
    limits: Limits
    requests: Bucket
    events: Bucket
    read_at: float
    seen_at: float
    in_flight: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


# The caller of the present request; threads and tasks that work for it have it too.
_present: ContextVar[_Caller | None] = ContextVar("present_caller", default=None)


class Limiter:
    """The limits of all callers of one API process.

    `defaults` are the limits of a caller without limits of its own, `shared` the requests that
    active callers share at one time; 0: they share none.
    """

    def __init__(
        self,
        store: LimitStore,
        defaults: Limits,
        *,
        shared: int = 0,
        on_request: OnRequest = lambda *_: None,
        on_events: OnEvents = lambda *_: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._defaults = defaults
        self._shared = shared
        self._on_request = on_request
        self._on_events = on_events
        self._clock = clock
        self._callers: OrderedDict[str, _Caller] = OrderedDict()
        self._active = 1
        self._counted_at = -math.inf

    @asynccontextmanager
    async def admit(self, name: str, *, address: str = "", is_ingest: bool) -> AsyncIterator[None]:
        """Wait for the turn of a request. `address` is given for a caller without a key.

        Raises OverLimitError.
        """
        caller = self._caller(name, address)
        status = 503 if is_ingest else 429
        try:
            await self._pace(caller, is_ingest, status)
            await self._enter(caller, status)
        except OverLimitError:
            self._on_request(name, REFUSED)
            raise
        self._on_request(name, ADMITTED)
        before = _present.set(caller)
        try:
            yield
        finally:
            _present.reset(before)
            caller.in_flight -= 1
            self._hand_over(caller)

    def charge(self, events: int = 1) -> None:
        """Count accepted events of the caller whose request is in work."""
        caller = _present.get()
        if caller is not None:
            caller.events.take(events)
            self._on_events(caller.name, events)

    async def _pace(self, caller: _Caller, is_ingest: bool, status: int) -> None:
        wait = max(caller.requests.take(1), caller.events.take(0) if is_ingest else 0.0)
        if wait > (EVENTS_WAIT_SECONDS_MAX if is_ingest else 0.0):
            # A refused request takes no place of a later one.
            caller.requests.take(-1)
            limits = caller.limits
            rates = [f"{limits.requests:g} requests"] if limits.requests else []
            rates += [f"{limits.events:g} events"] if limits.events and is_ingest else []
            message = f"{caller.name!r} may send {' and '.join(rates)} a second"
            raise OverLimitError(message, status=status, seconds=wait)
        if wait > 0:
            await asyncio.sleep(wait)

    async def _enter(self, caller: _Caller, status: int) -> None:
        slots = self._slots(caller)
        if caller.in_flight < slots and not caller.waiting:
            caller.in_flight += 1
            return
        if len(caller.waiting) >= WAITING_MAX:
            raise self._busy(caller, slots, status)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        caller.waiting.append(turn)
        try:
            async with asyncio.timeout(QUEUE_SECONDS_MAX):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                # The turn came in the same moment: pass it on.
                caller.in_flight -= 1
                self._hand_over(caller)
            elif turn in caller.waiting:
                caller.waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise self._busy(caller, slots, status) from error
            raise

    def _hand_over(self, caller: _Caller) -> None:
        """Give free places to the requests that have waited longest."""
        while caller.waiting and caller.in_flight < self._slots(caller):
            turn = caller.waiting.popleft()
            if not turn.done():
                caller.in_flight += 1
                turn.set_result(None)

    def _busy(self, caller: _Caller, slots: float, status: int) -> OverLimitError:
        message = f"{caller.name!r} has {slots:g} requests in work, and further ones wait too long"
        return OverLimitError(message, status=status, seconds=QUEUE_SECONDS_MAX)

    def _slots(self, caller: _Caller) -> float:
        """Return how many requests of a caller may be in work now."""
        slots = float(caller.limits.concurrency or math.inf)
        if self._shared and caller.shares:
            slots = min(slots, max(1, self._shared // self._count_active()))
        return slots

    def _count_active(self) -> int:
        """Return the number of callers that share now, counted a few times a second."""
        now = self._clock()
        if now - self._counted_at >= _COUNT_SECONDS:
            self._counted_at = now
            self._active = sum(
                1
                for caller in self._callers.values()
                if caller.shares and (caller.in_flight or now - caller.seen_at < ACTIVE_SECONDS)
            )
        return max(1, self._active)

    def _caller(self, name: str, address: str) -> _Caller:
        id = f"{name} {address}" if address else name
        now = self._clock()
        caller = self._callers.get(id)
        if caller is None:
            limits = self._limits(name)
            buckets = Bucket(limits.requests, self._clock), Bucket(limits.events, self._clock)
            caller = _Caller(name, not address, limits, *buckets, read_at=now, seen_at=now)
            self._callers[id] = caller
            self._counted_at = -math.inf
            self._forget()
        elif now - caller.read_at > LIMITS_SECONDS:
            caller.read_at = now
            limits = self._limits(name)
            if limits != caller.limits:
                caller.limits = limits
                caller.requests = Bucket(limits.requests, self._clock)
                caller.events = Bucket(limits.events, self._clock)
        caller.seen_at = now
        self._callers.move_to_end(id)
        return caller

    def _limits(self, name: str) -> Limits:
        return self._store.find(name) or self._defaults

    def _forget(self) -> None:
        while len(self._callers) > CALLERS_MAX:
            idle = next((id for id, one in self._callers.items() if not one.in_flight), None)
            if idle is None:
                return
            del self._callers[idle]


class FailedSignIns:
    """The failed sign-ins of the last minute by address. `per_minute` 0: no bound.

    A sign-in counts from its beginning, so that concurrent ones do not exceed the bound.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def add(self, address: str) -> None:
        """Count a sign-in as failed until `take_back`.

        Raises OverLimitError (429) for an address with too many of them.
        """
        times = self._failed.setdefault(address, deque())
        now = self._clock()
        while times and now - times[0] > _MINUTE_SECONDS:
            times.popleft()
        if self._per_minute and len(times) >= self._per_minute:
            raise OverLimitError(
                f"{len(times)} sign-ins from this address failed within a minute",
                status=429,
                seconds=_MINUTE_SECONDS - (now - times[0]),
            )
        times.append(now)
        self._failed.move_to_end(address)
        while len(self._failed) > CALLERS_MAX:
            self._failed.popitem(last=False)

    def take_back(self, address: str) -> None:
        """Remove the latest sign-in of an address, which did not fail."""
        if times := self._failed.get(address):
            times.pop()
