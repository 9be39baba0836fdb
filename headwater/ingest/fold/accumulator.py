"""What is taken from events: how names are read, the facts found so far, and when what is told was said."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol

import msgspec

from headwater.schema import facts
from headwater.schema.facets.dataset import LifecycleStateChange
from headwater.schema.facts import (
    Assertion,
    Assertions,
    DatasetFacts,
    Derivation,
    GraphDelta,
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

RENAME, DROP = "RENAME", "DROP"


class Named(Protocol):
    """Anything with the two halves of a name as they were sent."""

    @property
    def namespace(self) -> str: ...

    @property
    def name(self) -> str: ...


class Moments(msgspec.Struct):
    """When the same was said, once or several times: the first and last instant, and the highest rank at the last."""

    first: int
    last: int
    rank: int

    def add(self, instant: int, rank: int) -> None:
        self.first = min(self.first, instant)
        if (instant, rank) > (self.last, self.rank):
            self.last, self.rank = instant, rank


# A function that tells something, and what it is told about.
Told = dict[tuple[Any, ...], Moments]


class Said(msgspec.Struct, frozen=True):
    """What is taken from events that say the same: how names are read, the facts found so far, and when it was said.

    All facts are joins over moments, so it is the same to tell a thing once for all the moments at which it was said as
    to tell it for each of them. `told` gathers what can be told so: `once`.
    """

    naming: Naming
    delta: GraphDelta
    told: Told
    first: int
    last: int
    rank: int

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

    def flow(self, ways: frozenset[str]) -> Derivation:
        return Derivation(self.first, ways)

    def once(self, tell: Callable[..., None], *about: Hashable) -> None:
        """Call `tell(said, *about)` at the end, once for all the events that say it."""
        key = (tell, *about)
        moments = self.told.get(key)
        if moments is None:
            self.told[key] = Moments(self.first, self.last, self.rank)
        else:
            moments.add(self.last, self.rank)

    def name(self, named: Named) -> Name:
        return self.naming.normalise(named.namespace, named.name)

    def run(self, run: RunFacts) -> None:
        facts.add(self.delta.runs, run_urn(run.run_id), run, facts.join_runs)

    def job(self, job: JobFacts) -> str:
        urn = job_urn(*halves(job.job))
        # Mostly it is only referred to.
        if urn not in self.delta.jobs or job != JobFacts(job.job):
            facts.add(self.delta.jobs, urn, job, facts.join_jobs)
        return urn

    def dataset(self, dataset: DatasetFacts) -> str:
        urn = dataset_urn(*halves(dataset.dataset))
        facts.add(self.delta.datasets, urn, dataset, facts.join_datasets)
        return urn

    def mention(self, name: Name) -> str:
        """A dataset that the event only refers to: it is in the graph, and nothing more is said of it."""
        urn = dataset_urn(*halves(name))
        if urn not in self.delta.datasets:
            self.delta.datasets[urn] = DatasetFacts(name)
        return urn


def halves(name: Name) -> tuple[str, str]:
    return name.namespace, name.name


def renamed_from(said: Said, dataset: Name, lifecycle: LifecycleStateChange | None) -> Name | None:
    """The name that a dataset had before; None unless it was renamed from another."""
    if lifecycle is None or lifecycle.lifecycle_state_change.upper() != RENAME:
        return None
    previous = lifecycle.previous_identifier
    old = said.name(previous) if previous and is_named(previous) else dataset
    return None if old == dataset else old


def is_named(named: Named) -> bool:
    return bool(named.namespace.strip() and named.name.strip())


def add_assertion(claims: Assertions, urn: str, claim: Assertion) -> None:
    facts.add(claims, urn, claim, facts.join_assertions)


def add_usage(used: dict[str, Usage], usage: Usage) -> None:
    # One event may name a dataset twice.
    facts.add(used, dataset_urn(*halves(usage.dataset)), usage, facts.join_usages)


def add_input(used: dict[str, Usage], name: Name) -> None:
    """A dataset of which is known only that it was read."""
    urn = dataset_urn(*halves(name))
    if urn not in used:
        used[urn] = Usage(name)


def json_of(value: object) -> str:
    """Canonical JSON."""
    return msgspec.json.encode(value, order="sorted").decode()
