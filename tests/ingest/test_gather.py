"""When the worker folds the events that wait: laws of a pure function, and cases by hand."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from headwater.ingest.gather import (
    GATHER_SECONDS_MAX,
    LULL_SECONDS,
    SpoolObservation,
    observe,
    should_gather,
)

# A step of the clock, and the number of events that arrive at its end.
STEP = st.tuples(st.floats(0.001, 0.2), st.integers(0, 40))


class Spool:
    """A spool in memory, and a worker that observes it and folds whatever need not wait."""

    def __init__(self, batch_events: int) -> None:
        self.batch_events = batch_events
        self.now = 0.0
        self.arrivals: list[float] = []
        self.folded = 0
        # By batch: the seqs of its events, and the time at which it was folded.
        self.batches: list[tuple[range, float]] = []
        self.observed = observe(SpoolObservation(), at=0.0, newest=0, position=0)

    def arrive(self, seconds: float, events: int) -> None:
        self.now += seconds
        self.arrivals += [self.now] * events

    def look(self) -> bool:
        """Observe the spool; fold up to a full batch if it is due, and return True."""
        newest = len(self.arrivals)
        self.observed = observe(self.observed, at=self.now, newest=newest, position=self.folded)
        gathers = should_gather(self.observed, batch_events=self.batch_events)
        if gathers or newest == self.folded:
            return False
        last = min(self.folded + self.batch_events, newest)
        self.batches.append((range(self.folded + 1, last + 1), self.now))
        self.folded = last
        return True


@given(st.lists(STEP, max_size=60), st.integers(1, 100))
def test_no_event_waits_longer_than_the_bound(
    steps: list[tuple[float, int]], batch_events: int
) -> None:
    spool = Spool(batch_events)
    for seconds, events in steps:
        spool.arrive(seconds, events)
        while spool.look():
            pass
        waiting = spool.arrivals[spool.folded :]
        assert all(spool.now - arrival < GATHER_SECONDS_MAX for arrival in waiting)


@given(st.lists(STEP, max_size=60), st.integers(1, 100))
def test_a_full_batch_does_not_wait(steps: list[tuple[float, int]], batch_events: int) -> None:
    spool = Spool(batch_events)
    for seconds, events in steps:
        spool.arrive(seconds, events)
        while spool.look():
            pass
        assert len(spool.arrivals) - spool.folded < batch_events


@given(st.lists(STEP, max_size=60), st.integers(1, 100))
def test_every_event_is_folded_once_and_in_order(
    steps: list[tuple[float, int]], batch_events: int
) -> None:
    spool = Spool(batch_events)
    for seconds, events in steps:
        spool.arrive(seconds, events)
        spool.look()
    for _ in range(2):  # nothing comes any more
        spool.arrive(LULL_SECONDS, 0)
        while spool.look():
            pass
    folded = [seq for seqs, _ in spool.batches for seq in seqs]
    assert folded == list(range(1, len(spool.arrivals) + 1))
    assert all(0 < len(seqs) <= batch_events for seqs, _ in spool.batches)


@given(st.lists(STEP, max_size=60), st.integers(1, 100))
def test_a_worker_without_waiting_events_gathers_nothing(
    steps: list[tuple[float, int]], batch_events: int
) -> None:
    observed = SpoolObservation()
    newest = 0
    for at, (_, events) in zip(accumulate(seconds for seconds, _ in steps), steps, strict=True):
        newest += events
        observed = observe(observed, at=at, newest=newest, position=newest)
        assert not should_gather(observed, batch_events=batch_events)


def test_a_lone_event_waits_for_one_look() -> None:
    spool = Spool(batch_events=1_000)
    spool.arrive(60.0, 0)
    assert not spool.look()  # nothing waits
    spool.arrive(0.01, 1)
    assert not spool.look()
    spool.arrive(LULL_SECONDS, 0)
    assert spool.look()


def test_events_that_keep_coming_are_folded_together() -> None:
    """A client sends 128 events a second, and the worker looks after every second one."""
    spool = Spool(batch_events=1_000)
    for number in range(1, 257):
        spool.arrive(1 / 128, 1)
        if number % 2 == 0:
            spool.look()
    assert [(len(seqs), at) for seqs, at in spool.batches] == [
        (64, 0.5),
        (64, 1.0),
        (64, 1.5),
        (64, 2.0),
    ]


def test_events_that_came_during_a_long_write_do_not_wait_again() -> None:
    spool = Spool(batch_events=1_000)
    spool.arrive(LULL_SECONDS, 1)
    assert not spool.look()
    spool.arrive(LULL_SECONDS, 0)
    assert spool.look()
    spool.arrive(GATHER_SECONDS_MAX, 3)  # the write took as long as the bound
    assert spool.look()


def test_a_worker_that_starts_does_not_gather() -> None:
    first = observe(SpoolObservation(), at=7.0, newest=12, position=2)
    assert first.waiting == 10
    assert not should_gather(first, batch_events=1_000)
