"""The pause before another attempt: it doubles from one failure to the next, up to a limit."""

from __future__ import annotations

from typing import NamedTuple

_DOUBLINGS_MAX = 16


class Backoff(NamedTuple):
    """An exponential backoff without jitter. Both times are in seconds."""

    first_seconds: float
    max_seconds: float

    def pause_seconds(self, failures: int) -> float:
        """Return the pause after `failures` failures in a row, counted from 0."""
        return min(self.first_seconds * 2.0 ** min(failures, _DOUBLINGS_MAX), self.max_seconds)

    def pauses(self, count: int) -> tuple[float, ...]:
        """Return the first `count` pauses."""
        return tuple(self.pause_seconds(failures) for failures in range(count))
