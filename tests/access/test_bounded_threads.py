"""Threads of their own for slow calls, and the refusal of those that would wait too long."""

from __future__ import annotations

import asyncio
import threading

import pytest

from headwater.access.bounded_threads import BoundedThreads
from headwater.errors import UnavailableError


def test_calls_beyond_the_queue_are_refused() -> None:
    begun: list[int] = []
    release = threading.Event()

    def call(number: int) -> int:
        begun.append(number)
        release.wait(30)
        return number

    async def run_all() -> None:
        threads = BoundedThreads("calls", 1, waiting_max=2)
        tasks = [asyncio.create_task(threads.run(call, number)) for number in range(3)]
        while not begun:
            await asyncio.sleep(0.01)
        with pytest.raises(UnavailableError, match="2 calls wait already"):
            await threads.run(call, 3)
        assert begun == [0]
        release.set()
        assert await asyncio.gather(*tasks) == [0, 1, 2]
        assert await threads.run(call, 4) == 4

    asyncio.run(run_all())


def test_a_caller_has_one_thread_at_a_time() -> None:
    begun: list[str] = []
    release = threading.Event()

    def call(name: str) -> str:
        begun.append(name)
        release.wait(30)
        return name

    async def run_all() -> None:
        threads = BoundedThreads("calls", 2)
        names = [("loud", "loud 1"), ("loud", "loud 2"), ("loud", "loud 3"), ("other", "other")]
        tasks = [
            asyncio.create_task(threads.run(call, name, caller=caller)) for caller, name in names
        ]
        while len(begun) < 2:
            await asyncio.sleep(0.01)
        assert begun == ["loud 1", "other"]
        release.set()
        assert await asyncio.gather(*tasks) == [name for _, name in names]
        assert threads._turns == {}

    asyncio.run(run_all())
