"""Undated events: those without an event time, and those dated in the future.

Such a time cannot order an event among the others: an end dated 2099 would stay the last for good.
So the time of its first receipt counts. A receipt is not part of an event, and a repeated delivery
has a later one. Therefore a fold leaves undated events in the delta, by the digest of their
content. The writer folds them at the receipt that the graph keeps
(`headwater.ingest.write.undated_events`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from headwater.ingest.fold import fold
from headwater.schema import facts
from headwater.schema.delta import GraphDelta
from headwater.schema.events import Event, parse
from headwater.schema.facts import UndatedEvent
from headwater.schema.naming import Naming

_SECOND = 1_000_000
NO_INSTANTS: frozenset[int] = frozenset()


def fold_received(
    received: Iterable[tuple[Event, bytes]],
    naming: Naming | None = None,
    *,
    future_seconds: int,
    future_instants: AbstractSet[int] = NO_INSTANTS,
) -> GraphDelta:
    """Return the joined facts of received events, with the undated ones left to the writer.

    Args:
        received: Each event with its redacted body.
        naming: The rules for names of datasets.
        future_seconds: The seconds after its receipt from which an event is dated in the future.
        future_instants: The times of earlier events that were dated in the future when they came,
            in microseconds since 1970. A copy that comes later than its time is undated too.
    """
    pairs = list(received)
    # An event without a time says nothing about events at the time of its receipt.
    future = {
        event.instant
        for event, _ in pairs
        if event.event_time and is_undated(event, future_seconds)
    }
    undated: dict[str, UndatedEvent] = {}
    dated: list[Event] = []
    for event, body in pairs:
        is_copy = event.instant in future or event.instant in future_instants
        if is_copy or is_undated(event, future_seconds):
            add_undated(undated, event, body, future_seconds)
        else:
            dated.append(event)
    delta = fold(dated, naming)
    delta.undated = undated
    return delta


def is_undated(event: Event, future_seconds: int) -> bool:
    """Return True if an event has no time, or one this much after its receipt."""
    return not event.event_time or event.instant > event.received + future_seconds * _SECOND


def add_undated(
    undated: dict[str, UndatedEvent], event: Event, body: bytes, future_seconds: int
) -> None:
    """Add an event to the undated ones; of several copies the earliest receipt counts."""
    instant = event.received if is_undated(event, future_seconds) else event.instant
    event_instant = event.instant if event.event_time else None
    received = UndatedEvent(instant, event_instant, event.received, event.received, body)
    facts.add(undated, _digest(body), received, facts.join_undated)


def fold_undated(undated: Mapping[str, UndatedEvent], naming: Naming) -> GraphDelta:
    """Return the facts of undated events at their instants."""
    events = [
        replace(
            parse(event.body, received=event.received),
            instant=event.instant,
            first_received=_first_receipt(event),
        )
        for event in undated.values()
    ]
    return fold(events, naming)


def _first_receipt(event: UndatedEvent) -> int:
    """Return the first receipt. The time of an event is none: its sender chose it."""
    is_dated = event.instant == event.event_instant
    return event.first_received if is_dated else event.instant


def _digest(body: bytes) -> str:
    """Return the SHA-1 of an event's content, whatever its spaces and the order of its keys."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        body = msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()
