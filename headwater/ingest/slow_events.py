"""Slow events: how a batch is halved after a time-out, and which events become dead letters.

One event can change so much of the graph that its transaction exceeds the time limit, for example
an alias that joins datasets with many runs. Nothing behind it would ever be folded. A batch can
also exceed the limit as a whole. So when a transaction times out although Neo4j writes, its batch
is folded in two parts, and each part that times out in two again. An event that times out alone
again and again becomes a dead letter. The graph is a function of the set of events, so a dead
letter can be folded later.

The halves of a batch have the time limit of the batch, so that they fit if it was slow as a whole.
Each smaller part has half of the limit of the part that it halves: the search for one slow event
holds up the others for less than four limits.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from headwater.cypher.driver.database import WRITE_SECONDS_MAX
from headwater.ingest.spool.damage import Record

# An event that timed out alone this many times becomes a dead letter.
ATTEMPTS_MAX = 2
# The least time limit of a part with several events.
PART_SECONDS_MIN = 5.0

log = logging.getLogger("headwater.worker")


class SlowEvents:
    """The parts and events whose transactions timed out while Neo4j was able to write.

    The last attempt of an event has the time limit `last_seconds`.
    """

    def __init__(self, last_seconds: float) -> None:
        self._last_seconds = last_seconds
        # The parts that are still to be folded: the time limit by the last seq.
        self._parts: dict[int, float] = {}
        self._attempts: Counter[int] = Counter()

    @property
    def has_parts(self) -> bool:
        """Return True if parts of a batch that timed out are still to be folded."""
        return bool(self._parts)

    def add(self, seqs: Sequence[int]) -> None:
        """Record that the transaction of these events timed out."""
        seconds = self.seconds_max(seqs)
        log.warning(
            "transaction_timed_out first=%d last=%d events=%d seconds_max=%.1f",
            *(seqs[0], seqs[-1], len(seqs), seconds),
        )
        if len(seqs) == 1:
            self._attempts[seqs[0]] += 1
        is_part = self._last_of_part(seqs[0]) is not None
        part_seconds = max(seconds / 2, PART_SECONDS_MIN) if is_part else WRITE_SECONDS_MAX
        self._parts[seqs[(len(seqs) - 1) // 2]] = part_seconds
        self._parts[seqs[-1]] = part_seconds

    def remove(self, seqs: Sequence[int], seconds: float) -> None:
        """Record that these events were folded in a transaction that took this long."""
        if not self._parts:
            return
        self._parts = {last: limit for last, limit in self._parts.items() if last > seqs[-1]}
        log.info(
            "part_folded first=%d last=%d events=%d seconds=%.1f parts_left=%d",
            *(seqs[0], seqs[-1], len(seqs), seconds, len(self._parts)),
        )

    def next_part(self, records: list[Record]) -> list[Record]:
        """Return the first of these records that are to be folded at once, at least one."""
        last = self._last_of_part(records[0].seq) if records else None
        return [record for record in records if last is None or record.seq <= last]

    def seconds_max(self, seqs: Sequence[int]) -> float:
        """Return the time limit of a transaction with these events, in seconds."""
        if len(seqs) == 1:
            is_last = self._attempts[seqs[0]] == ATTEMPTS_MAX - 1
            return self._last_seconds if is_last else WRITE_SECONDS_MAX
        last = self._last_of_part(seqs[0])
        return WRITE_SECONDS_MAX if last is None else self._parts[last]

    def dead_reason(self, seq: int) -> str:
        """Return the reason why an event must become a dead letter, or ""."""
        if self._attempts[seq] < ATTEMPTS_MAX:
            return ""
        return (
            f"its transaction timed out {ATTEMPTS_MAX} times while Neo4j answered; "
            f"`headwater dead-letters retry {seq}` tries again"
        )

    def _last_of_part(self, seq: int) -> int | None:
        """Return the last seq of the part with an event, or None if it is in no part."""
        return min((last for last in self._parts if last >= seq), default=None)
