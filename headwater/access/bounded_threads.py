"""A few threads for calls that take long, with a queue of bounded length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.to_thread

from headwater.errors import UnavailableError

WAITING_MAX = 100
# Reading code takes a processor for seconds: it takes no thread of other questions, and goes on
# counting when its caller hangs up.
CODE_THREADS_MAX = 2
Args = TypeVarTuple("Args")
Result = TypeVar("Result")


@dataclass
class _Turns:
    """The turns of one caller, and its calls that have one or wait for one."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    calls: int = 0


class BoundedThreads:
    """Threads of their own: slow calls in them take no thread of the pool that all share. One
    caller has one of them at a time, so its calls do not make all others wait. An instance belongs
    to one event loop, as its locks do: REST and GraphQL, which has its own, each have one.

    name: what the calls are, for the error.
    waiting_max: calls that wait for a thread; a further one is refused at once."""

    def __init__(self, name: str, threads: int, *, waiting_max: int = WAITING_MAX) -> None:
        self._name = name
        self._limiter = anyio.CapacityLimiter(threads)
        self._waiting_max = waiting_max
        self._calls_max = threads + waiting_max
        # Calls that run or wait. The limiter counts one only some time after it came.
        self._calls = 0
        self._turns: dict[str, _Turns] = {}

    async def run(
        self, function: Callable[[*Args], Result], *args: *Args, caller: str = ""
    ) -> Result:
        """Return the result of a call; "" is a caller that is not known.

        Raises UnavailableError if too many calls wait."""
        if self._calls >= self._calls_max:
            raise UnavailableError(
                f"{self._waiting_max} {self._name} wait already", hint="Retry later."
            )
        self._calls += 1
        try:
            async with self._turn_of(caller):
                return await anyio.to_thread.run_sync(function, *args, limiter=self._limiter)
        finally:
            self._calls -= 1

    @asynccontextmanager
    async def _turn_of(self, caller: str) -> AsyncIterator[None]:
        if not caller:
            yield
            return
        turns = self._turns.setdefault(caller, _Turns())
        turns.calls += 1
        try:
            async with turns.lock:
                yield
        finally:
            turns.calls -= 1
            if not turns.calls:
                del self._turns[caller]
