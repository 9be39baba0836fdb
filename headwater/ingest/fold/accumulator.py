"""The accumulator of a fold: it joins facts into a GraphDelta, for one time range of events."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol

import msgspec

from headwater.schema import facts, run_senders
from headwater.schema.delta import GraphDelta
from headwater.schema.facets.dataset import LifecycleStateChange
from headwater.schema.facts import (
    Assertion,
    Assertions,
    DatasetFacts,
    Derivation,
    JobFacts,
    LwwRegister,
    Name,
    Registers,
    RunFacts,
    Span,
    Usage,
)
from headwater.schema.naming import Naming
from headwater.schema.urns import dataset_urn, job_urn, run_urn
from headwater.schema.visibility import ANY_KEY, namespaces_of

RENAME, DROP = "RENAME", "DROP"


class Named(Protocol):
    """Anything with a namespace and a name as the producer sent them."""

    @property
    def namespace(self) -> str: ...

    @property
    def name(self) -> str: ...


class TimeRange(msgspec.Struct):
    """The time range of repeated events, with the highest rank among those at its last instant."""

    first: int
    last: int
    rank: int

    def add(self, instant: int, rank: int) -> None:
        self.first = min(self.first, instant)
        if (instant, rank) > (self.last, self.rank):
            self.last, self.rank = instant, rank


# The key is a function that adds a description to an accumulator, the sender of the events, and the
# arguments for the function.
Descriptions = dict[tuple[Any, ...], TimeRange]


class DeltaAccumulator(msgspec.Struct, frozen=True):
    """A view of the delta that stamps added facts with one time range.

    `first` and `last` are instants in microseconds since 1970; `rank` orders events of one instant.
    `sender` and `receipts` are those of an event of a restricted key (`Event.sender`).
    All facts are joins over time. So adding a description once over the time range of its events
    gives the same delta as adding it for each event. `descriptions` gathers such repetitions.
    """

    naming: Naming
    delta: GraphDelta
    descriptions: Descriptions
    first: int
    last: int
    rank: int
    sender: str = ""
    receipts: Span | None = None

    @property
    def span(self) -> Span:
        return Span(self.first, self.last)

    def assertion(self, name: Name) -> Assertion:
        return Assertion(name, self.first, self.last)

    def register(self, value: str) -> LwwRegister:
        return LwwRegister(self.last, self.rank, value)

    def registers(self, texts: Mapping[str, str]) -> Registers:
        last, rank = self.last, self.rank
        return {name: LwwRegister(last, rank, text) for name, text in texts.items()}

    def derivation(self, kinds: frozenset[str]) -> Derivation:
        return Derivation(self.first, kinds)

    def describe_once(self, describe: Callable[..., None], *arguments: Hashable) -> None:
        """Call `describe(accumulator, *arguments)` later, once for all events that repeat it.

        The call comes after the last event, with an accumulator for the time range of all of them.
        """
        key = (describe, self.sender, *arguments)
        times = self.descriptions.get(key)
        if times is None:
            self.descriptions[key] = TimeRange(self.first, self.last, self.rank)
        else:
            times.add(self.last, self.rank)

    def normalise(self, named: Named) -> Name:
        """Return the normalised name of a dataset."""
        return self.naming.normalise(named.namespace, named.name)

    def covers(self, namespace: str) -> bool:
        """Return True if the key that sent the event may describe jobs of a namespace."""
        return not self.sender or namespaces_of(self.sender).includes(namespace)

    def add_run(self, run: RunFacts, namespace: str) -> None:
        """Add facts of the event's own run, whose job is in this namespace."""
        if self.receipts is not None:
            run.sender, run.receipts = run_senders.claim_of(namespace), self.receipts
        self._join_run(run)

    def add_other_run(self, run: RunFacts, namespace: str | None) -> None:
        """Add facts of another run, whose job the event names in this namespace, or does not name.

        A restricted key describes a run of a job only if it covers the namespace.
        """
        if namespace is None:
            run.sender = self.sender or ANY_KEY
        elif self.receipts is not None:
            if self.covers(namespace):
                run.sender = run_senders.claim_of(namespace)
            else:
                run = RunFacts(run.run_id, sender=run_senders.reference_to(namespace))
            # The last receipt is that of the run's own events: only they are its heartbeat.
            run.receipts = Span(self.receipts.first, 0)
        self._join_run(run)

    def _join_run(self, run: RunFacts) -> None:
        if self.sender:
            for usage in run.inputs.values():
                usage.foreign = not self.covers(usage.dataset.namespace)
        facts.add(self.delta.runs, run_urn(run.run_id), run, run_senders.join_runs)

    def refer(self, run: RunFacts, others: dict[str, str], run_id: str, namespace: str) -> None:
        """Add the id of another run, of a job in this namespace, to `others` of a run."""
        urn = run_urn(run_id)
        others[urn] = run_id
        if self.sender:
            run.references[urn] = {*run.references.get(urn, ()), namespace}

    def add_other_job(self, job: JobFacts) -> str:
        """Add what an event says of a job other than its own; return its urn.

        A restricted key may name a job that it does not cover, and not describe it.
        """
        return self.add_job(job if self.covers(job.job.namespace) else JobFacts(job.job))

    def add_job(self, job: JobFacts) -> str:
        """Add the facts of a job; return its urn."""
        urn = job_urn_of(job.job)
        # Most references to a job add no facts.
        if urn not in self.delta.jobs or job != JobFacts(job.job):
            facts.add(self.delta.jobs, urn, job, facts.join_jobs)
        return urn

    def add_dataset(self, dataset: DatasetFacts) -> str:
        """Add the facts of a dataset; return its urn."""
        urn = dataset_urn_of(dataset.dataset)
        facts.add(self.delta.datasets, urn, dataset, facts.join_datasets)
        return urn

    def ensure_dataset(self, name: Name) -> str:
        """Add a dataset that the event only refers to; return its urn."""
        urn = dataset_urn_of(name)
        if urn not in self.delta.datasets:
            self.delta.datasets[urn] = DatasetFacts(name)
        return urn


def dataset_urn_of(name: Name) -> str:
    return dataset_urn(name.namespace, name.name)


def job_urn_of(name: Name) -> str:
    return job_urn(name.namespace, name.name)


def renamed_from(
    accumulator: DeltaAccumulator, dataset: Name, lifecycle: LifecycleStateChange | None
) -> Name | None:
    """Return the former name of a renamed dataset, or None."""
    if lifecycle is None or lifecycle.lifecycle_state_change.upper() != RENAME:
        return None
    previous = lifecycle.previous_identifier
    old = accumulator.normalise(previous) if previous and is_named(previous) else dataset
    return None if old == dataset else old


def is_named(named: Named) -> bool:
    return bool(named.namespace.strip() and named.name.strip())


def add_assertion(assertions: Assertions, urn: str, assertion: Assertion) -> None:
    facts.add(assertions, urn, assertion, facts.join_assertions)


def add_usage(usages: dict[str, Usage], usage: Usage) -> None:
    # One event may name a dataset twice.
    facts.add(usages, dataset_urn_of(usage.dataset), usage, facts.join_usages)


def add_input(usages: dict[str, Usage], name: Name) -> None:
    """Add a dataset that was read, without further facts."""
    urn = dataset_urn_of(name)
    if urn not in usages:
        usages[urn] = Usage(name)


def canonical_json(value: object) -> str:
    """Return a value as JSON with sorted keys."""
    return msgspec.json.encode(value, order="sorted").decode()
