"""`fold(events) -> GraphDelta`: the facts of a set of events, without I/O, clock or order.

The worker calls it on small batches, the bulk pipelines on partitions; both then `join` the deltas.
Each event is folded alone, so the result is a function of the set of events. Descriptions that many
events repeat are folded once, over the time range of those events
(`DeltaAccumulator.describe_once`). Dataset names are normalised by `schema.naming` wherever they
occur in an event.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.ingest.fold.accumulator import DeltaAccumulator, Descriptions
from headwater.ingest.fold.dataset_events import fold_dataset_event
from headwater.ingest.fold.job_events import fold_job_event
from headwater.ingest.fold.run_events import fold_run_event
from headwater.schema.delta import GraphDelta
from headwater.schema.events import Event
from headwater.schema.facts import Span
from headwater.schema.naming import Naming, load_naming


def fold(events: Iterable[Event], naming: Naming | None = None) -> GraphDelta:
    """Return the joined facts of all events. Never fail on an event that `parse` accepted."""
    naming, delta = naming or load_naming(), GraphDelta()
    descriptions: Descriptions = {}
    for event in events:
        at = event.instant
        receipts = None
        if event.sender:
            receipts = Span(event.first_received or event.received, event.received)
        accumulator = DeltaAccumulator(
            naming, delta, descriptions, at, at, event.rank, event.sender, receipts
        )
        _fold_event(accumulator, event)
    for (describe, sender, *arguments), times in descriptions.items():
        accumulator = DeltaAccumulator(
            naming, delta, descriptions, times.first, times.last, times.rank, sender
        )
        describe(accumulator, *arguments)
    return delta


def _fold_event(accumulator: DeltaAccumulator, event: Event) -> None:
    if event.run is not None and event.job is not None:
        fold_run_event(accumulator, event, event.run, event.job)
    elif event.job is not None:
        fold_job_event(accumulator, event, event.job)
    if event.dataset is not None:
        fold_dataset_event(accumulator, event.dataset)
