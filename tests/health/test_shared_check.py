"""Checks whose results are shared: how many run for many callers, and how old a result may be."""

from __future__ import annotations

import asyncio

import pytest

from headwater.health.shared_check import SharedCheck


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Check:
    """A check that waits for `release` and returns its number."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.count = 0
        self.begun = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self) -> int:
        self.count += 1
        number = self.count
        self.begun.set()
        await self.release.wait()
        self.clock.now += 5
        return number


def test_many_callers_wait_for_two_checks_at_most() -> None:
    async def run() -> None:
        check = Check(Clock())
        shared = SharedCheck(check, clock=check.clock)
        first = asyncio.create_task(shared.result())
        await check.begun.wait()
        check.clock.now += 1
        later = [asyncio.create_task(shared.result()) for _ in range(400)]
        await asyncio.sleep(0)
        check.release.set()
        # The first check began before the others asked, so it is too old for them.
        assert await first == 1
        assert await asyncio.gather(*later) == [2] * 400

    asyncio.run(run())


def test_callers_share_an_error_too() -> None:
    async def run() -> None:
        count = 0

        async def check() -> int:
            nonlocal count
            count += 1
            await asyncio.sleep(0)
            raise ValueError(str(count))

        shared = SharedCheck(check, clock=lambda: 100.0)
        asked = [shared.result() for _ in range(400)]
        errors = await asyncio.gather(*asked, return_exceptions=True)
        assert [str(error) for error in errors] == ["1"] * 400

    asyncio.run(run())


def test_a_recent_result_is_returned_again() -> None:
    async def run() -> None:
        check = Check(Clock())
        check.release.set()
        shared = SharedCheck(check, seconds=6, clock=check.clock)
        # A check takes 5 s here.
        assert [await shared.result() for _ in range(3)] == [1, 1, 1]
        check.clock.now += 1.1
        assert await shared.result() == 2

    asyncio.run(run())


def test_a_check_that_is_given_up_leaves_its_place_to_the_next_caller() -> None:
    async def run() -> None:
        check = Check(Clock())
        shared = SharedCheck(check, clock=check.clock)
        first = asyncio.create_task(shared.result())
        second = asyncio.create_task(shared.result())
        await check.begun.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        check.release.set()
        assert await second == 2

    asyncio.run(run())
