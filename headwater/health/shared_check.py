"""A check whose result all callers share, so that their number does not multiply its work."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class SharedCheck(Generic[T]):
    """A check that runs once for all callers who wait for it.

    A caller gets the result, or the error, of a check that began at most `seconds` before the call,
    or after it. So it waits for two checks at most: the one in work, and the next.
    """

    def __init__(
        self,
        check: Callable[[], Awaitable[T]],
        *,
        seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._check = check
        self._seconds = seconds
        self._clock = clock
        self._turn = anyio.Lock()
        # When the latest check began, and its result or error.
        self._latest: tuple[float, T | Exception] | None = None

    async def result(self) -> T:
        """Return a result that is new enough for this caller. Raises the error of its check."""
        oldest = self._clock() - self._seconds
        async with self._turn:
            if self._latest is None or self._latest[0] < oldest:
                began = self._clock()
                self._latest = began, await self._outcome()
            outcome = self._latest[1]
        if isinstance(outcome, Exception):
            # Without the frames of the callers before.
            raise outcome.with_traceback(None)
        return outcome

    async def _outcome(self) -> T | Exception:
        try:
            return await self._check()
        except Exception as error:
            return error
