"""`fold(events) -> GraphDelta`: what a set of events says, with no I/O, no clock and no order.

The online worker calls it on small batches, the bulk pipelines on partitions; both then `join`. Every event is
looked at alone, so the result is a function of the set of events and of nothing else; what many of them say in the
same words is told once, with the moments at which they said it (`Said.once`). Names of datasets are read by the rules
of naming (`schema.naming`), wherever in an event they stand.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.ingest.fold.accumulator import Said, Told
from headwater.ingest.fold.dataset_events import dataset_event
from headwater.ingest.fold.job_events import job_event
from headwater.ingest.fold.run_events import run_event
from headwater.schema.events import Event
from headwater.schema.facts import GraphDelta
from headwater.schema.naming import Naming, load_naming


def fold(events: Iterable[Event], naming: Naming | None = None) -> GraphDelta:
    """What all these events say together. Raises nothing for any event that `parse` let through."""
    naming, delta = naming or load_naming(), GraphDelta()
    told: Told = {}
    for event in events:
        _tell(Said(naming, delta, told, event.instant, event.instant, event.rank), event)
    for (tell, *about), moments in told.items():
        tell(Said(naming, delta, told, moments.first, moments.last, moments.rank), *about)
    return delta


def _tell(said: Said, event: Event) -> None:
    if event.run is not None and event.job is not None:
        run_event(said, event, event.run, event.job)
    elif event.dataset is not None:
        dataset_event(said, event.dataset)
    elif event.job is not None:
        job_event(said, event, event.job)
