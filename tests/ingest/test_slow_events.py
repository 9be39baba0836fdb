"""Which events are folded alone after a time-out, and which are set aside."""

from __future__ import annotations

from headwater.cypher.driver.database import WRITE_SECONDS_MAX
from headwater.ingest.slow_events import ATTEMPTS_MAX, SlowEvents


def test_only_the_events_of_a_batch_that_timed_out_are_folded_alone() -> None:
    slow = SlowEvents(300.0)
    assert slow.events_max(0, 1_000) == 1_000
    slow.add([11, 12, 13])
    assert [slow.events_max(position, 1_000) for position in (10, 12, 13)] == [1, 1, 1_000]


def test_an_event_is_set_aside_after_it_timed_out_alone_often_enough() -> None:
    slow = SlowEvents(300.0)
    slow.add([11, 12])
    for _ in range(ATTEMPTS_MAX):
        assert not slow.is_too_slow(12)
        slow.add([12])
    assert slow.seconds_max([11]) == WRITE_SECONDS_MAX
    assert slow.is_too_slow(12)
    assert not slow.is_too_slow(11)


def test_the_last_attempt_has_more_time() -> None:
    slow = SlowEvents(300.0)
    slow.add([11, 12])
    assert slow.seconds_max([12]) == WRITE_SECONDS_MAX
    slow.add([12])
    assert slow.seconds_max([12]) == 300.0
    assert slow.seconds_max([12, 13]) == WRITE_SECONDS_MAX
