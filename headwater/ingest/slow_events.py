"""Slow events: which events are folded alone after a time-out, and which become dead letters.

One event can change so much of the graph that its transaction exceeds the time limit, for example
an alias that joins datasets with many runs. Nothing behind it would ever be folded. So when a
transaction times out although Neo4j writes, its events are folded one by one, and an event that
times out alone again and again becomes a dead letter. The graph is a function of the set of events,
so a dead letter can be folded later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headwater.cypher.driver.database import WRITE_SECONDS_MAX

# An event that timed out alone this many times becomes a dead letter.
ATTEMPTS_MAX = 2


class SlowEvents:
    """The events whose transactions timed out while Neo4j was able to write.

    The last attempt of an event has the time limit `last_seconds`.
    """

    def __init__(self, last_seconds: float) -> None:
        self._last_seconds = last_seconds
        self._last = 0
        self._attempts: Counter[int] = Counter()

    def add(self, seqs: Sequence[int]) -> None:
        """Record that the transaction of these events timed out."""
        self._last = max(self._last, *seqs)
        if len(seqs) == 1:
            self._attempts[seqs[0]] += 1

    def events_max(self, position: int, events_max: int) -> int:
        """Return how many events after a position to fold at once, `events_max` at most."""
        return 1 if position < self._last else events_max

    def seconds_max(self, seqs: Sequence[int]) -> float:
        """Return the time limit of a transaction with these events, in seconds."""
        if self._attempts and len(seqs) == 1 and self._attempts[seqs[0]] == ATTEMPTS_MAX - 1:
            return self._last_seconds
        return WRITE_SECONDS_MAX

    def is_too_slow(self, seq: int) -> bool:
        """Return True if an event must become a dead letter."""
        return self._attempts[seq] >= ATTEMPTS_MAX
