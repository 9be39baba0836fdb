"""Batches of spooled events, parsed and folded. Pure, so that smaller batches can be tried."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import msgspec

from headwater.errors import EventError
from headwater.ingest.fold.undated_events import NO_INSTANTS, fold_received
from headwater.ingest.producer_stats import ProducerStats, count_event
from headwater.ingest.spool.damage import Record
from headwater.schema.delta import GraphDelta
from headwater.schema.events import Event, parse
from headwater.schema.naming import Naming

# An event with at least this many bytes is a batch of its own. If the memory of a transaction does
# not suffice for it, only this batch is refused, and no batches with other events before it.
LARGE_EVENT_BYTES = 2**20


class ParsedRecord(msgspec.Struct, frozen=True):
    """A record with its event, or with None and the reason why it has none."""

    record: Record
    event: Event | None
    reason: str = ""


class Batch(msgspec.Struct):
    """Parsed records with the delta of their events, or with the error that folding them raised."""

    records: list[ParsedRecord]
    delta: GraphDelta = msgspec.field(default_factory=GraphDelta)
    producer_stats: ProducerStats = msgspec.field(default_factory=ProducerStats)
    error: Exception | None = None

    @property
    def dead(self) -> list[tuple[int, str]]:
        """Return the sequence number and the reason of each record without an event."""
        return [
            (parsed.record.seq, parsed.reason) for parsed in self.records if parsed.event is None
        ]


def next_batch(records: list[Record]) -> list[Record]:
    """Return the first of these records that make a batch: up to a large one, or only that one."""
    for index, record in enumerate(records):
        if len(record.body) >= LARGE_EVENT_BYTES:
            return records[: max(index, 1)]
    return records


def parse_record(record: Record) -> ParsedRecord:
    """Return a record with its event, if it holds one."""
    if not record.intact:
        reason = "the bytes on disk differ from the accepted bytes"
        if record.count > 1:
            reason = f"events {record.first} to {record.seq} have no rows in the spool"
        elif not record.body:
            reason = "it cannot be read from the spool"
        return ParsedRecord(record, None, f"damaged: {reason}")
    try:
        return ParsedRecord(record, parse(record.body, received=record.received))
    except EventError as error:
        reason = f"{error.field}: {error.message}" if error.field else error.message
        return ParsedRecord(record, None, reason)


def fold_batch(
    records: list[ParsedRecord],
    naming: Naming,
    *,
    future_seconds: int,
    future_instants: AbstractSet[int] = NO_INSTANTS,
) -> Batch:
    """Return the batch of these records, folded.

    Events dated more than `future_seconds` after their receipt count as events from the future, and
    so do copies of events at `future_instants`.
    """
    try:
        delta = fold_received(
            ((parsed.event, parsed.record.body) for parsed in records if parsed.event is not None),
            naming,
            future_seconds=future_seconds,
            future_instants=future_instants,
        )
        return Batch(records, delta, _producer_stats(records, future_seconds))
    except Exception as error:  # any event may break it; the others must still be folded
        return Batch(records, error=error)


def _producer_stats(records: list[ParsedRecord], future_seconds: int) -> ProducerStats:
    stats = ProducerStats()
    for parsed in records:
        record = parsed.record
        count_event(
            record.received,
            record.seq,
            record.body,
            parsed.event,
            future_seconds=future_seconds,
            reason=parsed.reason,
            into=stats,
        )
    return stats
