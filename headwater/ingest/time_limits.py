"""The time limits of a worker."""

from __future__ import annotations

from typing import NamedTuple


class TimeLimits(NamedTuple):
    """Times after which the worker decides, in seconds.

    future_seconds: an event dated this much after its receipt comes from the future.
    heartbeat_timeout_seconds: a run without an event for this long is abandoned.
    slow_event_seconds: the time limit of the last attempt to fold an event alone.
    """

    future_seconds: int = 60
    heartbeat_timeout_seconds: int = 86_400
    slow_event_seconds: float = 300.0


DEFAULTS = TimeLimits()
