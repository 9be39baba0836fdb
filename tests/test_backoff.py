"""Pauses between attempts."""

from __future__ import annotations

from headwater.backoff import Backoff


def test_the_pause_doubles_up_to_its_limit() -> None:
    backoff = Backoff(first_seconds=0.25, max_seconds=5.0)
    assert backoff.pauses(7) == (0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0)
    assert backoff.pause_seconds(1_000_000) == 5.0
