"""`fold(events) -> GraphDelta`: what a set of events says, with no I/O, no clock and no order.

The online worker calls it on small batches, the bulk pipelines on partitions; both then `join`. Every event is
looked at alone (`facts_of`), so the result is a function of the set of events and of nothing else. Names of datasets
are read by the rules of naming (`schema.naming`), wherever in an event they stand.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.ingest.fold.dataset_events import dataset_event
from headwater.ingest.fold.job_events import job_event
from headwater.ingest.fold.run_events import run_event
from headwater.ingest.fold.said import Said
from headwater.schema import facts
from headwater.schema.events import Event
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import Naming, load


def fold(events: Iterable[Event], naming: Naming | None = None) -> GraphDelta:
    """What all these events say together. Raises nothing for any event that `parse` let through."""
    delta = GraphDelta()
    for event in events:
        facts.absorb(delta, facts_of(event, naming))
    return delta


def facts_of(event: Event, naming: Naming | None = None) -> GraphDelta:
    """What one event says."""
    said = Said(event, naming or load(), GraphDelta())
    if event.run is not None:
        run_event(said)
    elif event.dataset is not None:
        dataset_event(said, event.dataset)
    elif event.job is not None:
        job_event(said, event.job)
    return said.delta
