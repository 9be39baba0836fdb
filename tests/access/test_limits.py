"""Limits of callers: buckets on a clock of the test, and places on a real event loop."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from headwater.access import limits
from headwater.access.limit_store import Limits, LimitStore
from headwater.access.limits import FailedSignIns, Limiter, OverLimitError
from headwater.access.store import AccessStore


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stored(store: AccessStore) -> LimitStore:
    return LimitStore(store)


async def ask(limiter: Limiter, name: str = "ann", address: str = "") -> None:
    async with limiter.admit(name, address=address, is_ingest=False):
        pass


async def refusal(limiter: Limiter, *, is_ingest: bool) -> OverLimitError:
    with pytest.raises(OverLimitError) as error:
        async with limiter.admit("ann", is_ingest=is_ingest):
            pass
    return error.value


def test_questions_over_the_rate_get_429(stored: LimitStore, clock: Clock) -> None:
    limiter = Limiter(stored, Limits(requests=2), clock=clock)

    async def run() -> None:
        # A second's worth at once, and then one each half second.
        await ask(limiter)
        await ask(limiter)
        error = await refusal(limiter, is_ingest=False)
        assert (error.status, error.retry_after_seconds) == (429, 1)
        assert "'ann' may send 2 requests a second" in error.message
        # A refused request costs nothing.
        clock.now += 0.5
        await ask(limiter)
        await refusal(limiter, is_ingest=False)
        # Another caller has a bucket of its own.
        await ask(limiter, "bob")
        clock.now += 60
        await ask(limiter)
        await ask(limiter)
        await refusal(limiter, is_ingest=False)

    asyncio.run(run())


def test_a_batch_counts_its_events_and_events_get_503(stored: LimitStore, clock: Clock) -> None:
    counted: list[tuple[str, object]] = []

    def on_request(name: str, outcome: str) -> None:
        counted.append((name, outcome))

    limiter = Limiter(stored, Limits(events=10), on_request=on_request, clock=clock)

    async def run() -> None:
        async with limiter.admit("ann", is_ingest=True):
            limiter.charge(100)
        # 10 tokens less 100 are a debt of 90, which 10 a second pay in 9 s.
        error = await refusal(limiter, is_ingest=True)
        assert (error.status, error.retry_after_seconds) == (503, 9)
        # Questions do not pay for events.
        await ask(limiter)
        clock.now += 9
        async with limiter.admit("ann", is_ingest=True):
            pass

    asyncio.run(run())
    assert [outcome for _, outcome in counted] == ["admitted", "refused", "admitted", "admitted"]


def test_events_wait_for_their_turn_before_they_are_refused(stored: LimitStore) -> None:
    limiter = Limiter(stored, Limits(requests=20))

    async def run() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()

        async def send() -> None:
            async with limiter.admit("ann", is_ingest=True):
                pass

        # 20 at once; each of the next 4 waits for 1/20 s longer.
        await asyncio.gather(*(send() for _ in range(24)))
        return loop.time() - began

    assert asyncio.run(run()) >= 4 / 20 - 0.02


def test_concurrency_and_order(stored: LimitStore) -> None:
    stored.set("ann", Limits(concurrency=2))
    limiter = Limiter(stored, Limits())

    async def run() -> list[int]:
        order: list[int] = []
        busiest = now = 0

        async def work(number: int) -> None:
            nonlocal busiest, now
            async with limiter.admit("ann", is_ingest=False):
                now += 1
                busiest = max(busiest, now)
                order.append(number)
                await asyncio.sleep(0.01)
                now -= 1

        await asyncio.gather(*(work(number) for number in range(7)))
        assert busiest == 2
        return order

    assert asyncio.run(run()) == [*range(7)]


def test_a_request_that_waits_too_long_is_refused_and_leaves_its_place(
    stored: LimitStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "QUEUE_SECONDS_MAX", 0.05)
    monkeypatch.setattr(limits, "WAITING_MAX", 1)
    limiter = Limiter(stored, Limits(concurrency=1))

    async def run() -> None:
        async with limiter.admit("ann", is_ingest=False):
            first = asyncio.create_task(refusal(limiter, is_ingest=True))
            await asyncio.sleep(0)
            # One waits already, and no more may.
            assert (await refusal(limiter, is_ingest=False)).status == 429
            error = await first
            assert error.status == 503
            assert "1 requests in work" in error.message
            cancelled = asyncio.create_task(ask(limiter))
            await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.gather(cancelled, return_exceptions=True)
        await ask(limiter)

    asyncio.run(run())


def test_active_callers_share_the_places(stored: LimitStore, clock: Clock) -> None:
    limiter = Limiter(stored, Limits(), shared=4, clock=clock)

    async def run() -> None:
        async with AsyncExitStack() as loud:
            # Alone, a caller has all four places.
            for _ in range(4):
                await loud.enter_async_context(limiter.admit("loud", is_ingest=False))
            waiting = asyncio.create_task(ask(limiter, "loud"))
            await asyncio.sleep(0)
            # Another one is admitted at once, whatever the loud one does.
            await ask(limiter, "quiet")
            assert not waiting.done()
        await waiting
        async with AsyncExitStack() as loud:
            # While the quiet one is active, the loud one has two.
            for _ in range(2):
                await loud.enter_async_context(limiter.admit("loud", is_ingest=False))
            third = asyncio.create_task(ask(limiter, "loud"))
            await asyncio.sleep(0.01)
            assert not third.done()
        await third
        clock.now += limits.ACTIVE_SECONDS + 1
        async with AsyncExitStack() as loud:
            for _ in range(4):
                await loud.enter_async_context(limiter.admit("loud", is_ingest=False))

    asyncio.run(asyncio.wait_for(run(), 60))


def test_changed_limits_count_within_seconds(stored: LimitStore, clock: Clock) -> None:
    limiter = Limiter(stored, Limits(), clock=clock)

    async def run() -> None:
        for _ in range(5):
            await ask(limiter)
        stored.set("ann", Limits(requests=1))
        clock.now += limits.LIMITS_SECONDS + 0.1
        await ask(limiter)
        await refusal(limiter, is_ingest=False)

    asyncio.run(run())


def test_callers_without_a_key_are_told_apart_by_address(stored: LimitStore, clock: Clock) -> None:
    limiter = Limiter(stored, Limits(requests=1), clock=clock)

    async def run() -> None:
        await ask(limiter, "anonymous", "10.0.0.1")
        await ask(limiter, "anonymous", "10.0.0.2")
        with pytest.raises(OverLimitError):
            await ask(limiter, "anonymous", "10.0.0.1")

    asyncio.run(run())


def test_callers_are_forgotten(
    stored: LimitStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CALLERS_MAX", 3)
    limiter = Limiter(stored, Limits(), clock=clock)

    async def run() -> None:
        async with limiter.admit("first", is_ingest=False):
            for number in range(10):
                await ask(limiter, f"caller-{number}")
        # The one with a request in work stays.
        assert list(limiter._callers) == ["first", "caller-8", "caller-9"]

    asyncio.run(run())


def test_failed_sign_ins(clock: Clock) -> None:
    failed = FailedSignIns(2, clock)
    for _ in range(2):
        failed.add("10.0.0.1")
        clock.now += 10
    with pytest.raises(OverLimitError, match="2 sign-ins from this address failed") as error:
        failed.add("10.0.0.1")
    assert (error.value.status, error.value.retry_after_seconds) == (429, 40)
    for _ in range(5):
        failed.add("10.0.0.2")
        failed.take_back("10.0.0.2")
    clock.now += 40.1
    failed.add("10.0.0.1")
