"""Some events of a spool and what they say together: pure, so that it can be tried again with fewer of them."""

from __future__ import annotations

import msgspec

from headwater.errors import EventError
from headwater.ingest.fold import fold
from headwater.ingest.producer_stats import Tallies, tally
from headwater.ingest.spool.spool import Record
from headwater.schema.events import Event, parse
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import Naming


class Judged(msgspec.Struct, frozen=True):
    """A record and the event in it, or None and the reason why there is none."""

    record: Record
    event: Event | None
    reason: str = ""


class Batch(msgspec.Struct):
    """Some events and what they say together, or why they cannot be folded together."""

    judged: list[Judged]
    delta: GraphDelta = msgspec.field(default_factory=GraphDelta)
    tallies: Tallies = msgspec.field(default_factory=Tallies)
    error: Exception | None = None

    @property
    def dead(self) -> list[tuple[int, str]]:
        """The numbers of the records that hold no event, and why."""
        return [(one.record.seq, one.reason) for one in self.judged if one.event is None]


def judge(record: Record) -> Judged:
    """The event in a record, if there is one."""
    if not record.intact:
        return Judged(record, None, "damaged: the bytes on disk are not those that were accepted")
    try:
        return Judged(record, parse(record.body, received=record.received))
    except EventError as error:
        return Judged(
            record, None, f"{error.field}: {error.message}" if error.field else error.message
        )


def batch_of(judged: list[Judged], naming: Naming, *, future_tolerance_seconds: int) -> Batch:
    """What these events say together; those that are dated further ahead than `future_tolerance_seconds` are counted as such."""
    try:
        delta = fold((one.event for one in judged if one.event is not None), naming)
        return Batch(judged, delta, _tallied(judged, future_tolerance_seconds))
    except Exception as error:  # whatever an event breaks must not stop the others
        return Batch(judged, error=error)


def _tallied(judged: list[Judged], future_tolerance_seconds: int) -> Tallies:
    tallies = Tallies()
    for one in judged:
        record = one.record
        tally(
            record.received,
            record.seq,
            record.body,
            one.event,
            future_tolerance_seconds=future_tolerance_seconds,
            reason=one.reason,
            into=tallies,
        )
    return tallies
